"""Lines that are read a second time, for what is around a finding."""

from __future__ import annotations

from functools import lru_cache

from plogscope.formats.parse import Piece, parse_line

_REMEMBERED_BYTES = 1024

_remembered = lru_cache(maxsize=8192)(parse_line)
"""Where many ranks write into one file, what is around one of their errors is around all of them."""


def pieces_of(raw: bytes) -> list[Piece]:
    """The pieces of a line; the caller leaves the list as it is."""
    return _remembered(raw) if len(raw) <= _REMEMBERED_BYTES else parse_line(raw)
