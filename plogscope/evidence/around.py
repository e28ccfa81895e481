"""The lines around a line, read again from the source: bounded, whatever lies between."""

from __future__ import annotations

from collections.abc import Iterable

from plogscope.model.source import Source

BEFORE = 5
AFTER = 5
MAX_LINE_CHARS = 500
_WINDOW_BYTES = 64 * 1024


def lines_around(source: Source, offset: int) -> tuple[list[str], list[str]]:
    """Up to five lines before and after the line that starts at `offset`; empty when the source cannot be read now."""
    try:
        with open(source.location, "rb") as stream:
            start = max(0, offset - _WINDOW_BYTES)
            stream.seek(start)
            before = stream.read(offset - start).split(b"\n")
            after = stream.read(_WINDOW_BYTES).split(b"\n")[1:]
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
    """What stands before a line and the line itself, at most `limit_bytes`: to read a traceback back from its end."""
    try:
        with open(source.location, "rb") as stream:
            start = max(0, offset - limit_bytes)
            stream.seek(start)
            before = stream.read(offset - start)
            line = stream.readline(_WINDOW_BYTES)
    except OSError:
        return ""
    return (before + line).decode("utf-8", "replace")


def _shown(lines: Iterable[bytes]) -> list[str]:
    texts = (line[: 4 * MAX_LINE_CHARS].decode("utf-8", "replace").rstrip("\r") for line in lines)
    return [text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…" for text in texts]
