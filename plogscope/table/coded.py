"""Texts that many lines share, read once, with the codes that the columns of the table have for them now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from plogscope.scan.interned import MOST, Bytes, Interned, Ints

_UNSET = -1
"""No code of the columns is that number."""

Read = TypeVar("Read")


class Coded(Generic[Read]):
    """The distinct texts at one place of lines.

    A table that is full is begun anew with the next block: what stands there is not what lines share, but the lines
    after it may share something again.
    """

    def __init__(self, read: Callable[[bytes], Read | None], code: Callable[[Read], int]) -> None:
        """Both are asked once for each text: `read` when it is new, `code` when a line is accepted after `forget`.

        Args:
            read: What the text says; None if it is none that lines may be accepted with.
            code: The code in the columns.
        """
        self._read, self._code = read, code
        self._begin()

    def _begin(self) -> None:
        self._texts: Interned[Read | None] = Interned(self._read)
        self._codes: Ints = np.zeros(0, np.int64)
        self._usable: NDArray[np.bool_] = np.zeros(1, np.bool_)

    def make_room(self) -> None:
        """Makes room. Indices that were given before are void."""
        if len(self._texts.entries) >= MOST:
            self._begin()

    def forget(self) -> None:
        """The codes of the columns are no longer valid."""
        self._codes[:] = _UNSET

    def find(self, rows: Bytes, lasts: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        """Indices of the texts that begin the rows and end with the bytes at `lasts`, and which of them can be used."""
        found = self._texts.find(rows, lasts)
        entries = self._texts.entries
        new = entries[len(self._codes) :]
        if new:
            usable = [*(entry is not None for entry in new), False]
            self._usable = np.concatenate([self._usable[:-1], np.array(usable, np.bool_)])
            self._codes = np.concatenate([self._codes, np.full(len(new), _UNSET, np.int64)])
        return found, self._usable[found]

    def entry(self, index: int) -> Read:
        """What the text of a usable index says."""
        entry = self._texts.entries[index]
        assert entry is not None  # only usable ones are asked for
        return entry

    def codes(self, indices: Ints) -> Ints:
        """The codes of usable indices."""
        used = np.flatnonzero(np.bincount(indices, minlength=len(self._codes)))
        for index in used[self._codes[used] == _UNSET].tolist():
            self._codes[index] = self._code(self.entry(index))
        codes: Ints = self._codes[indices]
        return codes
