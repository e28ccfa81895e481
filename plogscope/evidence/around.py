"""The lines around a line, read again from the source: bounded, whatever lies between."""

from __future__ import annotations

from collections.abc import Iterable

from plogscope.formats.encoding import decode_line
from plogscope.formats.json_log import lines_of
from plogscope.model.source import Source
from plogscope.opening import open_log

BEFORE = 5
AFTER = 5
MAX_LINE_CHARS = 500
_WINDOW_BYTES = 64 * 1024


def lines_around(source: Source, offset: int) -> tuple[list[str], list[str]]:
    """Up to five lines before and after the line that starts at `offset`; empty when the source cannot be read now."""
    try:
        with open_log(source.location) as stream:
            start = max(0, offset - _WINDOW_BYTES)
            stream.seek(start)
            before = stream.read(offset - start).split(b"\n")
            after = stream.read(_WINDOW_BYTES).split(b"\n")[1:]
            if after and stream.read(1):
                # The window ends within a line, or at its start.
                after[-1] = after[-1] and after[-1] + "…".encode()
    except OSError:
        return [], []
    if start and before:
        before = before[1:]
    if before and before[-1] == b"":
        before = before[:-1]
    if after and after[-1] == b"":
        after = after[:-1]
    return _shown(before[-BEFORE:]), _shown(after[:AFTER])


def text_before(source: Source, offset: int, *, limit_bytes: int = _WINDOW_BYTES) -> str:
    """What stands before a line and the line itself, at most `limit_bytes`: to read a traceback back from its end.

    A structured record stands there as the lines of its text.
    """
    try:
        with open_log(source.location) as stream:
            start = max(0, offset - limit_bytes)
            stream.seek(start)
            before = stream.read(offset - start)
            line = stream.readline(_WINDOW_BYTES)
    except OSError:
        return ""
    texts = (decode_line(one) for one in (before + line).split(b"\n"))
    return "\n".join(line for text in texts for line in lines_of(text))


def text_after(source: Source, offset: int, *, limit_bytes: int = _WINDOW_BYTES) -> str:
    """The line that starts at `offset` and what follows it, at most `limit_bytes`."""
    try:
        with open_log(source.location) as stream:
            stream.seek(offset)
            return stream.read(limit_bytes).decode("utf-8", "replace")
    except OSError:
        return ""


def _shown(lines: Iterable[bytes]) -> list[str]:
    return [_cut(line) for line in lines]


def _cut(line: bytes) -> str:
    text = decode_line(line, 4 * MAX_LINE_CHARS).rstrip("\r")
    whole = len(text) <= MAX_LINE_CHARS and len(line) <= 4 * MAX_LINE_CHARS
    return text if whole else text[: MAX_LINE_CHARS - 1] + "…"


MAX_CHAIN_LINES = 400
_PREFIX_CHARS = 200


def traceback_text(source: Source, offset: int) -> str:
    """The chain of tracebacks that ends in the exception line at `offset`, as printed, prefixes included.

    It begins at the first `Traceback` head such that only frames and the two joining sentences stand between the
    blocks; without a head it is the line alone.
    """
    lines = text_before(source, offset).split("\n")
    if lines and not lines[-1]:
        lines.pop()
    lines = lines[-MAX_CHAIN_LINES:]
    heads = [number for number, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    if not heads:
        return lines[-1] if lines else ""
    start = heads[-1]
    for head in reversed(heads[:-1]):
        between = lines[start - 4 : start]
        if not any(joiner in line for line in between for joiner in JOINERS):
            break
        start = head
    return "\n".join(lines[start:])


JOINERS = (
    "The above exception was the direct cause of the following exception",
    "During handling of the above exception, another exception occurred",
)
"""Sentences of the Python interpreter between the blocks of one chain."""
