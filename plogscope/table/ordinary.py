"""The short way for the lines that make up nearly all of a bundle: whole plog records of one line, read by columns.

Precondition: what is accepted here, `parse_line` reads as one record with the same fields. Heads and places are
narrower than those of the format, and interned; a line with a mark (colour, NUL, carriage return, anything that may
begin a second record) is left alone; every head is read the exact way once. `tests/table` holds both ways against each
other.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import numpy as np
import pyarrow as pa

from plogscope.formats.breakers import BREAKERS
from plogscope.formats.parse import MAX_PEELED_CHARS, Piece, parse_line
from plogscope.formats.stamps import SECOND_NS
from plogscope.grammar.automaton import Automaton
from plogscope.scan.interned import WIDTH, Bytes, Ints, first_of, rows_at
from plogscope.scan.plog_heads import STAMP, STAMP_BYTES, read_stamps
from plogscope.table.arrays import NULL, is_utf8, slices
from plogscope.table.coded import Coded
from plogscope.table.columns import Columns
from plogscope.table.fields import Mask, read_names, read_numbers, trim
from plogscope.table.shared import Place

LEAST_RECORD_BYTES = 40
"""No record with time and place is shorter."""

_PROBE = b"2026-01-01-00:00:00.000.000 [a.cc:1]1 "
"""What makes a head of this way a record of the format."""

_HEAD = re.compile(
    rb"\[(?:DEBUG|INFO|WARNING|ERROR|EVENT|TRACE)\] [A-Z][A-Za-z0-9_]{0,31}\(\d{1,10}"
    rb"(?:,[ !-'*-9;-Z\\^-~]{0,64})?\):\Z"
)
_PLACE = re.compile(rb"\[([ -9;-Z\\^-~]{1,64}\.[A-Za-z]{1,4}):(\d{1,7})\]\Z")
_INITIALS: Mask = np.isin(np.arange(256), list(b"DIETW"))
_PADDING = 2 * WIDTH
_NUMBERS = 10
_WIDE = 128
_NO_NAME, _MAY_BE_NAMED = -1, -2
_NOTHING: Ints = np.zeros(0, np.int64)
_DIGITS: Mask = np.isin(np.arange(256), list(b"0123456789"))

_breakers = Automaton(BREAKERS)


class Lines(msgspec.Struct, frozen=True):
    """The lines of a block, and the rows of those that are ordinary records.

    Attributes:
        starts: First byte of each line, and the size of the block at the end; int64.
        ordinary: Which lines are ordinary records; one flag for each line.
        numbers: The ten numbers of `Row` by those records, int64; lines and offsets count from the start of the block.
        messages: Theirs, a large_string array.
    """

    starts: Ints
    ordinary: Mask
    numbers: Ints
    messages: pa.Array


class _Found(msgspec.Struct):
    """Lines that may be ordinary records, and what was read of them: int64 arrays of one length.

    Attributes:
        lines: Indices of the lines.
        at: Where what is not read yet begins, in the block.
        ends: Where the lines end, without newline.
        texts: Indices of head, place and function; -1 = no function.
        times: ns since 1970-01-01 read as if UTC.
        tids: Threads.
    """

    lines: Ints
    at: Ints
    ends: Ints
    texts: tuple[Ints, ...] = ()
    times: Ints = _NOTHING
    tids: Ints = _NOTHING

    def keep(self, which: Mask | Ints) -> None:
        """Leaves the other lines to the exact way."""
        self.lines, self.at, self.ends = self.lines[which], self.at[which], self.ends[which]
        self.texts = tuple(text[which] for text in self.texts)
        self.times, self.tids = (field[which] if len(field) else field for field in (self.times, self.tids))


class Ordinary:
    """Finds such records in the blocks of one source after the other."""

    def __init__(self, columns: Columns) -> None:
        """`columns` gives the codes."""
        self._columns = columns
        self._kind: Callable[[Piece], int] | None = None
        self._heads = Coded(_read_head, self._code_kind)
        self._places = Coded(_read_place, columns.places.code)
        self._names = Coded(lambda text: text[:-1].decode(), columns.funcs.code)
        self._era = -1

    def begin(self, kind: Callable[[Piece], int]) -> None:
        """The next blocks are of another source, in which heads have these codes."""
        self._kind = kind

    def _code_kind(self, piece: Piece) -> int:
        return NULL if self._kind is None else self._kind(piece)

    def _begin_block(self) -> None:
        for texts in (self._heads, self._places, self._names):
            texts.make_room()
            if self._era != self._columns.era:
                texts.forget()
        self._era = self._columns.era

    def lines(self, data: bytes) -> Lines:
        """Reads a block of whole lines."""
        self._begin_block()
        body = np.frombuffer(data + bytes(_PADDING), np.uint8)
        ends = np.flatnonzero(body[: len(data)] == ord("\n"))
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        starts = np.zeros(len(ends) + 1, np.int64)
        starts[1:] = ends + 1
        starts[-1] = len(data)
        lines = _candidates(data, body, starts, ends)
        found = _Found(lines, starts[lines], ends[lines])
        self._read_heads(found, body)
        self._read_places(found, body)
        self._read_threads(found, body)
        self._read_names(found, body)
        first, last, sure = trim(body, found.at, found.ends)
        found.keep(sure)
        ordinary = np.zeros(len(ends), np.bool_)
        ordinary[found.lines] = True
        return Lines(starts, ordinary, self._numbers(found, starts), slices(data, first[sure], last[sure]))

    def _read_heads(self, found: _Found, body: Bytes) -> None:
        """Head and time."""
        rows = rows_at(body, found.at)
        colons = first_of(rows, ord(":"))
        heads, usable = self._heads.find(rows, colons)
        found.at, found.texts = found.at + colons + 1, (heads,)
        found.keep(usable)
        valid, seconds, fractions = read_stamps(rows_at(body, found.at, STAMP_BYTES))
        found.keep(valid)
        found.at = found.at + STAMP - 1
        found.times = seconds * SECOND_NS + fractions

    def _read_places(self, found: _Found, body: Bytes) -> None:
        """File and line in the source code."""
        found.at = found.at + (body[found.at] == ord(" "))
        rows = rows_at(body, found.at)
        brackets = first_of(rows, ord("]"))
        places, usable = self._places.find(rows, brackets)
        found.at, found.texts = found.at + brackets + 1, (*found.texts, places)
        found.keep(usable)

    @staticmethod
    def _read_threads(found: _Found, body: Bytes) -> None:
        """`[tid]` that no further number in brackets follows, or `tid` and a blank; a blank may stand before both."""
        at = found.at + (body[found.at] == ord(" "))
        square = body[at] == ord("[")
        lengths, found.tids = read_numbers(body, at + square)
        at += square + lengths
        after = body[at]
        closed = (after == ord("]")) & ~((body[at + 1] == ord("[")) & _DIGITS[body[at + 2]])
        found.at, found.texts = at + 1, (*found.texts, np.where(square, _NO_NAME, _MAY_BE_NAMED))
        found.keep((lengths > 0) & np.where(square, closed, after == ord(" ")))

    def _read_names(self, found: _Found, body: Bytes) -> None:
        """`func:` behind a thread without brackets."""
        bare = np.flatnonzero(found.texts[2] == _MAY_BE_NAMED)
        rows = rows_at(body, found.at[bare])
        lengths, sure = read_names(rows)
        named = np.flatnonzero(lengths)
        names, usable = self._names.find(rows[named], lengths[named] - 1)
        sure[named] &= usable
        found.at[bare] += lengths
        found.texts[2][bare] = _NO_NAME
        found.texts[2][bare[named]] = names
        fits = np.ones(len(found.at), np.bool_)
        fits[bare] = sure
        found.keep(fits)

    def _numbers(self, found: _Found, starts: Ints) -> Ints:
        heads, places, names = found.texts
        named = names >= 0
        numbers = np.empty((_NUMBERS, len(found.lines)), np.int64)
        numbers[0] = numbers[1] = found.lines + 1
        numbers[2] = numbers[4] = starts[found.lines]
        numbers[3] = starts[found.lines + 1] - starts[found.lines]
        numbers[5], numbers[9] = found.times, found.tids
        numbers[6], numbers[7] = self._heads.codes(heads), self._places.codes(places)
        numbers[8] = NULL
        numbers[8, named] = self._names.codes(names[named])
        return numbers


def _candidates(data: bytes, body: Bytes, starts: Ints, ends: Ints) -> Ints:
    """Indices of lines that begin like a record, are of its size, and in which no mark stands."""
    sizes = ends - starts[:-1]
    good = (body[starts[:-1]] == ord("[")) & _INITIALS[body[starts[:-1] + 1]]
    good &= (sizes >= LEAST_RECORD_BYTES) & (sizes <= MAX_PEELED_CHARS)
    positions, _ = _breakers.hits(data)
    good[np.searchsorted(starts, np.array(positions, np.int64), side="right") - 1] = False
    if not is_utf8(data):
        at = np.flatnonzero(body[: len(data)] >= _WIDE)
        for line in np.unique(np.searchsorted(starts, at, side="right") - 1).tolist():
            good[line] &= is_utf8(data[starts[line] : ends[line]])
    lines: Ints = np.flatnonzero(good)
    return lines


def _read_head(text: bytes) -> Piece | None:
    """The head as `parse_line` reads it; None if it is not that of such a record."""
    if _HEAD.match(text) is None:
        return None
    (piece, *_) = parse_line(text + _PROBE)
    head = piece.head
    return None if head is None or head.format != "plog" or head.time_ns is None or piece.facts.stream else piece


def _read_place(text: bytes) -> Place | None:
    """`[file:line]`."""
    place = _PLACE.match(text)
    return None if place is None else Place(place[1].decode(), int(place[2]))
