"""Arrow arrays from buffers. `pa.array` and `to_numpy` would import pandas, half a second of start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa

NULL = -(1 << 63)
"""Stands for "no value" in a list of numbers. No stamp, pid or line is that number."""

Ints = npt.NDArray[np.int64]


def numbers(values: Ints, kind: pa.DataType) -> pa.Array:
    """Numbers of an integer or timestamp type; `NULL` becomes null, and so does what the type cannot hold."""
    width = np.dtype(f"{'u' if pa.types.is_unsigned_integer(kind) else 'i'}{kind.bit_width // 8}")
    valid = values != NULL
    limits = np.iinfo(width)
    if width.itemsize < 8:  # noqa: PLR2004 - narrower than the values
        valid &= (values >= limits.min) & (values <= limits.max)
    bits = None
    if not valid.all():
        values = np.where(valid, values, 0)
        bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values.astype(width)))])


def texts(values: Sequence[bytes], kind: pa.DataType) -> pa.Array:
    """Strings without nulls from their UTF-8 bytes."""
    width = np.int64 if pa.types.is_large_string(kind) else np.int32
    ends = np.zeros(len(values) + 1, width)
    ends[1:] = np.fromiter(accumulate(map(len, values)), width, len(values))
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))])


def slices(data: bytes, starts: Ints, ends: Ints) -> pa.Array:
    """The texts `data[start:end]` as large_string, copied without an object for each.

    Args:
        data: Bytes.
        starts: Ascending; the texts do not overlap and are UTF-8.
        ends: Theirs.
    """
    if not len(starts):
        return texts([], pa.large_string())
    edges = np.stack([starts, ends], axis=1).ravel()  # texts and what stands between them, in turn
    buffers = [None, pa.py_buffer(edges), pa.py_buffer(data)]
    every = pa.Array.from_buffers(pa.large_string(), len(edges) - 1, buffers)
    return every.take(numbers(np.arange(0, len(edges) - 1, 2), pa.int64()))


def optional_texts(values: Iterable[str | None]) -> pa.Array:
    """Strings and nulls."""
    given = list(values)
    filled = texts([utf8(value or "") for value in given], pa.string())
    valid = np.fromiter((value is not None for value in given), bool, len(given))
    bits = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.string(), len(given), [bits, *filled.buffers()[1:]])


def optional_numbers(values: Iterable[int | None], kind: pa.DataType) -> pa.Array:
    """Numbers and nulls of an integer type."""
    return numbers(np.array([NULL if value is None else value for value in values], np.int64), kind)


def utf8(text: str) -> bytes:
    """UTF-8 of any text; a lone surrogate becomes a question mark."""
    return text.encode("utf-8", "replace")


def is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8 as a whole; Arrow looks at them without making a text of them."""
    if data.isascii():
        return True
    ends = np.array([0, len(data)], np.int64)
    text = pa.Array.from_buffers(pa.large_string(), 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


class Words:
    """The dictionary of one column: it only ever grows, so that parts of one table can share it.

    A hostile file cannot fill the memory: beyond `limit` words a new word is null.
    """

    def __init__(self, limit: int = 1 << 16) -> None:
        self._codes: dict[str, int] = {}
        self._words: list[str] = []
        self._limit = limit
        self._array: pa.Array = texts([], pa.string())

    def code(self, word: str | None) -> int:
        """The code of the word; `NULL` for None and for words beyond the limit."""
        if word is None:
            return NULL
        found = self._codes.get(word)
        if found is None:
            if len(self._words) >= self._limit:
                return NULL
            found = self._codes[word] = len(self._words)
            self._words.append(word)
        return found

    def word(self, code: int) -> str | None:
        """The word of a code."""
        return None if code == NULL else self._words[code]

    def column(self, codes: Ints) -> pa.DictionaryArray:
        """The words of the codes."""
        if len(self._array) != len(self._words):
            self._array = texts([utf8(word) for word in self._words], pa.string())
        return pa.DictionaryArray.from_arrays(numbers(codes, pa.int32()), self._array)
