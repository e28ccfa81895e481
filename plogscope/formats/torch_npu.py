"""What torch_npu adds to an exception: the `[ERROR] time (PID:…) ERRxxxxx` line, and its warnings of old versions.

ERRmmccc: mm 00 PTA, 01 OPS, 02 DIST, 03 GRAPH, 04 PROF. The time is local, in seconds. RankID is -1 unless RANK is set.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 70

_ERROR = re.compile(
    r"\[(ERROR|WARNING)\] (\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d) "
    r"\(PID:(\d{1,10}), Device:(-?\d{1,5}), RankID:(-?\d{1,7})\) ?",
    re.ASCII,
)
_OLD_WARNING = re.compile(r"\[W ([^\s\]]{1,300}):(\d{1,7})\] (?=Warning: )", re.ASCII)


def _natural(digits: str) -> int | None:
    """The number, or None for -1 (unknown)."""
    number = int(digits)
    return number if number >= 0 else None


def head(text: str) -> Head | None:
    """An ERRxxxxx line or a warning without time."""
    found = _ERROR.match(text)
    if found is not None:
        level, second, pid, device, rank = found.groups()
        time_ns = local_ns(second)
        return Head(
            format="torch-npu",
            message=text[found.end() :].strip(),
            level=level,
            time_ns=time_ns,
            time_quality="none" if time_ns is None else "exact",
            pid=int(pid),
            device=_natural(device),
            rank=_natural(rank),
        )
    found = _OLD_WARNING.match(text)
    if found is None:
        return None
    return Head(
        format="torch-npu",
        message=text[found.end() :].strip(),
        level="WARNING",
        src_file=found[1],
        src_line=int(found[2]),
    )


FORMAT = Format(
    name="torch-npu",
    head=head,
    starts="[",
    samples=(
        Sample(
            line="[ERROR] 2025-04-17-18:46:11 (PID:60924, Device:1, RankID:-1) ERR00100 PTA call acl api failed",
            level="ERROR",
            time="2025-04-17T18:46:11",
            pid=60924,
            message="ERR00100 PTA call acl api failed",
        ),
        Sample(
            line="[ERROR] 2026-01-05-09:00:59 (PID:310, Device:-1, RankID:3) ERR99999 UNKNOWN applicaiton exception",
            pid=310,
            message="ERR99999 UNKNOWN applicaiton exception",
        ),
        Sample(
            line="[W compiler_depend.ts:51] Warning: CAUTION: The operator is not supported on the NPU backend",
            level="WARNING",
            message="Warning: CAUTION: The operator is not supported on the NPU backend",
        ),
    ),
)
