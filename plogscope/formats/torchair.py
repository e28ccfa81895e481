"""TorchAir and npugraph_ex: a plog head with `TORCHAIR` or `NPUGRAPH_EX`; Python writes a space in the time.

Graph dumps and generated code follow without a head and without indentation.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.plog import LEVELS
from plogscope.formats.stamps import local_ns

ORDER = 40

_HEAD = re.compile(
    r"\s{0,8}\[([A-Z]{4,8})\] ?(TORCHAIR|NPUGRAPH_EX)\((\d{1,10}), ?([^)\r\n\[]{0,128})\): ?"
    r"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:[.,](\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?\s{0,4}"
    r"(?:\[([^\]\r\n:]{1,300}):(\d{1,7})\] ?(?:(\d{1,20})(?= |$))?)?",
    re.ASCII,
)


def head(text: str) -> Head | None:
    """A record of the graph compiler."""
    found = _HEAD.match(text)
    if found is None:
        return None
    level, module, pid, proc, second, fraction, src_file, src_line, tid = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="torchair",
        message=text[found.end() :].strip(),
        level=LEVELS.get(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module,
        pid=int(pid),
        tid=int(tid) if tid else None,
        proc=proc or None,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
    )


FORMAT = Format(
    name="torchair",
    head=head,
    starts="[ \t",
    samples=(
        Sample(
            line="[DEBUG] TORCHAIR(99351,python):2025-10-29 16:42:58.380.700 [_scope_attr.py:38]99351 Set attribute",
            level="DEBUG",
            time="2025-10-29T16:42:58.380700",
            pid=99351,
            tid=99351,
            message="Set attribute",
        ),
        Sample(
            line="[INFO] TORCHAIR(22509,python):2025-02-07-15:44:53.090.459 [static_executor.cpp:256]22511 run graph 0",
            tid=22511,
            message="run graph 0",
        ),
        Sample(
            line="[ERROR] NPUGRAPH_EX(6101,python):2026-10-29 07:07:46.350.402 [replace_stream_event.py:31]6101 failed",
            level="ERROR",
            message="failed",
        ),
        Sample(line="[INFO] NPUGRAPH_EX(6101,python):2026-10-29 07:07:46 ready", message="ready"),
    ),
)
