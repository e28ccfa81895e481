"""Tracebacks that no exception line ends that the scan knows: what was raised, or that the log breaks off within."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from plogscope.evidence.again import pieces_of
from plogscope.evidence.frames import read_frame
from plogscope.formats.encoding import decode_line
from plogscope.formats.parse import Piece
from plogscope.model.record import BELOW_ERROR, Finding
from plogscope.model.source import Bundle, Source
from plogscope.opening import open_log

SIGNATURE = "python/exception"
"""What states an exception of any name."""

EXCEPTION = "exception"
"""Format of the line that ends a traceback."""

_WINDOW_BYTES = 128 * 1024
_QUOTE_CHARS = 500
_MOST_LINES = 600
"""Lines behind which nothing is taken to belong to a traceback: its own, and those of others in the same file."""

_MOST_ASKED = 500
"""Bare tracebacks that are looked at: the first are those that can be the cause."""

_NAME = re.compile(
    r"(?P<exception>(?:[A-Za-z_]\w{0,80}\.){0,12}_{0,2}[A-Z]\w{0,120})(?:: (?P<message>[^\n]{1,400})|:?\s*$)", re.ASCII
)
_CLASS = re.compile(r"\.|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
"""What a name of a class has and a word at the start of a sentence has not: a module before it, or several humps."""


def name_raised(bundle: Bundle, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings, of which bare tracebacks became what they ended with.

    The line behind the last frame is the exception, whatever it is called. A traceback of which that line is not in the
    log stays as it is; one whose exception stands somewhere behind it, among lines of other writers, is dropped.
    """
    named = []
    asked = 0
    for finding in findings:
        bare = finding.is_bare_traceback and asked < _MOST_ASKED
        asked += bare
        one = _named(bundle.sources[finding.source], finding) if bare else finding
        if one is not None:
            named.append(one)
    return tuple(sorted(named, key=lambda one: (one.source, one.line)))


def _named(source: Source, finding: Finding) -> Finding | None:
    opened, framed = False, False
    stream = ""
    for number, offset, raw, piece, whole in _pieces(source, finding):
        if not opened:
            opened, stream = True, piece.facts.stream
        elif piece.facts.stream != stream or not piece.text.strip():
            continue
        elif piece.head is not None:
            if piece.head.format == EXCEPTION and piece.head.level not in BELOW_ERROR:
                return None
        elif piece.indented:
            framed = framed or read_frame(piece.text) is not None
        elif framed:
            found = _NAME.match(piece.text)
            if found is not None and not whole and found["message"] is None:
                return finding  # even the name may be cut
            if found is not None and _CLASS.search(found["exception"]):
                fields = {name: value for name, value in found.groupdict().items() if value is not None}
                return msgspec.structs.replace(
                    finding, signature=SIGNATURE, fields=fields, line=finding.record_line + number, offset=offset,
                    record_end_line=max(finding.record_end_line, finding.record_line + number),
                    quote=decode_line(raw, 4 * _QUOTE_CHARS).rstrip("\r")[:_QUOTE_CHARS], format=EXCEPTION, template="",
                )  # fmt: skip
            framed = False  # a sentence: only an exception that the scan knows can still follow
    return finding


def _pieces(source: Source, finding: Finding) -> Iterator[tuple[int, int, bytes, Piece, bool]]:
    """Lines from the head of the traceback on: how many below it, offset, bytes, what they are, if they have an end."""
    try:
        with open_log(source.location) as stream:
            stream.seek(finding.offset)
            lines = stream.read(_WINDOW_BYTES).split(b"\n")
    except OSError:
        return
    offset = finding.offset
    for number, raw in enumerate(lines[:_MOST_LINES]):
        for piece in pieces_of(raw):
            yield number, offset, raw, piece, number + 1 < len(lines)
        offset += len(raw) + 1
