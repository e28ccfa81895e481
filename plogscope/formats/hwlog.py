"""MindCluster components (device plugin, noded, exporter): `[WARN]  2024/01/10 03:28:38.643290 17  file.go:190  msg`.

The number behind the time is a goroutine.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 160

_HEAD = re.compile(
    r"\[(DEBUG|INFO|WARN|ERROR|CRITICAL)\]\s{1,8}(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d)\.(\d{6}) (\d{1,10})\s{1,8}"
    r"([\w./\-]{1,300}):(\d{1,7})\s{1,8}",
    re.ASCII,
)


def head(text: str) -> Head | None:
    """A record of a MindCluster component; the number is a goroutine, not a thread."""
    found = _HEAD.match(text)
    if found is None:
        return None
    level, second, fraction, _, src_file, src_line = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="hwlog",
        message=text[found.end() :].strip(),
        level="WARNING" if level == "WARN" else level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        src_file=src_file,
        src_line=int(src_line),
    )


FORMAT = Format(
    name="hwlog",
    head=head,
    starts="[",
    samples=(
        Sample(
            line="[WARN]     2024/01/11 04:28:38.643290 17      deviceswitch/switch.go:190    switch got a fault",
            level="WARNING",
            time="2024-01-11T04:28:38.643290",
            message="switch got a fault",
        ),
        Sample(line="[ERROR]    2024/01/11 02:29:39.034681 60      collector/npu.go:19    init failed", level="ERROR"),
    ),
)
