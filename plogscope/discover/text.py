"""Text in UTF-16 or UTF-32, as programs on Windows write it, becomes a copy in UTF-8: lines keep their numbers.

Encodings in which a line end is one byte (UTF-8, GB18030, GBK) need no copy: their lines are decoded one by one.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from typing import BinaryIO

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


def as_utf8(stream: BinaryIO, encoding: str) -> Callable[[int], bytes]:
    """A `read(n)` of the same text in UTF-8, without its mark; pairs that are no character become U+FFFD.

    Returns about `n` bytes at a time and an empty value at the end.
    """
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
