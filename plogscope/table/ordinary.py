"""The short way for the lines that make up nearly all of a bundle: whole plog records of one line, block by block.

Precondition: what is accepted here, `parse_line` reads as one record with the same fields. The pattern is narrower than
that of the format; a line with a mark (colour, NUL, carriage return, anything that may begin a second record) is left
alone; and the first line of every head is read the exact way. `tests/table` holds both ways against each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from plogscope.formats.breakers import BREAKERS
from plogscope.formats.encoding import decode_line
from plogscope.formats.parse import MAX_PEELED_CHARS
from plogscope.formats.stamps import local_ns
from plogscope.grammar.automaton import Automaton
from plogscope.table.arrays import NULL, Ints

RECORD = re.compile(
    rb"^(?:(\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] [A-Z][A-Za-z0-9_]{0,31}\(\d{1,10}(?:,[^()\n\[\]:]{0,64})?\):)"
    rb"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)\.(\d{3})\.(\d{3}) (\[[^\[\]:\n]{1,300}\.[A-Za-z]{1,4}:\d{1,7}\]) ?"
    rb"(?:\[(\d{1,10})\](?!\[\d)|(\d{1,10}) (?:([A-Za-z_~][\w:~<>]{0,200}):)?)([^\n]*)|[^\n]*)$",
    re.MULTILINE,
)
"""One match a line. Groups: head up to the time, second, ms, us, `[file:line]`, tid in brackets, bare tid, function,
message; all are empty when the line is no ordinary record."""

Groups = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]

_breakers = Automaton(BREAKERS)
_CACHED = 8192
_NUMBERS = 10
_WEIGHTS = np.array([100_000_000, 10_000_000, 1_000_000], np.int64)


class Lines(msgspec.Struct, frozen=True):
    """The lines of a block. Arrays and lists have one entry for each line; those of other lines mean nothing.

    Attributes:
        starts: First byte of each line, and the size of the block at the end.
        ordinary: Which lines are ordinary records.
        groups: As the pattern found them.
        numbers: The ten numbers of `Row` by the lines, int64; lines and offsets counted from the start of the block.
        messages: UTF-8.
    """

    starts: Ints
    ordinary: npt.NDArray[np.bool_]
    groups: list[Groups]
    numbers: Ints
    messages: list[bytes]


class Coder(msgspec.Struct, frozen=True):
    """Bytes → codes of the columns. `kind` gives `NULL` for a head that has to be read the exact way."""

    kind: Callable[[Groups], int]
    place: Callable[[bytes], int]
    func: Callable[[bytes], int]


class Ordinary:
    """Finds such records in the blocks of one source."""

    def __init__(self, coder: Coder) -> None:
        """`coder` is asked once for every distinct text until `forget`."""
        self._coder = coder
        self._times: dict[bytes, int] = {}
        self.forget()

    def forget(self) -> None:
        """The codes are no longer valid."""
        self._kinds: dict[bytes, int] = {}
        self._places: dict[bytes, int] = {}
        self._funcs: dict[bytes, int] = {b"": NULL}

    def lines(self, data: bytes) -> Lines:
        """Reads a block of whole lines."""
        lengths = np.fromiter(map(len, data.split(b"\n")), np.int64)
        groups: list[Groups] = RECORD.findall(data)
        if data.endswith(b"\n"):
            lengths = lengths[:-1]
            groups.pop()
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths + 1, out=starts[1:])
        starts[-1] = len(data)
        heads, seconds, millis, micros, places, bracketed, bare, funcs, messages = zip(*groups, strict=True)
        kinds = self._kind_codes(heads, groups)
        times = np.array(_looked_up(seconds, self._times, _second_ns), np.int64)
        ordinary = (lengths <= MAX_PEELED_CHARS) & (kinds != NULL) & (times != NULL)
        ordinary[_marked_lines(data, starts)] = False
        numbers = np.empty((_NUMBERS, len(groups)), np.int64)
        numbers[:2] = np.arange(1, len(groups) + 1)
        numbers[2] = numbers[4] = starts[:-1]
        numbers[3] = np.diff(starts)
        numbers[5] = times + _thousandths(millis) + _thousandths(micros) // 1000
        numbers[6] = kinds
        numbers[7] = _looked_up(places, self._places, self._coder.place)
        numbers[8] = _looked_up(funcs, self._funcs, self._coder.func)
        numbers[9] = [int(one or other or b"0") for one, other in zip(bracketed, bare, strict=True)]
        return Lines(starts, ordinary, groups, numbers, _messages(messages, valid=_is_utf8(data)))

    def _kind_codes(self, heads: Sequence[bytes], groups: Sequence[Groups]) -> Ints:
        known = self._kinds
        if not known:
            known[b""] = NULL
        for head in [head for head in dict.fromkeys(heads) if head not in known]:
            known[head] = self._coder.kind(groups[heads.index(head)])
        return np.array([known[head] for head in heads], np.int64)


_Key = TypeVar("_Key")


def _looked_up(keys: Sequence[_Key], known: dict[_Key, int], find: Callable[[_Key], int]) -> list[int]:
    """The values of the keys; `find` is asked for those that are not known yet."""
    if len(known) > _CACHED:
        known.clear()
    for key in [key for key in dict.fromkeys(keys) if key not in known]:
        known[key] = find(key)
    return [known[key] for key in keys]


def _second_ns(second: bytes) -> int:
    found = local_ns(second.decode("latin-1")) if second else None
    return NULL if found is None else found


def _thousandths(digits: Iterable[bytes]) -> Ints:
    """`416` → 416 ms in ns; an empty text counts as 000."""
    values = np.frombuffer(b"".join(digits_of or b"000" for digits_of in digits), np.uint8).reshape(-1, 3)
    product: Ints = (values.astype(np.int64) - ord("0")) @ _WEIGHTS
    return product


def _marked_lines(data: bytes, starts: Ints) -> Ints:
    """Indices of the lines in which a mark stands."""
    positions, _ = _breakers.hits(data)
    lines: Ints = np.searchsorted(starts, np.array(positions, np.int64), side="right") - 1
    return lines


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode())
    except UnicodeDecodeError:
        return False


def _messages(raw: Sequence[bytes], *, valid: bool) -> list[bytes]:
    """The messages as UTF-8; where the block is valid, only those that begin or end in what may be white space cost."""
    if not valid:
        return [message_of(message) for message in raw]
    return [
        message
        if not message or (_SPACE < message[0] < _WIDE and _SPACE < message[-1] < _WIDE)
        else message_of(message)
        for message in raw
    ]


_SPACE, _WIDE = 32, 128


def message_of(raw: bytes) -> bytes:
    """The message as UTF-8, without white space at its ends."""
    return decode_line(raw).strip().encode()
