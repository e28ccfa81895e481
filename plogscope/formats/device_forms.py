"""What else a device and its collectors write: black box history, slogd's own log, TEE, traces, stack cores."""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.plog import LEVELS
from plogscope.formats.stamps import local_ns, yearless_ns

ORDER = 190

_HISTORY = re.compile(r"\[(\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d)\.(\d{6})\] ?", re.ASCII)
_EXCEPTION = re.compile(r".{0,300}ExceptionReason \[", re.ASCII)
_DRIVER = re.compile(r"devid: (\d{1,5}), module: \d{1,5} (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (\d{1,6}) ", re.ASCII)
_SLOGD = re.compile(
    r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3})\[(DEBUG|INFO|WARNING|ERROR)\] ([\w./\-]{1,300}):(\d{1,7}): ?", re.ASCII
)
_TEE = re.compile(
    r"cpu\d{1,4}/\d{1,10}: (?:(\d\d)/(\d\d) (\d\d:\d\d:\d\d)\.(\d{3}) )?\[([^\]\r\n]{1,100})\] ?"
    r"(?:\[(DEBUG|INFO|WARN|WARNING|ERROR)\] ?)?(?:\d{1,7}:)?",
    re.ASCII,
)
_TRACE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3}\.\d{3}) ", re.ASCII)
_STACK = re.compile(r"crash (?:reason|pid|tid|task|time|stack base|stack top): ?", re.ASCII)


def history_head(text: str) -> Head | None:
    """history.log of the black box: local time."""
    found = _HISTORY.match(text)
    if found is None or _EXCEPTION.match(text, found.end()) is None:
        return None
    return _bracket_head("bbox-history", "ERROR", text, found)


def kernel_head(text: str) -> Head | None:
    """The kernel log that the host driver keeps."""
    found = _HISTORY.match(text)
    return None if found is None else _bracket_head("host-kernel", None, text, found)


def _bracket_head(name: str, level: str | None, text: str, found: re.Match[str]) -> Head:
    time_ns = local_ns(found[1], found[2])
    return Head(
        format=name,
        message=text[found.end() :].strip(),
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
    )


def driver_head(text: str) -> Head | None:
    """bbox/driver.txt; its time is UTC where history.log is local."""
    found = _DRIVER.match(text)
    if found is None:
        return None
    device, second, micros = found.groups()
    time_ns = local_ns(second, micros.zfill(6))
    return Head(
        format="bbox-driver",
        message=text[found.end() :].strip(),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        device=int(device),
    )


def slogd_head(text: str) -> Head | None:
    """What the log daemon says about itself: no space between time and level."""
    found = _SLOGD.match(text)
    if found is None:
        return None
    second, fraction, level, src_file, src_line = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="slogd",
        message=text[found.end() :].strip(),
        level=LEVELS.get(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        src_file=src_file,
        src_line=int(src_line),
    )


def tee_head(text: str) -> Head | None:
    """The trusted execution environment: often without a time, never with a year."""
    found = _TEE.match(text)
    if found is None:
        return None
    month, day, clock, fraction, task, level = found.groups()
    time_ns = yearless_ns(int(month), int(day), clock, fraction) if month else None
    return Head(
        format="tee-log",
        message=text[found.end() :].strip(),
        level="WARNING" if level == "WARN" else level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        proc=task,
    )


def trace_head(text: str) -> Head | None:
    """A line of an atrace text file: milliseconds and microseconds, and nothing else before the message."""
    found = _TRACE.match(text)
    if found is None:
        return None
    time_ns = local_ns(found[1], found[2])
    return Head(
        format="atrace",
        message=text[found.end() :].strip(),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
    )


def stack_head(text: str) -> Head | None:
    """The head of a stack core file; its frames follow without a head."""
    if _STACK.match(text) is None:
        return None
    return Head(format="stackcore", message=text.strip(), level="ERROR")


FORMATS = (
    Format(
        name="bbox-history",
        head=history_head,
        starts="[",
        samples=(
            Sample(
                line="[2023-07-12-16:20:44.081811] system exception code [0xB4060007]: ModuleName [TS], "
                "ExceptionReason [TS_EXCEPTION], TimeStamp [20230712162044-070000011].",
                level="ERROR",
                time="2023-07-12T16:20:44.081811",
            ),
        ),
    ),
    Format(
        name="host-kernel",
        head=kernel_head,
        starts="[",
        samples=(
            Sample(
                line="[2025-04-15-03:08:13.818489] [ascend] [drv_pcie] link is up",
                time="2025-04-15T03:08:13.818489",
                message="[ascend] [drv_pcie] link is up",
            ),
        ),
    ),
    Format(
        name="bbox-driver",
        head=driver_head,
        starts="d",
        samples=(
            Sample(
                line="devid: 2, module: 1 2021-10-06 15:07:08 1408 devid: 2 device manager current status: working.",
                time="2021-10-06T15:07:08.001408",
            ),
        ),
    ),
    Format(
        name="slogd",
        head=slogd_head,
        starts="0123456789",
        samples=(
            Sample(
                line="2025-03-02 10:11:12.123[WARNING] file_mgr.c:120: can not unlink file, file=/tmp/a.log",
                level="WARNING",
                time="2025-03-02T10:11:12.123000",
                message="can not unlink file, file=/tmp/a.log",
            ),
        ),
    ),
    Format(
        name="tee-log",
        head=tee_head,
        starts="c",
        samples=(
            Sample(
                line="cpu0/11755: 01/14 09:09:03.962 [task_flash_ta-1] [INFO] 166:flash read",
                level="INFO",
                time="1970-01-14T09:09:03.962000",
                message="flash read",
            ),
            Sample(line="cpu1/90: [teesmcmgr] [ERROR] 12:no session", level="ERROR", message="no session"),
        ),
    ),
    Format(
        name="atrace",
        head=trace_head,
        starts="0123456789",
        samples=(Sample(line="2025-06-18 09:27:15.212.345 event recorded", time="2025-06-18T09:27:15.212345"),),
    ),
    Format(
        name="stackcore",
        head=stack_head,
        starts="c",
        samples=(Sample(line="crash reason: signal 11", level="ERROR"),),
    ),
)
