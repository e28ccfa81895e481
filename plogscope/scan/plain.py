"""What the columns say of a record that needs no more than to be counted."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

LEVEL_CLASSES = {"DEBUG": 0, "INFO": 0, "EVENT": 0, "WARNING": 1}
"""Levels of plain records, and their classes in the activity of a source."""


class PlainHead(msgspec.Struct, frozen=True):
    """The head of a plain record."""

    format: str
    level: str
    level_class: int
    pid: int | None


class HeadTable:
    """Columns over a list of heads that only grows.

    Attributes:
        classes: Level class of each, -1 where there is no head. Never empty.
        pids: 0 where it is not said.
        strange: True for formats other than plog.
    """

    def __init__(self) -> None:
        self.classes: NDArray[np.int64] = np.full(1, -1, np.int64)
        self.pids: NDArray[np.int64] = np.zeros(1, np.int64)
        self.strange: NDArray[np.bool_] = np.zeros(1, np.bool_)
        self._length = 0

    def extend(self, heads: Sequence[PlainHead | None]) -> None:
        """Takes in the heads that are new since the last call."""
        if len(heads) > self._length:
            self._length = len(heads)
            self.classes = np.array([-1 if head is None else head.level_class for head in heads], np.int64)
            self.pids = np.array([0 if head is None else head.pid or 0 for head in heads], np.int64)
            self.strange = np.array([head is not None and head.format != "plog" for head in heads], np.bool_)
