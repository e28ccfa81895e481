"""c10 logging of PyTorch: `[E508 03:20:31.678676591 file.cpp:12] msg`. No year, and the month is not padded.

Before torch 2.5 there was no time at all: `[E ProcessGroupNCCL.cpp:458] msg`. `[Rank n]` in the text counts within
the process group, unlike the `[rankN]:` prefix.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns, yearless_ns

ORDER = 80

LEVELS = {"V": "DEBUG", "D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "C": "CRITICAL", "F": "CRITICAL"}
"""One letter, as glog, c10 and TORCH_LOGS write it."""

_TIMED = re.compile(r"\[([IWEFV])(\d{1,2})(\d\d) (\d\d:\d\d:\d\d)\.(\d{3,9}) ([^\s\]]{1,300}):(\d{1,7})\] ?", re.ASCII)
_FULL_DATE = re.compile(
    r"([IWEF])(\d{4})(\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{6}) {1,4}(\d{1,20}) ([^\s\]]{1,300}):(\d{1,7})\] ?", re.ASCII
)
_UNTIMED = re.compile(r"\[([IWEF]) ([^\s\]]{1,300}\.\w{1,5}):(\d{1,7})\] ?", re.ASCII)


def head(text: str) -> Head | None:
    """A c10 record; errors carry an exception text whose lines are not indented."""
    if text[:1] != "[":
        return _read_full_date(text)
    found = _TIMED.match(text)
    if found is not None:
        letter, month, day, clock, fraction, src_file, src_line = found.groups()
        time_ns = yearless_ns(int(month), int(day), clock, fraction)
    else:
        found = _UNTIMED.match(text)
        if found is None:
            return None
        letter, src_file, src_line = found.groups()
        time_ns = None
    return Head(
        format="glog",
        message=text[found.end() :].strip(),
        level=LEVELS[letter],
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        src_file=src_file,
        src_line=int(src_line),
    )


def _read_full_date(text: str) -> Head | None:
    """Plain glog since 0.6, as Mooncake writes it: `E20241126 06:43:02.966156  5793 file.cpp:820] msg`."""
    found = _FULL_DATE.match(text)
    if found is None:
        return None
    letter, year, month, day, clock, fraction, tid, src_file, src_line = found.groups()
    time_ns = local_ns(f"{year}-{month}-{day} {clock}", fraction)
    return Head(
        format="glog",
        message=text[found.end() :].strip(),
        level=LEVELS[letter],
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        tid=int(tid),
        src_file=src_file,
        src_line=int(src_line),
    )


FORMAT = Format(
    name="glog",
    head=head,
    starts="[IWEF",
    samples=(
        Sample(
            line="[E508 04:20:31.678676591 compiler_depend.ts:1693] [Rank 9] HCCL watchdog thread terminated",
            level="ERROR",
            time="1970-05-08T04:20:31.678676",
            message="[Rank 9] HCCL watchdog thread terminated",
        ),
        Sample(
            line="[W1129 10:54:13.679153542 socket.cpp:752] [c10d] The client socket cannot be initialized",
            level="WARNING",
            time="1970-11-29T10:54:13.679153",
        ),
        Sample(
            line="[E ProcessGroupNCCL.cpp:458] [Rank 0] Watchdog caught collective operation timeout", level="ERROR"
        ),
        Sample(line="[I socket.cpp:566] [c10d] listening", level="INFO", message="[c10d] listening"),
        Sample(
            line="E20241127 07:43:02.966156  5701 ascend_transport.cpp:820] Failed to connect to target",
            level="ERROR",
            time="2024-11-27T07:43:02.966156",
            tid=5701,
            message="Failed to connect to target",
        ),
        Sample(line="[E911 04:33:12.442 compiler_depend.ts:429] x", level="ERROR", time="1970-09-11T04:33:12.442000"),
        Sample(line="[F1231 23:59:59.000000 ProcessGroupHCCL.cpp:99] abort", level="CRITICAL"),
    ),
)
