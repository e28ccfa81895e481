"""The fast path: which lines of a block are ordinary plog records below ERROR, found by columns.

Precondition of the trick (tested against the exact path): what is accepted here is one record for the exact path, with
the same writer, level and time. Everything else is left to that path, so this may refuse freely.

Lines are never decoded one by one. The head up to the time, `[INFO] GE(4711,python3):`, is one of a few hundred in a
source: it is looked up by its hash and its bytes, and read the exact way when it is new. The time is decoded by
arithmetic on eight bytes at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from plogscope.formats.breakers import BREAKERS
from plogscope.formats.registry import classify
from plogscope.formats.stamps import day_ns
from plogscope.grammar.automaton import Automaton, literal
from plogscope.grammar.gate import Gate

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

SECOND_NS = 1_000_000_000
_HEAD_BYTES = 64
_STAMP_BYTES = 32
_PADDING = _HEAD_BYTES + _STAMP_BYTES
_MAX_HEADS = 4096
"""Heads that are kept; lines with others take the exact path."""

_MOST_DAYS = 64
_FIRST_YEAR, _LAST_YEAR = 2015, 2100


class Lines(msgspec.Struct, frozen=True):
    """The lines of a block, by position in it. What `plain` does not hold for means nothing in the other arrays.

    Attributes:
        starts, ends: First byte and end (without newline), int64, one for each line.
        plain: True for one plog record below ERROR, as it stands.
        heads: Which head the record has, an index for `Columns.head`.
        seconds: Since 1970-01-01 read as if UTC.
        times: The same in ns, with the fraction.
        heard: By line, the signatures of which a literal stands in it; of plain lines only.
    """

    starts: Any
    ends: Any
    plain: Any
    heads: Any
    seconds: Any
    times: Any
    heard: dict[int, frozenset[int]]


class PlainHead(msgspec.Struct, frozen=True):
    """What the head of a plain record says. `level_class` is 0 below WARNING, 1 for WARNING, -1 if it is not plain."""

    level: str
    level_class: int
    pid: int


_REFUSED = PlainHead("", -1, 0)


class Columns:
    """Finds plain records. Knows the heads that it has met, of any source."""

    def __init__(self, gate: Gate) -> None:
        self._automaton = Automaton([*BREAKERS, *(literal(text) for text, _ in gate.quiet_literals)])
        self._speakers = [indices for _, indices in gate.quiet_literals]
        self._usable = not gate.always
        self._known = _KnownHeads()

    def head(self, index: int) -> PlainHead:
        """The head of an entry of `Lines.heads`."""
        return self._known.heads[index]

    def writers(self, heads: Ints) -> tuple[Ints, Ints]:
        """Level classes and pids of heads, by their indices."""
        return self._known.classes[heads], self._known.pids[heads]

    def lines(self, data: bytes, *, columns: bool = True) -> Lines:
        """Splits a block of whole lines. Without `columns`, or if a signature may match anything, no line is plain."""
        padded = np.frombuffer(data + bytes(_PADDING), np.uint8)
        ends = np.flatnonzero(padded[: len(data)] == ord("\n"))
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        plain = np.zeros(len(ends), np.bool_)
        heads, seconds, times = (np.zeros(len(ends), np.int64) for _ in range(3))
        heard: dict[int, frozenset[int]] = {}
        if columns and self._usable and data:
            positions, patterns = (np.asarray(found, np.int64) for found in self._automaton.hits(data))
            owners = np.searchsorted(starts, positions, side="right") - 1
            breaks = patterns < len(BREAKERS)
            whole = (padded[starts] == ord("[")) & _INITIALS[padded[starts + 1]]
            whole[owners[breaks]] = False
            found, *columns_of = self._accept(padded, starts, ends, np.flatnonzero(whole))
            plain[found] = True
            heads[found], seconds[found], times[found] = columns_of
            spoken = ~breaks & plain[owners]
            heard = self._heard(owners[spoken].tolist(), (patterns[spoken] - len(BREAKERS)).tolist())
        return Lines(starts, ends, plain, heads, seconds, times, heard)

    def _heard(self, lines: list[int], patterns: list[int]) -> dict[int, frozenset[int]]:
        heard: dict[int, frozenset[int]] = {}
        for line, pattern in zip(lines, patterns, strict=True):
            speakers = self._speakers[pattern]
            known = heard.get(line)
            heard[line] = speakers if known is None else known | speakers
        return heard

    def _accept(self, body: Bytes, starts: Ints, ends: Ints, lines: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Of these lines the plain ones, with their heads, seconds and times."""
        rows = _rows(body, starts[lines], _HEAD_BYTES)
        colons = np.argmax(rows == ord(":"), axis=1)
        heads = self._known.find(rows, colons)
        stamps = starts[lines] + colons + 1
        fits = (heads >= 0) & (stamps + _LONGEST_STAMP <= ends[lines])
        lines, heads, stamps = lines[fits], heads[fits], stamps[fits]
        valid, seconds, fractions = _read_stamps(_rows(body, stamps, _STAMP_BYTES))
        return lines[valid], heads[valid], seconds, seconds * SECOND_NS + fractions


def _rows(body: Bytes, positions: Ints, width: int) -> Bytes:
    """`width` bytes from each position, one row each. One fancy index of wide items beats `width` narrow ones."""
    windows: Any = np.ndarray((len(body) - width + 1,), f"V{width}", body, strides=(1,))
    rows: Bytes = windows[positions].view(np.uint8).reshape(len(positions), width)
    return rows


class _KnownHeads:
    """The distinct heads: an exact table, searched by hash for all lines at once.

    Attributes:
        heads: In the order in which they were met.
        classes, pids: Theirs.
    """

    def __init__(self) -> None:
        self.heads: list[PlainHead] = []
        self._texts: Words = np.zeros((0, _HEAD_BYTES // 8), np.uint64)
        self.classes: Ints = np.zeros(0, np.int64)
        self.pids: Ints = np.zeros(0, np.int64)
        self._hashes: Words = np.zeros(0, np.uint64)
        self._order: Ints = np.zeros(0, np.int64)

    def find(self, rows: Bytes, colons: Ints) -> Ints:
        """The index of the head that ends at the colon of each row, -1 where it is not plain."""
        texts: Words = rows.view(np.uint64)
        texts = texts & _KEPT_TO[colons]
        hashes: Words = (texts * _FACTORS).sum(axis=1, dtype=np.uint64)
        found = self._look_up(texts, hashes)
        new = np.flatnonzero(found < 0)
        if len(new) and len(self.heads) < _MAX_HEADS:
            _, firsts = np.unique(hashes[new], return_index=True)
            added = new[firsts[: _MAX_HEADS - len(self.heads)]]
            self.heads += [_read_head(rows[line, : colons[line] + 1].tobytes()) for line in added.tolist()]
            self._texts = np.concatenate([self._texts, texts[added]])
            self._index()
            found[new] = self._look_up(texts[new], hashes[new])
        found[(found < 0) | (self.classes[found] < 0)] = -1
        return found

    def _index(self) -> None:
        hashes = (self._texts * _FACTORS).sum(axis=1, dtype=np.uint64)
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        self.classes = np.array([head.level_class for head in self.heads], np.int64)
        self.pids = np.array([head.pid for head in self.heads], np.int64)

    def _look_up(self, texts: Words, hashes: Words) -> Ints:
        if not len(self._hashes):
            return np.full(len(texts), -1, np.int64)
        place = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        found: Ints = self._order[place]
        found[(self._texts[found] != texts).any(axis=1)] = -1
        return found


_INITIALS: Mask = np.isin(np.arange(256), list(b"DIETW"))
"""What the names of the levels begin with."""

_FACTORS: Words = np.array(
    [0x9E3779B97F4A7C15 * (2 * i + 1) * (0xD1B54A32D192ED03**i) % 2**64 | 1 for i in range(_HEAD_BYTES // 8)], np.uint64
)
_KEPT_TO: Words = (np.tri(_HEAD_BYTES, dtype=np.uint8) * np.uint8(255)).view(np.uint64)
"""By the place of the last byte: which bytes of a row belong to the head."""

_HEAD = re.compile(
    rb"\[(?:INFO|DEBUG|EVENT|TRACE|WARNING)\] [A-Z][A-Z0-9_]{0,31}\(\d{1,10}(?:,[^()\n\r\[]{0,64})?\):\Z"
)
_PROBE, _PROBE_NS = "2026-01-01-00:00:00.000.000 [a.cc:1]", 1_767_225_600 * SECOND_NS
_CLASSES = {"DEBUG": 0, "INFO": 0, "EVENT": 0, "WARNING": 1}


def _read_head(text: bytes) -> PlainHead:
    """A head as the exact path reads it; refused when it is not that of a plain record."""
    head = classify(text.decode("latin-1") + _PROBE) if _HEAD.match(text) is not None else None
    if head is None or head.format != "plog" or head.time_ns != _PROBE_NS or head.pid is None:
        return _REFUSED
    level_class = _CLASSES.get(head.level or "", -1)
    return _REFUSED if level_class < 0 else PlainHead(head.level or "", level_class, head.pid)


_LONGEST_STAMP = len("YYYY-MM-DD-HH:MM:SS.mmm.uuu ")


def _words(texts: Sequence[bytes]) -> Words:
    return np.frombuffer(b"".join(texts), "<u8").astype(np.uint64)


# A stamp and the byte behind it as four words. `^ _ZEROS` makes digits 0 to 9 and separators 0.
_ZEROS = _words([b"0000-00-", b"00-00:00", b":00.000.", b"000\0\0\0\0\0"])
_SEPARATORS = _words([b"\0\0\0\0\xff\0\0\xff", b"\0\0\0\0\0\xff\0\0", b"\xff\0\0\xff\0\0\0\xff", b"\0" * 8])
_DAY_HOUR_SIGN = 2  # byte of the second word: `-`, or a blank
_TO_TOP_BIT = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)


def _read_stamps(rows: Bytes) -> tuple[Ints, Ints, Ints]:
    """Which rows begin with a stamp and a separator, and of those the seconds since 1970 and the fraction in ns."""
    sign, after = rows[:, 8 + _DAY_HOUR_SIGN].copy(), rows[:, _LONGEST_STAMP - 1].copy()
    signed = (sign == ord("-")) | (sign == ord(" "))
    rows[:, 8 + _DAY_HOUR_SIGN] = ord("-")
    rows[:, _LONGEST_STAMP - 1 :] = 0
    words: Words = rows.view("<u8").astype(np.uint64, copy=False) ^ _ZEROS
    wrong = (((words + _TO_TOP_BIT) | words) & _TOP_BITS) | (words & _SEPARATORS)
    valid = ~wrong.any(axis=1) & signed & ((after == ord(" ")) | (after == ord("[")))
    # Ten times a digit and its right neighbour, in every byte: at most 99, so nothing carries.
    pairs = words * np.uint64(10) + (words >> np.uint64(8))
    digits, two = _bytes_of(words), _bytes_of(pairs)
    hour, minute, second = two[:, 11], two[:, 14], two[:, 17]
    valid &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    day = ((two[:, 0] * 100 + two[:, 2]) * 100 + two[:, 5]) * 100 + two[:, 8]
    midnight = _midnights(day, valid)
    valid = np.flatnonzero(valid & (midnight >= 0))
    seconds = midnight + (hour * 60 + minute) * 60 + second
    micros = (two[:, 20] * 10 + digits[:, 22]) * 1000 + two[:, 24] * 10 + digits[:, 26]
    return valid, seconds[valid], micros[valid] * 1000


def _bytes_of(words: Words) -> Ints:
    return words.astype("<u8", copy=False).view(np.uint8).astype(np.int64)


def _midnights(days: Ints, valid: Mask) -> Ints:
    """Seconds at the midnight of each day `YYYYMMDD` since 1970, -1 where there is no such day."""
    midnights = np.full(len(days), -1, np.int64)
    pending = np.flatnonzero(valid)
    for _ in range(_MOST_DAYS):
        if not len(pending):
            break
        same = days[pending] == days[pending[0]]
        midnights[pending[same]] = _midnight(int(days[pending[0]]))
        pending = pending[~same]
    return midnights


@lru_cache(maxsize=4096)
def _midnight(day: int) -> int:
    """-1 if there is no such day or the clock was never set."""
    year, month, date = day // 10_000, day // 100 % 100, day % 100
    start = day_ns(year, month, date) if _FIRST_YEAR <= year <= _LAST_YEAR else None
    return -1 if start is None else start // SECOND_NS
