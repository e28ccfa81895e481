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

_SLOT_BITS = 14
_FACTORS: Words = np.array(
    [0x9E3779B97F4A7C15 * (2 * i + 1) * (0xD1B54A32D192ED03**i) % 2**64 | 1 for i in range(WIDTH // 8)], np.uint64
)
_KEPT_TO: Words = (np.tri(WIDTH, dtype=np.uint8) * np.uint8(255)).view(np.uint64)
"""By the place of the last byte: which bytes of a row belong to the text."""


def first_of(rows: Bytes, byte: int) -> Ints:
    """The place of the first such byte in each row of `WIDTH`; 0 also where there is none."""
    bits = bits_of(rows == byte)
    return np.maximum(lowest_bit(bits), 0)


def bits_of(flags: NDArray[np.bool_]) -> Words:
    """64 flags of a row as one word, the first as its lowest bit."""
    words: Words = np.packbits(flags, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False).ravel()
    return words


def lowest_bit(words: Words) -> Ints:
    """The place of the lowest bit that is set, -1 for 0. A power of two is exact as a float."""
    _, exponents = np.frexp((words & (~words + np.uint64(1))).astype(np.float64))
    places: Ints = exponents.astype(np.int64) - 1
    return places


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
        self._slots: Ints = np.zeros(1 << _SLOT_BITS, np.int64)

    @property
    def full(self) -> bool:
        """True when no further text is taken in."""
        return len(self.entries) >= MOST

    def find(self, rows: Bytes, lasts: Ints) -> Ints:
        """The index of the text of each row, which ends with the byte at `lasts`; -1 if there is no room for it."""
        texts = rows.view(np.uint64) & np.take(_KEPT_TO, lasts, axis=0)
        hashes: Words = texts @ _FACTORS
        found = self._look_up(texts, hashes)
        new = np.flatnonzero(found < 0)
        if len(new) and not self.full:
            _, firsts = np.unique(hashes[new], return_index=True)
            added = new[firsts[: MOST - len(self.entries)]]
            self.entries += [self._read(rows[line, : lasts[line] + 1].tobytes()) for line in added.tolist()]
            self._add(texts[added], hashes[added])
            found[new] = self._look_up(texts[new], hashes[new])
        return found

    def _add(self, texts: Words, hashes: Words) -> None:
        """Takes in texts by ascending hash."""
        indices = np.arange(len(self._texts), len(self._texts) + len(texts))
        self._texts = np.concatenate([self._texts, texts])
        places = np.searchsorted(self._hashes, hashes)
        self._hashes, self._order = np.insert(self._hashes, places, hashes), np.insert(self._order, places, indices)
        self._slots[_slot(hashes)] = indices

    def _look_up(self, texts: Words, hashes: Words) -> Ints:
        if not len(self._hashes):
            return np.full(len(texts), -1, np.int64)
        found: Ints = self._slots[_slot(hashes)]
        lost = np.flatnonzero(_differ(self._texts, found, texts))
        place = np.minimum(np.searchsorted(self._hashes, hashes[lost]), len(self._hashes) - 1)
        others = self._order[place]
        others[_differ(self._texts, others, texts[lost])] = -1
        found[lost] = others
        return found


def _slot(hashes: Words) -> Ints:
    """Where the index of the text with that hash is sought first: nearly always it has the slot for itself."""
    slots: Ints = (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.int64)
    return slots


def _differ(known: Words, indices: Ints, texts: Words) -> NDArray[np.bool_]:
    """Which of the texts are not the known ones of these indices."""
    unequal = np.take(known, indices, axis=0) != texts
    differ: NDArray[np.bool_] = unequal.view(np.uint64).ravel() != 0  # eight flags at once
    return differ
