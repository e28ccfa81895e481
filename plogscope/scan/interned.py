"""Distinct short texts of many lines at once: an exact table searched by hash, read once for each text that is new."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]

WIDTH = 64
"""Bytes of a row; a text that does not fit is not looked up."""

MOST = 4096
"""Texts that are kept. A line with another one takes the exact path."""

_FACTORS: Words = np.array(
    [0x9E3779B97F4A7C15 * (2 * i + 1) * (0xD1B54A32D192ED03**i) % 2**64 | 1 for i in range(WIDTH // 8)], np.uint64
)
_KEPT_TO: Words = (np.tri(WIDTH, dtype=np.uint8) * np.uint8(255)).view(np.uint64)
"""By the place of the last byte: which bytes of a row belong to the text."""

Read = TypeVar("Read")


def rows_at(body: Bytes, positions: Ints, width: int = WIDTH) -> Bytes:
    """`width` bytes from each position, one row each. One fancy index of wide items beats `width` narrow ones."""
    windows: Any = np.ndarray((len(body) - width + 1,), f"V{width}", body, strides=(1,))
    rows: Bytes = windows[positions].view(np.uint8).reshape(len(positions), width)
    return rows


def by_distinct(values: Ints, of: Callable[[int], int], most: int) -> Ints:
    """What `of` makes of each value, asked once for each distinct one; -1 beyond the first `most` of them."""
    results = np.full(len(values), -1, np.int64)
    pending = np.arange(len(values))
    for _ in range(most):
        if not len(pending):
            break
        same = values[pending] == values[pending[0]]
        results[pending[same]] = of(int(values[pending[0]]))
        pending = pending[~same]
    return results


class Interned(Generic[Read]):
    """The distinct texts that begin rows.

    Attributes:
        entries: What `read` made of each text, in the order in which they were met.
    """

    def __init__(self, read: Callable[[bytes], Read]) -> None:
        self.entries: list[Read] = []
        self._read = read
        self._texts: Words = np.zeros((0, WIDTH // 8), np.uint64)
        self._hashes: Words = np.zeros(0, np.uint64)
        self._order: Ints = np.zeros(0, np.int64)

    @property
    def full(self) -> bool:
        """True when no further text is taken in."""
        return len(self.entries) >= MOST

    def find(self, rows: Bytes, lasts: Ints) -> Ints:
        """The index of the text of each row, which ends with the byte at `lasts`; -1 if there is no room for it."""
        texts = rows.view(np.uint64) & _KEPT_TO[lasts]
        hashes: Words = (texts * _FACTORS).sum(axis=1, dtype=np.uint64)
        found = self._look_up(texts, hashes)
        new = np.flatnonzero(found < 0)
        if len(new) and not self.full:
            _, firsts = np.unique(hashes[new], return_index=True)
            added = new[firsts[: MOST - len(self.entries)]]
            self.entries += [self._read(rows[line, : lasts[line] + 1].tobytes()) for line in added.tolist()]
            self._texts = np.concatenate([self._texts, texts[added]])
            every = (self._texts * _FACTORS).sum(axis=1, dtype=np.uint64)
            self._order = np.argsort(every)
            self._hashes = every[self._order]
            found[new] = self._look_up(texts[new], hashes[new])
        return found

    def _look_up(self, texts: Words, hashes: Words) -> Ints:
        if not len(self._hashes):
            return np.full(len(texts), -1, np.int64)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        found: Ints = self._order[place]
        found[(self._texts[found] != texts).any(axis=1)] = -1
        return found
