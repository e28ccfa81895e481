"""Reading the small files of a run directory, and looking for a few words in big ones, both capped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plogscope.model.source import Source
from plogscope.opening import open_log

SMALL_BYTES = 256 * 1024
SCAN_BYTES = 64 * 1024 * 1024
"""A log is searched up to here from its start; what a step proves about itself is printed early."""

_BLOCK = 1024 * 1024
_OVERLAP = 4096


def lines_of(source: Source | None, limit: int = SMALL_BYTES) -> list[str]:
    """Lines of a small text file without line ends; empty if it is missing or cannot be read.

    Args:
        source: The file, or None.
        limit: Bytes read from its start.
    """
    if source is None:
        return []
    try:
        with open_log(source.location) as stream:
            data = stream.read(limit)
    except OSError:
        return []
    lines = _decode(data).split("\n")
    return [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def text_of(source: Source | None, limit: int = SMALL_BYTES) -> str:
    """The text of a small file; "" if it is missing or cannot be read."""
    return "\n".join(lines_of(source, limit))


def _decode(data: bytes) -> str:
    """UTF-8 with replacement; a byte order mark of UTF-16 (files edited on Windows) is respected."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace").replace("\0", "")


def blocks_of(source: Source, limit: int = SCAN_BYTES) -> Iterator[tuple[int, bytes]]:
    """Blocks of a file as (byte offset, bytes); they overlap by 4 KB, so that a short match on a border is seen.

    A file that cannot be read ends silently: what is not there cannot prove anything.
    """
    try:
        with open_log(source.location) as stream:
            tail = b""
            read = 0
            while read < limit and (block := stream.read(_BLOCK)):
                yield read - len(tail), tail + block
                read += len(block)
                tail = block[-_OVERLAP:]
    except OSError:
        return


def holds(source: Source | None, pattern: re.Pattern[bytes]) -> bool:
    """True if the pattern (of bytes, shorter than 4 KB) occurs in the first 64 MB of the file."""
    return source is not None and any(pattern.search(block) for _, block in blocks_of(source))


def line_of(source: Source, pattern: re.Pattern[bytes]) -> int:
    """Line (1-based) of the first match in the first 64 MB of a file; 0 if there is none."""
    before = 0
    for _, block in blocks_of(source):
        found = pattern.search(block)
        if found:
            return before + block.count(b"\n", 0, found.start()) + 1
        # The tail of this block is read again as the head of the next one.
        before += block.count(b"\n") - block.count(b"\n", max(0, len(block) - _OVERLAP))
    return 0
