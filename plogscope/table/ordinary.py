"""The short way for the lines that make up nearly all of a bundle: whole plog records of one line.

Precondition: what is accepted here, `parse_line` reads as one record with the same fields. The pattern is narrower than
that of the format, a line with a mark (colour, NUL, carriage return, anything that may begin a second record) is left
alone, and the first line of every head is read the exact way. `tests/table` holds both ways against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import ahocorasick_rs

from plogscope.formats.stamps import local_ns
from plogscope.scan.parse import MAX_PEELED_CHARS

_RECORD = re.compile(
    rb"^(\[(?:DEBUG|INFO|WARNING|ERROR|EVENT)\] [A-Z][A-Za-z0-9_]{0,31}\(\d{1,10}(?:,[^()\n\[\]:]{0,64})?\):)"
    rb"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)\.(\d{3})\.(\d{3}) (\[[^\[\]:\n]{1,300}\.[A-Za-z]{1,4}:\d{1,7}\]) ?"
    rb"(?:\[(\d{1,10})\](?!\[\d)|(\d{1,10}) (?:([A-Za-z_~][\w:~<>]{0,200}):)?)([^\n]*)$",
    re.MULTILINE,
)
"""Groups: head up to the time, second, ms, us, `[file:line]`, tid in brackets, bare tid, function, message."""

_MARKS = (
    "\r", "\x1b", "\0", "^[", "^M", " pid=", "ERROR ", "INFO ", "WARNING ", "Fatal Python error: ", "terminate called ",
    "last):", "it/s", "s/it", "B/s", "9999: In",
)  # fmt: skip
_SECOND_HEAD = re.compile(
    rb"\[(?<!\n\[)(?:(?:DEBUG|INFO|WARNING|ERROR|EVENT|TRACE|NULL|OPLOG|\d{1,3})\] ?"
    rb"(?:(?:[A-Z][\w\x80-\xff]{0,64}|\d{1,5})\(-?\d|\d{4}-\d\d-\d)"
    rb"|[IWEFV](?:\d{3,4} \d\d:| [\w\x80-\xff])|(?:rank|default)\d)"
)
_automaton = ahocorasick_rs.BytesAhoCorasick([mark.encode() for mark in _MARKS])
_CACHED_SECONDS = 8192

Found = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]


class Ordinary:
    """Finds such records in blocks of lines."""

    def __init__(self) -> None:
        self._times: dict[bytes, int | None] = {}

    def records(self, data: bytes) -> Iterator[tuple[re.Match[bytes], int, int]]:
        """Match, start and end (without the line end) of every record of this kind that has no mark."""
        marked = [hit[1] for hit in _automaton.find_matches_as_indexes(data)]
        marked += [found.start() for found in _SECOND_HEAD.finditer(data) if found.start()]
        marked.sort()
        marked.append(len(data) + 1)
        mark, at = marked[0], 0
        for found in _RECORD.finditer(data):
            start, end = found.span()
            while mark < start:
                at += 1
                mark = marked[at]
            if mark >= end and end - start <= MAX_PEELED_CHARS:
                yield found, start, end

    def time_ns(self, second: bytes, milli: bytes, micro: bytes) -> int | None:
        """The local time, or None if there is no such time."""
        try:
            base = self._times[second]
        except KeyError:
            if len(self._times) >= _CACHED_SECONDS:
                self._times.clear()
            base = self._times[second] = local_ns(second.decode("latin-1"))
        return None if base is None else base + int(milli + micro) * 1000


def message_of(raw: bytes) -> bytes:
    """The message as UTF-8, without white space at its ends."""
    if raw.isascii() and raw[:1] > b" " and raw[-1:] > b" ":
        return raw
    return raw.decode("utf-8", "replace").strip().encode()
