"""The fingerprint of a message that no signature knows: what stays when numbers, names and addresses go."""

from __future__ import annotations

import regex

MAX_TEMPLATE_CHARS = 200
_LOOKED_AT_CHARS = 600

_MASK = regex.compile(
    r"""(?P<path>(?<![\w/])/[\w.@%+~-]+(?:/[\w.@%+~-]+)+)
      | (?P<quoted>'[^'\n]{1,120}' | "[^"\n]{1,120}")
      | (?P<bracket>\[[^\[\]\n]{0,120}\])
      | (?P<hex>0x[0-9A-Fa-f]+)
      | (?P<id>\b(?=[0-9a-f]*\d)[0-9a-f]{8,}\b)
      | (?P<number>[+-]?\d+(?:\.\d+)*)
    """,
    regex.VERBOSE,
)
_KEPT_BRACKET = regex.compile(r"\[[A-Za-z_][A-Za-z_ ]*\]")


def mask(message: str) -> str:
    """The message with variable parts replaced by `#`, cut at `MAX_TEMPLATE_CHARS`.

    Brackets that hold only words are stage tags (`[InitGroupStage]`) and stay: they are the stable part of a message.
    """
    return _MASK.sub(_replace, message[:_LOOKED_AT_CHARS])[:MAX_TEMPLATE_CHARS].strip()


def _replace(match: regex.Match[str]) -> str:
    text = match.group()
    if match.lastgroup == "bracket":
        return text if _KEPT_BRACKET.fullmatch(text) else "[#]"
    if match.lastgroup == "path":
        return "/#/" + text.rsplit("/", 1)[-1].translate(_DIGITS)
    return "#"


_DIGITS = {ord(digit): "#" for digit in "0123456789"}
