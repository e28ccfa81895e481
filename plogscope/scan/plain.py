"""What the columns say of a record that needs no more than to be counted."""

from __future__ import annotations

import msgspec

LEVEL_CLASSES = {"DEBUG": 0, "INFO": 0, "EVENT": 0, "WARNING": 1}
"""Levels of plain records, and their classes in the activity of a source."""


class PlainHead(msgspec.Struct, frozen=True):
    """The head of a plain record."""

    format: str
    level: str
    level_class: int
    pid: int | None
