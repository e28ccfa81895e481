"""Heads of TORCH_LOGS and glog, `V1130 07:08:52.742000 6849 torch/fx/node.py:241] `, read by columns.

The place in the source is one of some hundred texts and is interned; date, time and thread are digits at known places.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plogscope.formats.registry import classify
from plogscope.formats.stamps import SECOND_NS, yearless_ns
from plogscope.formats.torch_log import PID_LIMIT
from plogscope.scan.interned import Bytes, Interned, Ints, by_distinct, rows_at
from plogscope.scan.plain import LEVEL_CLASSES, HeadTable, PlainHead

_FIXED = len("V1130 07:08:52.742000 ")
_DIGITS = (1, 2, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 17, 18, 19, 20)
_SIGNS = ((5, ord(" ")), (8, ord(":")), (11, ord(":")), (14, ord(".")), (21, ord(" ")))
_STAMP_BYTES = 32
_MOST_BLANKS = 4
_MOST_DIGITS = 20
_LETTERS = b"VDIW"
_STARTS: NDArray[np.bool_] = np.isin(np.arange(256), list(_LETTERS))
_MOST_DAYS = 64


class TorchHeads:
    """Reads them. Knows the places in the source that it has met.

    Attributes:
        table: The heads by index.
    """

    def __init__(self) -> None:
        self._places: Interned[bool] = Interned(lambda text: _PLACE.match(text) is not None)
        self._heads: dict[tuple[int, int], int] = {}
        self._entries: list[PlainHead] = []
        self.table = HeadTable()

    @property
    def full(self) -> bool:
        """True when lines with what was not met before are refused."""
        return self._places.full

    def head(self, index: int) -> PlainHead:
        """The head of an index that `accept` gave."""
        return self._entries[index]

    def accept(self, body: Bytes, starts: Ints, ends: Ints, lines: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Of these lines those with such a head below ERROR: lines, indices of the heads, seconds and times.

        Args:
            body: A block, with room behind it.
            starts: First bytes of all of its lines.
            ends: Their ends, without newline.
            lines: Indices of lines.
        """
        lines = lines[_STARTS[body[starts[lines]]]]
        rows = rows_at(body, starts[lines], _STAMP_BYTES)
        fits = (rows[:, _DIGITS] - np.uint8(ord("0")) <= 9).all(axis=1)  # noqa: PLR2004 - decimal digits
        for place, sign in _SIGNS:
            fits &= rows[:, place] == sign
        lines, rows = lines[fits], rows[fits]
        after, numbers = _read_numbers(body, starts[lines] + _FIXED)
        texts = rows_at(body, np.maximum(after, 0))
        brackets = np.argmax(texts == ord("]"), axis=1)
        known = self._places.find(texts, brackets)
        good = np.array([*self._places.entries, False], np.bool_)[known]
        good &= (after >= 0) & (after + brackets < ends[lines])
        lines, rows, numbers = lines[good], rows[good], numbers[good]
        valid, seconds, micros = _read_times(rows)
        heads = self._index(rows[valid, 0], numbers[valid])
        return lines[valid], heads, seconds, seconds * SECOND_NS + micros * 1000

    def _index(self, letters: Bytes, numbers: Ints) -> Ints:
        packed = letters.astype(np.int64) * (2 * PID_LIMIT) + numbers
        distinct, inverse = np.unique(packed, return_inverse=True)
        indices = []
        for key in distinct.tolist():
            letter, pid = divmod(key, 2 * PID_LIMIT)
            known = self._heads.get((letter, pid))
            if known is None:
                known = self._heads[letter, pid] = len(self._entries)
                self._entries.append(_head_of(letter, pid))
            indices.append(known)
        self.table.extend(self._entries)
        found: Ints = np.array(indices, np.int64)[inverse]
        return found


_PLACE = re.compile(rb"[^\s\]]{1,300}:\d{1,7}\]\Z", re.ASCII)


@lru_cache(maxsize=16)
def _format_and_level(letter: int) -> tuple[str, str]:
    head = classify(f"{chr(letter)}0101 00:00:00.000000 1 a.py:1] ")
    assert head is not None  # the format has samples of it
    return head.format, head.level or ""


def _head_of(letter: int, pid: int) -> PlainHead:
    name, level = _format_and_level(letter)
    return PlainHead(name, level, LEVEL_CLASSES[level], pid if pid <= PID_LIMIT else None)


def _read_numbers(body: Bytes, positions: Ints) -> tuple[Ints, Ints]:
    """Where the text behind the number and its blank begins, -1 where there is no number; and the numbers.

    A number that is larger than a pid is only said to be so.
    """
    start = positions.copy()
    for _ in range(_MOST_BLANKS - 1):
        start += body[start] == ord(" ")
    after = np.full(len(start), -1, np.int64)
    numbers = np.zeros(len(start), np.int64)
    pending = np.arange(len(start))
    for step in range(_MOST_DIGITS + 1):
        byte = body[start[pending] + step]
        digit = (byte >= ord("0")) & (byte <= ord("9"))
        done = pending[(byte == ord(" ")) & bool(step)]
        after[done] = start[done] + step + 1
        pending, byte = pending[digit], byte[digit]
        if not len(pending):
            break
        larger = numbers[pending] * 10 + byte.astype(np.int64) - ord("0")
        numbers[pending] = np.minimum(larger, PID_LIMIT + 1)
    return after, numbers


def _read_times(rows: Bytes) -> tuple[Ints, Ints, Ints]:
    """Which rows hold a time, and of those the seconds of a year that is not told, and the microseconds."""
    digits = rows.astype(np.int64) - ord("0")

    def number(*places: int) -> Ints:
        value: Ints = digits[:, places[0]]
        for place in places[1:]:
            value = value * 10 + digits[:, place]
        return value

    hour, minute, second = number(6, 7), number(9, 10), number(12, 13)
    midnight = by_distinct(number(1, 2, 3, 4), _midnight, _MOST_DAYS)
    valid = np.flatnonzero((hour < 24) & (minute < 60) & (second < 60) & (midnight >= 0))  # noqa: PLR2004 - a clock
    seconds = midnight + (hour * 60 + minute) * 60 + second
    return valid, seconds[valid], number(15, 16, 17, 18, 19, 20)[valid]


@lru_cache(maxsize=512)
def _midnight(day: int) -> int:
    """-1 if there is no such day."""
    start = yearless_ns(day // 100, day % 100, "00:00:00")
    return -1 if start is None else start // SECOND_NS
