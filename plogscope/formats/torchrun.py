"""The summary that torchrun prints when a worker failed: `train.py FAILED`, the failures, the first observed failure.

The part from `Root Cause` on is a record of its own: its fields are those of the first failure, not of the others.
"""

from __future__ import annotations

import re
import string

from plogscope.formats.base import Format, Head, Sample

ORDER = 110

_TITLE = re.compile(r"[\w./\-<>]{1,300} FAILED\s*$", re.ASCII)
_TITLE_END = 12
_ROOT = "Root Cause (first observed failure):"


def head(text: str) -> Head | None:
    """The title of the block or the start of its last part."""
    if text.startswith(_ROOT) or ("FAILED" in text[-_TITLE_END:] and _TITLE.match(text) is not None):
        return Head(format="torchrun", message=text.strip(), level="ERROR")
    return None


FORMAT = Format(
    name="torchrun",
    head=head,
    starts=string.ascii_letters + "/._<",
    samples=(
        Sample(line="pretrain_llm.py FAILED", level="ERROR", message="pretrain_llm.py FAILED"),
        Sample(line="/opt/job/train.py FAILED", level="ERROR"),
        Sample(line="Root Cause (first observed failure):", level="ERROR"),
    ),
)
