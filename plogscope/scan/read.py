"""Bytes of a source as blocks of whole lines.

A line belongs to the range that holds its first byte, so ranges that partition a file partition its lines. Memory is
bounded by the block size and `MAX_LINE_BYTES`, whatever the file holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

BLOCK_BYTES = 1 << 20
MAX_LINE_BYTES = 1 << 18
"""Of a longer line only this many bytes are looked at; its length is counted in full."""


class Block(msgspec.Struct, frozen=True):
    """Whole lines. `data` ends with a newline except at the end of the file.

    `length` is the number of bytes in the file; it exceeds `len(data)` only for a block that is one cut line.
    """

    offset: int
    data: bytes
    length: int


def read_blocks(
    stream: BinaryIO, start: int = 0, stop: int | None = None, block_bytes: int = BLOCK_BYTES
) -> Iterator[Block]:
    """Yields the lines whose first byte lies in `[start, stop)`.

    Args:
        stream: A seekable binary file.
        start: First byte of the range.
        stop: End of the range (exclusive); None = end of file.
        block_bytes: How much is read at once.
    """
    offset = _first_line_start(stream, start, block_bytes)
    if offset is None or (stop is not None and offset >= stop):
        return
    carry = b""
    while chunk := stream.read(block_bytes):
        data = carry + chunk if carry else chunk
        end = data.rfind(b"\n") + 1
        if stop is not None and end >= stop - offset:
            end = data.find(b"\n", stop - offset - 1) + 1
            yield Block(offset, data[:end], end)
            return
        if end:
            yield Block(offset, data[:end], end)
            offset += end
        carry = data[end:]
        if len(carry) > MAX_LINE_BYTES:
            kept, length, carry = _skip_long_line(stream, carry, block_bytes)
            yield Block(offset, kept, length)
            offset += length
            if stop is not None and offset >= stop:
                return
    if carry:
        yield Block(offset, carry, len(carry))


def _first_line_start(stream: BinaryIO, start: int, block_bytes: int) -> int | None:
    """Position of the first line that begins at or after `start`, with the stream placed there."""
    if start <= 0:
        stream.seek(0)
        return 0
    position = start - 1
    stream.seek(position)
    while chunk := stream.read(block_bytes):
        found = chunk.find(b"\n")
        if found >= 0:
            stream.seek(position + found + 1)
            return position + found + 1
        position += len(chunk)
    return None


def _skip_long_line(stream: BinaryIO, data: bytes, block_bytes: int) -> tuple[bytes, int, bytes]:
    """Reads on to the end of a line that is too long: its kept head, its length, and what follows it."""
    kept = data[:MAX_LINE_BYTES]
    length = len(data)
    while chunk := stream.read(block_bytes):
        found = chunk.find(b"\n")
        if found >= 0:
            return kept + b"\n", length + found + 1, chunk[found + 1 :]
        length += len(chunk)
    return kept, length, b""
