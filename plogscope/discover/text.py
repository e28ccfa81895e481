"""Text in UTF-16, UTF-32 or GB18030 (GBK) becomes a copy in UTF-8: lines keep their numbers.

A file has GB18030 as a whole, because the two or three characters of one line can be text in UTF-8 as well. Where it
does not show in the parts that are looked at, its lines are decoded one by one.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import BinaryIO

from plogscope.formats.encoding import decode_in_gb18030, has_gb18030

GB18030 = "gb18030"
GB18030_TO_BYTES = 1 << 28
"""A larger file is not copied: hardly any of its lines is so short that it could be text in UTF-8."""

ASKED_BYTES = 1 << 18
"""Of the beginning and of the end of a file."""

MAX_LINE_BYTES = 1 << 20

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
"""The longer mark first: the shorter one is its beginning."""

_LEAST_NULS = 0.02
_ONE_SIDE = 0.95
_CONTROLS = frozenset(range(32)) - {7, 8, 9, 10, 12, 13, 27}


def wide_encoding(sample: bytes) -> str | None:
    """The encoding of text whose characters have two or four bytes; None for everything else.

    Without a byte order mark it is one when nearly all NUL bytes stand on the same side of the pairs, line ends and
    blanks among them, and the pairs decode to text.

    Args:
        sample: The beginning of the file.
    """
    marked = next((name for mark, name in _MARKS if sample.startswith(mark)), None)
    if marked is not None:
        return marked
    pairs = sample[: len(sample) // 2 * 2]
    low, high = pairs[0::2].count(0), pairs[1::2].count(0)
    if low + high < max(2, _LEAST_NULS * len(pairs)):
        return None
    if max(low, high) < _ONE_SIDE * (low + high):
        return None
    name = "utf-16-le" if high > low else "utf-16-be"
    return name if _is_text(pairs, name) else None


def _is_text(pairs: bytes, encoding: str) -> bool:
    text = codecs.getincrementaldecoder(encoding)("replace").decode(pairs)
    odd = sum(character == "\ufffd" or ord(character) in _CONTROLS for character in text)
    return odd * 50 <= len(text) and any(character in "\n\r " for character in text)


def is_in_gb18030(stream: BinaryIO, size: int) -> bool:
    """Whether a file that is no wide text has Chinese in GB18030, by its beginning and its end.

    Args:
        stream: The file, seekable.
        size: Its bytes.
    """
    if size > GB18030_TO_BYTES:
        return False
    sample = stream.read(ASKED_BYTES)
    if size > 2 * ASKED_BYTES:
        stream.seek(size - ASKED_BYTES)
        sample += b"\n" + stream.read(ASKED_BYTES).partition(b"\n")[2]
    else:
        sample += stream.read(ASKED_BYTES)
    return has_gb18030(sample)


def as_utf8(stream: BinaryIO, encoding: str) -> Callable[[int], bytes]:
    """A `read(n)` of the same text in UTF-8, without its mark; pairs that are no character become U+FFFD.

    Returns about `n` bytes at a time and an empty value at the end.
    """
    return _lines_as_utf8(stream) if encoding == GB18030 else _wide_as_utf8(stream, encoding)


def _lines_as_utf8(stream: BinaryIO) -> Callable[[int], bytes]:
    def read(size: int) -> bytes:
        data = bytearray()
        while len(data) < size and (line := stream.readline(MAX_LINE_BYTES)):
            text = line.removesuffix(b"\n")
            data += decode_in_gb18030(text).encode("utf-8", "replace") + line[len(text) :]
        return bytes(data)

    return read


def _wide_as_utf8(stream: BinaryIO, encoding: str) -> Callable[[int], bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    first = True
    done = False

    def read(size: int) -> bytes:
        nonlocal first, done
        while not done:
            data = stream.read(max(size // 4 * 4, 4))
            done = not data
            text = decoder.decode(data, final=done)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            if text:
                return text.encode("utf-8", "replace")
        return b""

    return read
