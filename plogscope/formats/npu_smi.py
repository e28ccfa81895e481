"""Rows of the `npu-smi info` table."""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample

ORDER = 170

_ROW = re.compile(
    r"\|\s{0,40}(\d{1,5})\s{1,40}(?:\d{0,5}\s{0,40})?([\w.\-]{1,40})?\s{0,40}\|.{1,400}\|\s{0,8}$", re.ASCII
)
_TITLE = re.compile(r"\|\s{0,40}npu-smi \d")


def head(text: str) -> Head | None:
    """One row: the health line or the chip line of a device."""
    if _ROW.match(text) is None and _TITLE.match(text) is None:
        return None
    return Head(format="npu-smi", message=text.strip())


FORMAT = Format(
    name="npu-smi",
    head=head,
    starts="|",
    samples=(
        Sample(
            line="| 3     910B2               | Warning       | 91.2        55                0    / 0             |"
        ),
        Sample(
            line="| 0                         | 0000:81:00.0  | 7           0    / 0          3401 / 65536         |"
        ),
        Sample(
            line="| npu-smi 24.1.rc2                 Version: 24.1.rc2                                            |"
        ),
    ),
)
