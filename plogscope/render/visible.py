"""Makes visible what log text could hide: control characters, ANSI escapes, bidirectional and invisible characters.

Log text is hostile input. A terminal obeys ESC, a browser and a code host obey bidirectional controls, and a reader
sees neither. Each such character becomes a picture (`␛`) or its code point (`⟪U+202E⟫`); nothing is dropped.
"""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_FIRST_PICTURE = 0x2400
_DELETE = 0x7F
_DELETE_PICTURE = "␡"
_LINE_BREAKS = "\n"
_TAB = "\t"

# C0 without tab and line feed, DEL, C1, soft hyphen, Arabic letter mark, zero width space, directional marks,
# line and paragraph separators, embeddings, overrides, isolates, word joiner and invisible operators,
# byte order mark, annotation marks, lone surrogates and tag characters. Joiners (U+200C, U+200D) stay: emoji and
# several scripts need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BREAKING = re.compile(r"[\n\t]")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < ord(" "):
        return chr(_FIRST_PICTURE + code)
    if code == _DELETE:
        return _DELETE_PICTURE
    return f"⟪U+{code:04X}⟫"


def visible(text: str) -> str:
    """`text` with every hidden character shown; tabs and line feeds stay."""
    return _HIDDEN.sub(_picture, text)


def one_line(text: str) -> str:
    """`text` on one line: hidden characters shown, line feeds as `␊`, tabs as spaces."""
    return _BREAKING.sub(lambda match: "␊" if match.group() == _LINE_BREAKS else "    ", visible(text))


def clip(text: str, limit: int) -> str:
    """The first `limit` characters of `text`, with `…` in place of the last one if something was cut."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + ELLIPSIS


def columns(text: str) -> int:
    """How many terminal columns `text` takes: wide characters take two, combining ones none."""
    return sum(_width(char) for char in text)


def _width(char: str) -> int:
    if char.isascii():
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def clip_columns(text: str, limit: int) -> str:
    """The start of `text` that fits `limit` terminal columns, ended by `…` if something was cut."""
    if columns(text) <= limit:
        return text
    taken = 0
    for position, char in enumerate(text):
        taken += _width(char)
        if taken > limit - 1:
            return text[:position] + ELLIPSIS
    return text


def wrap_columns(text: str, limit: int) -> list[str]:
    """`text` in lines of at most `limit` columns, broken at spaces and beside wide characters.

    A run longer than a line is cut, never lost.
    """
    lines: list[str] = []
    line, taken = "", 0
    for piece in _pieces(text, limit):
        width = columns(piece)
        if line and taken + width > limit:
            lines.append(line.rstrip())
            line, taken = "", 0
            piece = piece.lstrip()  # noqa: PLW2901 - a line never starts with the space that ended the last one
            width = columns(piece)
        line += piece
        taken += width
    if line.strip():
        lines.append(line.rstrip())
    return lines


def _pieces(text: str, limit: int) -> list[str]:
    pieces: list[str] = []
    for run in re.findall(r"\s+|[^\s\u1100-\uffdc]+|[\u1100-\uffdc]", text):
        # The cut counts two columns a character, so a piece fits whatever it holds.
        step = max(limit // 2, 1)
        pieces.extend([run] if columns(run) <= limit else [run[at : at + step] for at in range(0, len(run), step)])
    return pieces
