"""MindIE: `[time] [pid] [tid] [component] [LEVEL] [file:line] : [CODE] msg`, and its audit lines without a level.

The transformer library below it, ATB, prints `[time] [level] [pid] [tid] [file:line] msg`.

By version: comma or dot before the milliseconds, no zone, `+0800` or `+08:00`; `[logging.py-56]` from Python.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 150

_TIME = r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.,](\d{3,6})(?:[+-]\d\d:?\d\d)?\] \[(\d{1,10})\] "
_HEAD = re.compile(
    _TIME + r"(?:\[(\d{1,20})\] )?\[([\w.\-]{1,100})\] \[([A-Z]{4,8})\] "
    r"?(?:\[([^\]\r\n:]{1,200}?)[:\-](\d{1,7})\] ?)?(?::\s{0,8})?",
    re.ASCII,
)
_AUDIT = re.compile(
    _TIME + r"(?=\[[^\]]{0,200}\] \[[^\]]{0,200}\] \[[^\]]{0,200}\] \[[^\]]{0,200}\] \[\w{1,40}\])", re.ASCII
)
_ATB = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.,](\d{3,6})\] \[(trace|debug|info|warn|warning|error|critical)\] "
    r"\[(\d{1,10})\] (?:\[(\d{1,20})\] )?\[([^\]\r\n:]{1,200}):(\d{1,7})\] ?",
    re.ASCII,
)
_FAILED = frozenset({"fail", "failed"})


def head(text: str) -> Head | None:
    """A MindIE record."""
    found = _HEAD.match(text)
    if found is None:
        return _read_atb(text) or _read_audit(text)
    second, fraction, pid, tid, component, level, src_file, src_line = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="mindie",
        message=text[found.end() :].strip(),
        level={"WARN": "WARNING", "FATAL": "CRITICAL"}.get(level, level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=component,
        pid=int(pid),
        tid=int(tid) if tid else None,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
    )


def _read_atb(text: str) -> Head | None:
    found = _ATB.match(text)
    if found is None:
        return None
    second, fraction, level, pid, tid, src_file, src_line = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="mindie",
        message=text[found.end() :].strip(),
        level={"warn": "WARNING", "trace": "DEBUG"}.get(level, level.upper()),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module="atb",
        pid=int(pid),
        tid=int(tid) if tid else None,
        src_file=src_file,
        src_line=int(src_line),
    )


def _read_audit(text: str) -> Head | None:
    found = _AUDIT.match(text)
    if found is None:
        return None
    second, fraction, pid = found.groups()
    time_ns = local_ns(second, fraction)
    message = text[found.end() :].strip()
    return Head(
        format="mindie",
        message=message,
        level="ERROR" if message.rsplit("[", 1)[-1].rstrip("]") in _FAILED else "INFO",
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        pid=int(pid),
    )


FORMAT = Format(
    name="mindie",
    head=head,
    starts="[",
    samples=(
        Sample(
            line="[2025-06-11 09:08:24.544+00:00] [12001] [12008] [server] [ERROR] [endpoint.cpp:45] : "
            "[MIE04E02011C] [endpoint] Failed to init engine!",
            level="ERROR",
            time="2025-06-11T09:08:24.544000",
            pid=12001,
            tid=12008,
            message="[MIE04E02011C] [endpoint] Failed to init engine!",
        ),
        Sample(
            line="[2026-05-13 18:06:16.762] [341] [281473586159001] [llm] [ERROR] [deploy.cpp:101] Failed to get size",
            tid=281473586159001,
            message="Failed to get size",
        ),
        Sample(
            line="[2025-05-29 21:47:44,982] [134] [281466201825001] [llm] [WARN] [logging.py-56] :", level="WARNING"
        ),
        Sample(line="[2025-06-23 10:53:57.023+0800] [1381] [batchscheduler] [INFO] [config.py:208] :  ready", pid=1381),
        Sample(
            line="[2025-07-02 11:20:31.204] [error] [7731] [281460] [linear_operation.cpp:118] infer shape fail",
            level="ERROR",
            time="2025-07-02T11:20:31.204000",
            pid=7731,
            tid=281460,
            message="infer shape fail",
        ),
        Sample(
            line="[2025-06-11 09:08:24.544+00:00] [12001] [npu-7] [system] [server] [Start mindie server] [fail]",
            level="ERROR",
            pid=12001,
        ),
    ),
)
