"""Heads of plog records, `[INFO] GE(4711,python3):2026-03-01-10:00:07.100.200 `, read by columns.

What stands before the time is one of a few hundred texts in a source and is interned; the time is decoded by
arithmetic on eight bytes at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from plogscope.formats.registry import classify
from plogscope.formats.stamps import FIRST_KNOWN_YEAR, LAST_KNOWN_YEAR, SECOND_NS, day_ns
from plogscope.scan.interned import Bytes, Interned, Ints, Words, by_distinct, rows_at
from plogscope.scan.plain import LEVEL_CLASSES, HeadTable, PlainHead

STAMP_BYTES = 32
"""Of a row for `read_stamps`."""
STAMP = len("YYYY-MM-DD-HH:MM:SS.mmm.uuu ")
_MOST_DAYS = 64
_INITIALS: NDArray[np.bool_] = np.isin(np.arange(256), list(b"DIETW"))
"""What the names of the levels begin with."""


class PlogHeads:
    """Reads them. Knows what stood before the time in the lines that it has met.

    Attributes:
        table: The heads by index.
    """

    def __init__(self) -> None:
        self._known: Interned[PlainHead | None] = Interned(_read)
        self.table = HeadTable()

    @property
    def full(self) -> bool:
        """True when lines with what was not met before are refused."""
        return self._known.full

    def head(self, index: int) -> PlainHead:
        """The head of an index that `accept` gave."""
        head = self._known.entries[index]
        assert head is not None  # accept gives no others
        return head

    def accept(self, body: Bytes, starts: Ints, ends: Ints, lines: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Of these lines those with such a head below ERROR, with the indices of the heads, seconds and times.

        Args:
            body: A block, with room behind it.
            starts: First bytes of all of its lines.
            ends: Their ends, without newline.
            lines: Indices of lines that begin with `[`.
        """
        lines = lines[_INITIALS[body[starts[lines] + 1]]]
        rows = rows_at(body, starts[lines])
        colons = np.argmax(rows == ord(":"), axis=1)
        heads = self._known.find(rows, colons)
        self.table.extend(self._known.entries)
        stamps = starts[lines] + colons + 1
        fits = (heads >= 0) & (self.table.classes[heads] >= 0) & (stamps + STAMP <= ends[lines])
        lines, heads, stamps = lines[fits], heads[fits], stamps[fits]
        valid, seconds, fractions = read_stamps(rows_at(body, stamps, STAMP_BYTES))
        return lines[valid], heads[valid], seconds, seconds * SECOND_NS + fractions


_HEAD = re.compile(
    rb"\[(?:INFO|DEBUG|EVENT|TRACE|WARNING)\] [A-Z][A-Z0-9_]{0,31}\(\d{1,10}(?:,[^()\n\r\[]{0,64})?\):\Z"
)
_PROBE, _PROBE_NS = "2026-01-01-00:00:00.000.000 [a.cc:1]", 1_767_225_600 * SECOND_NS


def _read(text: bytes) -> PlainHead | None:
    """The head as the exact path reads it; None when it is not that of a plain record."""
    head = classify(text.decode("latin-1") + _PROBE) if _HEAD.match(text) is not None else None
    if head is None or head.carrier or head.time_ns != _PROBE_NS or head.pid is None or head.level is None:
        return None
    level_class = LEVEL_CLASSES.get(head.level)
    return None if level_class is None else PlainHead(head.format, head.level, level_class, head.pid)


def _words(texts: Sequence[bytes]) -> Words:
    return np.frombuffer(b"".join(texts), "<u8").astype(np.uint64)


# A stamp and the byte behind it as four words. `^ _ZEROS` makes digits 0 to 9 and separators 0.
_ZEROS = _words([b"0000-00-", b"00-00:00", b":00.000.", b"000\0\0\0\0\0"])
_SEPARATORS = _words([b"\0\0\0\0\xff\0\0\xff", b"\0\0\0\0\0\xff\0\0", b"\xff\0\0\xff\0\0\0\xff", b"\0" * 8])
_DAY_HOUR_SIGN = 2  # byte of the second word: `-`, or a blank
_TO_TOP_BIT = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)


class _Places:
    """The bytes of words by their place, as numbers: only the few that are asked for are widened."""

    def __init__(self, words: Words) -> None:
        self._bytes = words.astype("<u8", copy=False).view(np.uint8)

    def __getitem__(self, place: int) -> Ints:
        return self._bytes[:, place].astype(np.int64)


def read_stamps(rows: Bytes) -> tuple[Ints, Ints, Ints]:
    """Which rows begin with a stamp and a separator, and of those the seconds since 1970 and the fraction in ns."""
    sign, after = rows[:, 8 + _DAY_HOUR_SIGN].copy(), rows[:, STAMP - 1].copy()
    signed = (sign == ord("-")) | (sign == ord(" "))
    rows[:, 8 + _DAY_HOUR_SIGN] = ord("-")
    rows[:, STAMP - 1 :] = 0
    words: Words = rows.view("<u8").astype(np.uint64, copy=False) ^ _ZEROS
    wrong = (((words + _TO_TOP_BIT) | words) & _TOP_BITS) | (words & _SEPARATORS)
    valid = (
        ((wrong[:, 0] | wrong[:, 1] | wrong[:, 2] | wrong[:, 3]) == 0)
        & signed
        & ((after == ord(" ")) | (after == ord("[")))
    )
    # Ten times a digit and its right neighbour, in every byte: at most 99, so nothing carries.
    pairs = words * np.uint64(10) + (words >> np.uint64(8))
    digits, two = _Places(words), _Places(pairs)
    hour, minute, second = two[11], two[14], two[17]
    valid &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    day = ((two[0] * 100 + two[2]) * 100 + two[5]) * 100 + two[8]
    midnight = by_distinct(np.where(valid, day, 0), _midnight, _MOST_DAYS)
    valid = np.flatnonzero(valid & (midnight >= 0))
    seconds = midnight + (hour * 60 + minute) * 60 + second
    micros = (two[20] * 10 + digits[22]) * 1000 + two[24] * 10 + digits[26]
    return valid, seconds[valid], micros[valid] * 1000


@lru_cache(maxsize=4096)
def _midnight(day: int) -> int:
    """-1 if there is no such day or the clock was never set."""
    year, month, date = day // 10_000, day // 100 % 100, day % 100
    start = day_ns(year, month, date) if FIRST_KNOWN_YEAR <= year <= LAST_KNOWN_YEAR else None
    return -1 if start is None else start // SECOND_NS
