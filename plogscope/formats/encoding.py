"""The text of one line: UTF-8, or GB18030 (which holds GBK) where the line says so.

The decision is made line by line, because one stdout holds lines of programs with different locales. It depends only on
the bytes above 127, so a line and its message are decoded alike.
"""

from __future__ import annotations

import codecs
import re

_CHINESE = re.compile(r"[\u2014\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fa5\uff01-\uff5e]")
_WIDE = re.compile(r"[^\x00-\x7f]")
_THREE_BYTES = re.compile(r"[\u0800-\ufffc]")
_LEAST_CHINESE = 2
_SHARE = 0.9


def decode_line(raw: bytes, most: int | None = None) -> str:
    """The text of a line; bytes that are no character become U+FFFD.

    Args:
        raw: The whole line: its encoding is decided by all of it.
        most: Bytes that are decoded; None = all.
    """
    part = raw if most is None else raw[:most]
    try:
        return part.decode()
    except UnicodeDecodeError:
        return part.decode("gb18030" if is_gb18030(raw) else "utf-8", "replace")


def is_gb18030(raw: bytes) -> bool:
    """True for a line that is Chinese text in GB18030, and hardly one character in UTF-8.

    A torn line in UTF-8 decodes as GB18030 now and then; it has more good characters than torn ones.
    """
    try:
        raw.decode()
    except UnicodeDecodeError:
        pass
    else:
        return False
    try:
        text = codecs.getincrementaldecoder("gb18030")().decode(raw)
    except UnicodeDecodeError:
        return False
    chinese, wide = len(_CHINESE.findall(text)), len(_WIDE.findall(text))
    if chinese < max(_LEAST_CHINESE, _SHARE * wide):
        return False
    as_utf8 = raw.decode("utf-8", "replace")
    torn, good = as_utf8.count("\ufffd"), len(_WIDE.findall(as_utf8))
    # Three bytes that fit by chance are rare, two are not.
    return torn > good - torn + 2 * len(_THREE_BYTES.findall(as_utf8))
