"""What stands behind the place in the source code, read by columns: thread, function, and the ends of the message.

Positions are those of bytes in a block, with room behind it; a line end stops every field.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from plogscope.scan.interned import Bytes, Ints, Words, bits_of, lowest_bit, rows_at

Mask = NDArray[np.bool_]

_WORD = 8
_ZEROS = np.uint64(0x3030303030303030)
_TO_TOP_BIT = np.uint64(0x7676767676767676)
_TOP_BITS = np.uint64(0x8080808080808080)
_ONE = np.uint64(1)

MOST_NAME_CHARS = 52
"""A function name that can be longer is left to the exact way: so many bits fit into a float exactly."""

_BEGINS_NAME: Mask = np.isin(np.arange(256), list(b"_~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"))
_BLANK: Mask = np.isin(np.arange(256), list(b" \t\n\v\f\r\x1c\x1d\x1e\x1f"))
"""What `str.strip` takes off, as far as it is ASCII."""
_MOST_BLANKS = 4
_WIDE = 128
_BLANK_LEADS: Mask = np.isin(np.arange(256), [0xC2, 0xE1, 0xE2, 0xE3])
"""What white space beyond ASCII begins with."""


def read_numbers(body: Bytes, positions: Ints) -> tuple[Ints, Ints]:
    """Decimal numbers of one to seven digits: their lengths, 0 where there is none, and their values."""
    words: Words = rows_at(body, positions, _WORD).view("<u8").astype(np.uint64, copy=False).ravel() ^ _ZEROS
    # A byte above 9 gets its top bit; what carries from it reaches only bytes behind the end of the number.
    others = ((words + _TO_TOP_BIT) | words) & _TOP_BITS
    lengths = np.where(others != 0, lowest_bit(others) // _WORD, 0)
    digits = words << ((_WORD - np.maximum(lengths, 1)) * _WORD).astype(np.uint64)
    pairs = (digits * np.uint64(10) + (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    fours = (pairs * np.uint64(100) + (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    values = (fours * np.uint64(10_000) + (fours >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    return lengths, values.astype(np.int64)


def read_names(rows: Bytes) -> tuple[Ints, Mask]:
    """Lengths of the function names with their colon that begin the rows, 0 where there is none, and which are sure.

    A name ends with the last colon of what can be a name.
    """
    inside, colons = bits_of(_may_name(rows)), bits_of(rows == ord(":"))
    outside = ~inside
    beyond = outside & (~outside + _ONE)  # the first byte that is of no name, as a bit
    short = (beyond != 0) & (beyond <= _ONE << np.uint64(MOST_NAME_CHARS))
    ends = colons & (beyond - _ONE)
    _, lengths = np.frexp(np.where(short, ends, 0).astype(np.float64))
    begins = _BEGINS_NAME[rows[:, 0]]
    return np.where(begins, lengths, 0).astype(np.int64), short | ~begins


def _may_name(rows: Bytes) -> Mask:
    """Letters, digits and `_:~<>`: comparisons of whole rows cost less than a table."""
    letters = (rows | np.uint8(0x20)) - np.uint8(ord("a")) < 26  # noqa: PLR2004 - of the alphabet
    digits = rows - np.uint8(ord("0")) <= ord(":") - ord("0")
    angles = rows & np.uint8(0xFD) == ord("<")
    may: Mask = letters | digits | angles | (rows == ord("_")) | (rows == ord("~"))
    return may


def trim(body: Bytes, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Mask]:
    """Texts without white space at both ends, and which of them are sure to have none left."""
    starts, ends = starts.copy(), ends.copy()
    for _ in range(_MOST_BLANKS):
        blank = np.flatnonzero(_BLANK[body[starts]] & (starts < ends))
        if not len(blank):
            break
        starts[blank] += 1
    for _ in range(_MOST_BLANKS):
        blank = np.flatnonzero(_BLANK[body[ends - 1]] & (starts < ends))
        if not len(blank):
            break
        ends[blank] -= 1
    first, last = body[starts], body[ends - 1]
    sure = ~_BLANK[first] & ~_BLANK[last] & ~_BLANK_LEADS[first]
    wide = np.flatnonzero(last >= _WIDE)
    sure[wide] &= ~_BLANK_LEADS[body[ends[wide] - 2]] & ~_BLANK_LEADS[body[ends[wide] - 3]]
    return starts, ends, sure | (starts == ends)
