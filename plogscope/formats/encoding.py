"""The text of one line: UTF-8, or GB18030 (which holds GBK) where the line says so.

The decision is made line by line, because one stdout holds lines of programs with different locales. It depends only on
the bytes above 127, so a line and its message are decoded alike. A short line can be text in both: `has_gb18030` asks
a whole file, and `decode_in_gb18030` reads the lines of one that has.
"""

from __future__ import annotations

import codecs
import re

_WIDE = re.compile(r"[^\x00-\x7f]")
_THREE_BYTES = re.compile(r"[\u0800-\ufffc]")
_LEAST_CHINESE = 2
_SHARE = 0.8
_PUNCTUATION, _EVERYDAY = range(0xA1, 0xA4), range(0xB0, 0xD8)
"""First bytes of GB2312: marks and wide letters, and the 3,755 characters in use. Read as if it was GB18030, Chinese in
UTF-8 is full of the others."""

_ASKED_BYTES = 1 << 16


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
    if _is_utf8(raw):
        return False
    try:
        text = codecs.getincrementaldecoder("gb18030")().decode(raw)
    except UnicodeDecodeError:
        return False
    return _is_chinese(text) and _torn_beyond(raw) > 0


def has_gb18030(sample: bytes) -> bool:
    """True for a file of which the lines that are no UTF-8 are, taken together, Chinese in GB18030.

    Args:
        sample: Parts of the file, whole lines but for the last one.
    """
    if _is_utf8(sample):
        return False
    lines, size = [], 0
    for line in sample.split(b"\n"):
        if size < _ASKED_BYTES and not _is_utf8(line):
            lines.append(line)
            size += len(line)
    text = "\n".join(codecs.getincrementaldecoder("gb18030")("replace").decode(line) for line in lines)
    return _is_chinese(text) and _torn_beyond(b"\n".join(lines)) > 0


def decode_in_gb18030(raw: bytes) -> str:
    """The text of a line of a file that has GB18030: UTF-8 only if nothing but that can be meant."""
    if not _is_utf8(raw):
        return raw.decode("gb18030" if _torn_beyond(raw) >= 0 else "utf-8", "replace")
    text = raw.decode()
    if raw.isascii() or _THREE_BYTES.search(text):
        return text
    chinese = raw.decode("gb18030", "replace")
    return chinese if _is_chinese(chinese, least=1) else text


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_chinese(text: str, least: int = _LEAST_CHINESE) -> bool:
    wide = _WIDE.findall(text)
    lead = [character.encode("gb2312", "ignore")[:1] for character in wide]
    everyday = sum(bool(byte) and (byte[0] in _EVERYDAY or byte[0] in _PUNCTUATION) for byte in lead)
    return everyday >= max(least, _SHARE * len(wide))


def _torn_beyond(raw: bytes) -> int:
    """How many more characters are torn, read as UTF-8, than whole. Three bytes that fit by chance are rare."""
    text = raw.decode("utf-8", "replace")
    return text.count("\ufffd") - len(_THREE_BYTES.findall(text))
