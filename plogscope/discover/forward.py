"""The bytes behind a compression, read once from front to end: bounded, and as far as the damage."""

from __future__ import annotations

import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO

from plogscope.discover.scratch import CHUNK_BYTES, Limits, Stop

HEADER_BYTES = 1 << 20
"""A name or a table of attributes in a tar header that is longer is an attack on the memory."""

STEP_BYTES = 1 << 14
"""What stands this near before damage is lost with it."""

XZ_MEMORY_BYTES = 256 << 20
DAMAGE = (
    tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, struct.error, ValueError, OverflowError,
    IndexError, KeyError, RecursionError, NotImplementedError, RuntimeError,
)  # fmt: skip
"""What the readers of the standard library raise for broken archives."""


class Forward:
    """A stream that is only read on: skipping is reading, and all that comes is counted."""

    def __init__(self, stream: BinaryIO, packed_bytes: int, limits: Limits) -> None:
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)
        self._position = 0
        self._came = 0
        self._held = b""
        ratio = max(limits.ratio_from_bytes, limits.ratio * packed_bytes)
        self._most = min(limits.passed_bytes, ratio)

    def tell(self) -> int:
        """Bytes that were read so far."""
        return self._position

    def peek(self, size: int) -> bytes:
        """The next bytes, which stay to be read."""
        self._held += self._take(size - len(self._held))
        return self._held

    def read(self, size: int) -> bytes:
        """As many bytes as there are, at most `size`.

        Raises:
            Stop: More came than a log would be.
            ReadError: More is wanted at once than a header needs.
        """
        if not 0 <= size <= HEADER_BYTES:
            raise tarfile.ReadError("a header that is too long")
        data, self._held = self._held[:size], self._held[size:]
        try:
            data += self._take(size - len(data))
        except (OSError, *DAMAGE):
            if not data:
                raise  # else what was held comes first, and the reader raises again
        self._position += len(data)
        return data

    def seek(self, position: int) -> None:
        """Reads on to `position`."""
        if position < self._position:
            raise tarfile.ReadError("a member before its header")
        while self._position < position and self.read(min(CHUNK_BYTES, position - self._position)):
            pass

    def _take(self, size: int) -> bytes:
        """What comes next; damage is raised only when all before it was given."""
        parts: list[bytes] = []
        while size > 0:
            try:
                part = self._read(min(size, STEP_BYTES))
            except (OSError, *DAMAGE):  # gzip's own error is an OSError
                if parts:
                    break  # the reader raises again
                raise
            if not part:
                break
            parts.append(part)
            size -= len(part)
            self._came += len(part)
            if self._came > self._most:
                raise Stop("it unpacks to more than a log would")
        return b"".join(parts)


class Xz(io.RawIOBase):
    """xz with a bound of its memory, which `lzma.open` does not have."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._one = self._decompressor()
        self._fresh = True

    @staticmethod
    def _decompressor() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES)

    def read(self, size: int = -1) -> bytes:
        """At least one byte unless the end is reached."""
        while True:
            given = b""
            if self._one.eof:
                given, self._one, self._fresh = self._one.unused_data.lstrip(b"\0"), self._decompressor(), True
            if self._one.needs_input and not given:
                given = self._stream.read(1 << 16)
                if not given:
                    if self._fresh:
                        return b""
                    raise EOFError("the end is missing")
            self._fresh = False
            if data := self._one.decompress(given, size):
                return data
