"""Outputs that stop within a line: whoever wrote them was cut off, or the copy was."""

from __future__ import annotations

import re
from collections.abc import Iterable

from plogscope.formats.encoding import decode_line
from plogscope.model.source import Source
from plogscope.opening import open_log

_TAIL_BYTES = 64 * 1024
_COMPARED = 200
"""Lines above the last one that show what a whole line looks like."""

_TELLING = 16
"""Characters of a torn line below which it could be anything."""

_CHANGING = re.compile(r"[\d.,]+")


def first_broken(sources: Iterable[Source]) -> str | None:
    """Path of the first output of the job whose last line is only the beginning of a line such as those above it."""
    return next((one.path for one in sources if one.kind == "stdout" and breaks_off(one)), None)


def breaks_off(source: Source) -> bool:
    """True when the last line has no end and is the beginning of what earlier lines say at greater length."""
    try:
        with open_log(source.location) as stream:
            start = max(0, source.size - _TAIL_BYTES)
            stream.seek(start)
            lines = stream.read(_TAIL_BYTES).split(b"\n")
    except OSError:
        return False
    torn = _shape(lines[-1])
    if len(torn) < _TELLING:
        return False
    longer = (_shape(line) for line in lines[-1 - _COMPARED : -1])
    return any(len(shape) > len(torn) and shape.startswith(torn) for shape in longer)


def _shape(line: bytes) -> str:
    """The line with its numbers made equal; what a number at its end would have become is left open."""
    return _CHANGING.sub("#", decode_line(line, 4096).rstrip("\r")).rstrip("#")
