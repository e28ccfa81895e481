"""How an error stands among the records of its writer: what told of it, and what the writer said next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from plogscope.evidence.again import pieces_of
from plogscope.evidence.frames import read_frame
from plogscope.formats.base import Head
from plogscope.formats.parse import Piece, parse_line
from plogscope.model.record import ANNOUNCED, BELOW_ERROR, Finding, Sequel
from plogscope.model.source import Source
from plogscope.opening import open_log

LOGGERS = frozenset({"py-logging", "vllm", "mindie"})
"""Formats of loggers that Python code calls. What C++ libraries log can also be the last words of an interpreter."""

_BEFORE_BYTES = 32 * 1024
_AFTER_BYTES = 64 * 1024
ENTRIES = frozenset(
    {"<module>", "main", "run", "worker", "_worker_loop", "_process_worker", "_wrap", "_bootstrap", "_bootstrap_inner",
     "_run_code", "_run_module_as_main"}
)  # fmt: skip
"""Where programs, threads and workers begin."""

_CHAIN = ("traceback", "exception")
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
    pieces = parse_line(own)
    last = pieces[-1]
    stream_name = last.facts.stream
    inside = pieces[-2::-1] if last.inside else []
    head = pieces[0].head if last.inside else last.head

    def upwards() -> Iterator[Piece]:
        return chain(inside, _of_stream(reversed(before[:-1]), stream_name, step=-1))

    told = head if finding.format in LOGGERS else _told(upwards())
    calmly = told is None or (told.format in LOGGERS and told.level in BELOW_ERROR)
    handled = calmly and _is_handled(upwards(), _of_stream(after, stream_name))
    below = _next(_of_stream(after, stream_name))
    following = below.head if below is not None and below.head is not None and below.head.format in LOGGERS else None
    text = below.text if below is not None else ""
    level = None if told is None else told.level if told.format in LOGGERS else ANNOUNCED
    if following is None:
        return Sequel(told=level, handled=handled, next_text=text)
    return Sequel(
        told=level,
        same_logger=told is not None and _logger(told) == _logger(following),
        told_ns=told.time_ns if told is not None else None,
        next_level=following.level,
        next_ns=following.time_ns,
        handled=handled,
        next_text=text,
    )


def _logger(head: Head) -> tuple[str | None, ...]:
    return (head.format, head.module, head.src_file)


def _of_stream(lines: Iterable[bytes], stream: str, *, step: int = 1) -> Iterator[Piece]:
    for line in lines:
        for piece in pieces_of(line)[::step]:
            if piece.facts.stream == stream and piece.text.strip():
                yield piece


def _is_handled(upwards: Iterator[Piece], downwards: Iterator[Piece]) -> bool:
    """True when a traceback begins in the middle of a package, and something follows that does not belong to it."""
    outermost = None
    for piece in upwards:
        if piece.head is not None:
            outermost = outermost if piece.head.format == "traceback" else None
            break
        if not piece.indented:
            return False
        outermost = read_frame(piece.text) or outermost
    after = next(downwards, None)
    goes_on = after is not None and not after.indented and not after.text.startswith(_JOINERS)
    return goes_on and outermost is not None and outermost.is_package and outermost.function not in ENTRIES


def _told(upwards: Iterator[Piece]) -> Head | None:
    """The log record, or the announcement, right above the chain of tracebacks that ends in the finding."""
    opened = False
    for piece in upwards:
        head = piece.head
        if head is None:
            if opened if piece.indented else not piece.text.startswith(_JOINERS):
                return None
            opened = False
        elif head.format in LOGGERS or (head.format == "traceback" and head.level is None):
            return head
        elif head.format not in _CHAIN:
            return None
        else:
            opened = head.format == "traceback"
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
