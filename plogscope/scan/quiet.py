"""The fast path: which lines of a block are ordinary plog records that only have to be counted, found by columns.

A line is *quiet* when it is one plog record below ERROR in which no literal of a signature stands. Precondition of the
trick (tested against the slow path): what is accepted here, the exact head of the plog format accepts with the same
pid, level and time. Everything else takes the slow path, so this may refuse freely.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from plogscope.formats.stamps import day_ns

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

SECOND_NS = 1_000_000_000
_LEVELS = ((b"[INFO] ", 0), (b"[DEBUG] ", 0), (b"[EVENT] ", 0), (b"[WARNING] ", 1), (b"[TRACE] ", 0))
_STAMP = b"dddd-dd-dd-dd:dd:dd.ddd.ddd"
_DIGITS = [i for i, byte in enumerate(_STAMP) if byte == ord("d")]
_SIGNS = [(i, byte) for i, byte in enumerate(_STAMP) if byte != ord("d")]
_MAX_MODULE = 16
_MAX_PROC = 64
_MAX_PID_DIGITS = 10
_PADDING = 128
_TAGS = (b"[ERROR]", b"[WARNING]", b"[EVENT]", b"[INFO]", b"[DEBUG]", b"[default", b"[rank", b"[NULL]", b"[TRACE]")
_TAG_STARTS = tuple(sorted({tag[1:4] for tag in _TAGS}))
_MODULE = np.zeros(256, np.bool_)
_MODULE[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] = True
_DIGIT = np.zeros(256, np.bool_)
_DIGIT[list(b"0123456789")] = True
_FIRST_YEAR, _LAST_YEAR = 2015, 2100


class Lines(msgspec.Struct, frozen=True):
    """The lines of a block, by position in it.

    Attributes:
        starts, ends: First byte and end (without newline), int64, one for each line.
        quiet: True for quiet lines.
        times: ns since 1970-01-01 read as if UTC; meaningful where `quiet`.
        classes: 0 below WARNING, 1 WARNING; meaningful where `quiet`.
        pids: Of the writers; meaningful where `quiet`.
    """

    starts: Any
    ends: Any
    quiet: Any
    times: Any
    classes: Any
    pids: Any


def split_lines(data: bytes, hits: Sequence[int], *, columns: bool = True) -> Lines:
    """Lines of a block and which of them are quiet.

    Args:
        data: Whole lines.
        hits: Sorted byte offsets of literals of signatures that speak of records below ERROR.
        columns: False = no line is quiet.
    """
    body = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(body == ord("\n"))
    if not data.endswith(b"\n"):
        ends = np.append(ends, len(data))
    starts = np.empty_like(ends)
    if len(ends):
        starts[0] = 0
        starts[1:] = ends[:-1] + 1
    quiet = np.zeros(len(ends), np.bool_)
    times, classes, pids = (np.zeros(len(ends), np.int64) for _ in range(3))
    if columns and len(ends):
        padded = np.frombuffer(data + bytes(_PADDING), np.uint8)
        chosen = np.flatnonzero(_unmarked(body, starts) & ~_marked(starts, hits))
        for level, level_class in _LEVELS:
            lines, stamps, writers = _accept(padded, starts, ends, chosen, level)
            quiet[lines], times[lines], classes[lines], pids[lines] = True, stamps, level_class, writers
    return Lines(starts, ends, quiet, times, classes, pids)


def _marked(starts: Ints, offsets: Sequence[int]) -> Mask:
    """Lines in which one of the offsets lies."""
    marked = np.zeros(len(starts), np.bool_)
    if len(offsets):
        marked[np.searchsorted(starts, np.asarray(offsets, np.int64), side="right") - 1] = True
    return marked


def _unmarked(body: Bytes, starts: Ints) -> Mask:
    """Lines without colours, carriage returns, NUL, and heads inside the line."""
    clean = np.ones(len(starts), np.bool_)
    marks = [np.flatnonzero((body == ord("\r")) | (body == ord("\x1b")) | (body == 0))]
    opening = np.flatnonzero(body == ord("["))
    inner = opening[(opening > 0) & (opening < len(body) - 4)]
    inner = inner[body[inner - 1] != ord("\n")]
    first, second, third = body[inner + 1], body[inner + 2], body[inner + 3]
    tagged = np.zeros(len(inner), np.bool_)
    for tag in _TAG_STARTS:
        tagged |= (first == tag[0]) & (second == tag[1]) & (third == tag[2])
    marks += [inner[tagged], opening[(opening > 0)][body[opening[opening > 0] - 1] == ord("^")]]
    for mark in marks:
        if len(mark):
            clean[np.searchsorted(starts, mark, side="right") - 1] = False
    return clean


def _accept(body: Bytes, starts: Ints, ends: Ints, chosen: Ints, level: bytes) -> tuple[Ints, Ints, Ints]:
    """Of the chosen lines those with the head of an ordinary plog record of that level, their times and pids."""
    lines = _matching(body, starts, chosen, level)
    lines, opening = _with_module(body, starts, lines, len(level))
    lines, after, pids = _with_pid(body, lines, opening)
    known, stamp = _with_process_end(body, after)
    lines, pids = lines[known], pids[known]
    room = stamp + len(_STAMP) < ends[lines]
    lines, pids, stamp = lines[room], pids[room], stamp[room]
    found, times = _read_stamps(body, stamp)
    return lines[found], times, pids[found]


def _matching(body: Bytes, starts: Ints, lines: Ints, text: bytes) -> Ints:
    """The lines that start with `text`. The first bytes are compared first: they tell most lines apart."""
    for position, byte in enumerate(text):
        lines = lines[body[starts[lines] + position] == byte]
    return lines


def _with_module(body: Bytes, starts: Ints, lines: Ints, offset: int) -> tuple[Ints, Ints]:
    """Lines whose level is followed by a module name and `(`, with the position of the `(`."""
    position = starts[lines] + offset
    opening = np.full(len(lines), -1, np.int64)
    pending = np.flatnonzero(_MODULE[body[position]] & ~_DIGIT[body[position]])
    for step in range(1, _MAX_MODULE):
        byte = body[position[pending] + step]
        done = byte == ord("(")
        opening[pending[done]] = position[pending[done]] + step
        pending = pending[_MODULE[byte]]
        if not len(pending):
            break
    known = opening >= 0
    return lines[known], opening[known]


def _with_pid(body: Bytes, lines: Ints, opening: Ints) -> tuple[Ints, Ints, Ints]:
    """Lines with digits after the `(`, the position after the digits, and the number."""
    position = opening + 1
    pids = np.zeros(len(lines), np.int64)
    after = np.full(len(lines), -1, np.int64)
    pending = np.flatnonzero(_DIGIT[body[position]])
    for step in range(_MAX_PID_DIGITS + 1):
        byte = body[position[pending] + step]
        digit = _DIGIT[byte]
        done = pending[~digit]
        after[done] = position[done] + step
        pending = pending[digit]
        if not len(pending):
            break
        pids[pending] = pids[pending] * 10 + (byte[digit].astype(np.int64) - ord("0"))
    known = after >= 0
    return lines[known], after[known], pids[known]


def _with_process_end(body: Bytes, after: Ints) -> tuple[Mask, Ints]:
    """Which heads end in `):` after a process name, or after the pid at once, and the positions behind that."""
    stamp = np.full(len(after), -1, np.int64)
    separator = body[after]
    alone = separator == ord(")")
    stamp[alone] = after[alone] + 2
    pending = np.flatnonzero(separator == ord(","))
    for step in range(1, _MAX_PROC + 2):
        byte = body[after[pending] + step]
        done = byte == ord(")")
        stamp[pending[done]] = after[pending[done]] + step + 2
        pending = pending[~done & (byte != ord("(")) & (byte != ord("\n")) & (byte != ord("["))]
        if not len(pending):
            break
    known = (stamp >= 0) & (body[stamp - 1] == ord(":"))
    return known, stamp[known]


def _read_stamps(body: Bytes, stamp: Ints) -> tuple[Ints, Ints]:
    """Which of the positions hold a stamp and a separator after it, and the times of those."""
    found = np.arange(len(stamp))
    after = body[stamp + len(_STAMP)] if len(stamp) else np.zeros(0, np.uint8)
    found = found[(after == ord(" ")) | (after == ord("["))]
    for position, byte in _SIGNS:
        found = found[body[stamp[found] + position] == byte]
    columns = {}
    for position in _DIGITS:
        columns[position] = body[stamp[found] + position].astype(np.int64) - ord("0")
    valid = np.ones(len(found), np.bool_)
    for column in columns.values():
        valid &= (column >= 0) & (column <= 9)  # noqa: PLR2004 - decimal digits

    def number(*positions: int) -> Ints:
        value: Ints = columns[positions[0]]
        for position in positions[1:]:
            value = value * 10 + columns[position]
        return value

    day = number(0, 1, 2, 3, 5, 6, 8, 9)
    hour, minute, second = number(11, 12), number(14, 15), number(17, 18)
    valid &= (hour < 24) & (minute < 60) & (second < 60)  # noqa: PLR2004 - a clock
    midnight = np.zeros(len(found), np.int64)
    for one in np.unique(day[valid]).tolist():
        start = _midnight_ns(one)
        if start is None:
            valid &= day != one
        else:
            midnight[day == one] = start
    micros = number(20, 21, 22, 24, 25, 26)
    times: Ints = midnight + ((hour * 60 + minute) * 60 + second) * SECOND_NS + micros * 1000
    return found[valid], times[valid]


@lru_cache(maxsize=4096)
def _midnight_ns(day: int) -> int | None:
    """Midnight of the day `YYYYMMDD`; None if there is no such day or the clock was never set."""
    year, month, date = day // 10_000, day // 100 % 100, day % 100
    return day_ns(year, month, date) if _FIRST_YEAR <= year <= _LAST_YEAR else None
