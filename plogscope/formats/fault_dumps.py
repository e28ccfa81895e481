"""Python's faulthandler: `Fatal Python error: …` or `Timeout (…)!`, then the stacks of all threads.

`Current thread 0x… (most recent call first):` is not a head: the stacks belong to the fault above them.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample

ORDER = 130

_START = re.compile(r"Fatal Python error: |Timeout \(\d{1,3}:\d\d:\d\d(?:\.\d{1,9})?\)!\s*$")


def head(text: str) -> Head | None:
    """The first line of a fault dump."""
    if text[:1] not in {"F", "T"} or _START.match(text) is None:
        return None
    return Head(format="faulthandler", message=text.strip(), level="ERROR")


FORMAT = Format(
    name="faulthandler",
    head=head,
    starts="FT",
    samples=(
        Sample(line="Fatal Python error: Segmentation fault", level="ERROR"),
        Sample(line="Fatal Python error: Aborted   ", message="Fatal Python error: Aborted"),
        Sample(line="Timeout (0:05:00)!", level="ERROR"),
    ),
)
