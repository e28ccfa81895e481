"""How an error stands among the records of its writer: what told of it, and what the writer said next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from plogscope.formats.base import Head
from plogscope.formats.parse import Piece, parse_line
from plogscope.model.record import ANNOUNCED, Finding, Sequel
from plogscope.model.source import Source
from plogscope.opening import open_log

LOGGERS = frozenset({"py-logging", "vllm", "mindie"})
"""Formats of loggers that Python code calls. What C++ libraries log can also be the last words of an interpreter."""

_BEFORE_BYTES = 32 * 1024
_AFTER_BYTES = 64 * 1024
_CHAIN = ("traceback", "exception")
_REMEMBERED_BYTES = 1024

_read_again = lru_cache(maxsize=4096)(parse_line)
"""Where many ranks write into one file, what is around one of their errors is around all of them."""
_JOINERS = ("The above exception was the direct cause", "During handling of the above exception")


def read_sequel(source: Source, finding: Finding) -> Sequel:
    """Reads the lines around a finding again, those of its own stream only.

    Args:
        source: Where it stands.
        finding: An exception, a traceback, or an error that a logger printed.
    """
    start = max(0, finding.offset - _BEFORE_BYTES)
    try:
        with open_log(source.location) as stream:
            stream.seek(start)
            before = stream.read(finding.offset - start).split(b"\n")[1 if start else 0 :]
            own, *after = stream.read(_AFTER_BYTES).split(b"\n")
    except OSError:
        return Sequel()
    last = parse_line(own)[-1]
    stream_name = last.facts.stream
    told = last.head if finding.format in LOGGERS else _told(_of_stream(reversed(before[:-1]), stream_name))
    below = _next(_of_stream(after, stream_name))
    following = below.head if below is not None and below.head is not None and below.head.format in LOGGERS else None
    text = below.text if below is not None else ""
    level = told.level if told is not None else None
    if told is not None and told.format not in LOGGERS:
        level = ANNOUNCED
    if following is None:
        return Sequel(told=level, next_text=text)
    return Sequel(
        told=level,
        same_logger=told is not None and _logger(told) == _logger(following),
        told_ns=told.time_ns if told is not None else None,
        next_level=following.level,
        next_ns=following.time_ns,
        next_text=text,
    )


def _logger(head: Head) -> tuple[str | None, ...]:
    return (head.format, head.module, head.src_file)


def _of_stream(lines: Iterable[bytes], stream: str) -> Iterator[Piece]:
    for line in lines:
        for piece in _read_again(line) if len(line) <= _REMEMBERED_BYTES else parse_line(line):
            if piece.facts.stream == stream and piece.text.strip():
                yield piece


def _told(upwards: Iterator[Piece]) -> Head | None:
    """The log record, or the announcement, right above the chain of tracebacks that ends in the finding."""
    for piece in upwards:
        head = piece.head
        if head is None:
            if not piece.indented and not piece.text.startswith(_JOINERS):
                return None
        elif head.format in LOGGERS or (head.format == "traceback" and head.level is None):
            return head
        elif head.format not in _CHAIN:
            return None
    return None


def _next(downwards: Iterator[Piece]) -> Piece | None:
    """What comes right below the chain of tracebacks."""
    for piece in downwards:
        goes_on = (
            piece.indented or piece.text.startswith(_JOINERS) if piece.head is None else piece.head.format in _CHAIN
        )
        if not goes_on:
            return piece
    return None
