"""torch_npu's C++ logger: `[pid] [time:ms] logger: [LEVEL] [tid] msg`, with a colon before the milliseconds.

Later versions write the shape of TORCH_LOGS (see `torch_log`), or the same without a file.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.glog import LEVELS
from plogscope.formats.stamps import local_ns, yearless_ns

ORDER = 95

_OLD = re.compile(
    r"\[(\d{1,10})\] \[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d):(\d{3})\] ([\w.]{1,200}): \[(\w{4,8})\] \[(\d{1,20})\] ?",
    re.ASCII,
)
_NO_FILE = re.compile(
    r"([VIWEF])(\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{6}) (\d{1,10})\](?: \[rank:(\d{1,7})\])? ?", re.ASCII
)


def head(text: str) -> Head | None:
    """A record of torch_npu's logger."""
    found = _OLD.match(text)
    if found is None:
        return _read_no_file(text)
    pid, second, fraction, logger, level, tid = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="npu-logger",
        message=text[found.end() :].strip(),
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=logger,
        pid=int(pid),
        tid=int(tid),
    )


def _read_no_file(text: str) -> Head | None:
    found = _NO_FILE.match(text)
    if found is None:
        return None
    letter, month, day, clock, fraction, pid, rank = found.groups()
    time_ns = yearless_ns(int(month), int(day), clock, fraction)
    return Head(
        format="npu-logger",
        message=text[found.end() :].strip(),
        level=LEVELS[letter],
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        pid=int(pid),
        rank=int(rank) if rank else None,
    )


FORMAT = Format(
    name="npu-logger",
    head=head,
    starts="[VIWEF",
    samples=(
        Sample(
            line="[7581] [2026-05-09 03:20:32:007] torch.distributed: [ERROR] [8592] Find exception when finished",
            level="ERROR",
            time="2026-05-09T03:20:32.007000",
            pid=7581,
            tid=8592,
            message="Find exception when finished",
        ),
        Sample(
            line="W0707 13:03:41.582123 36001] [rank:3] event query is slow",
            level="WARNING",
            pid=36001,
            message="event query is slow",
        ),
    ),
)
