"""What a part of a pattern can be as text: the parse tree of the standard library, and sets of strings over it."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as op
    from re import _parser as parser
else:
    import sre_constants as op
    import sre_parse as parser

__all__ = [
    "ATOMIC",
    "NOTHING",
    "REPEATS",
    "ZERO_WIDTH",
    "Factor",
    "inner_fold",
    "joined",
    "op",
    "parse",
    "shortest",
    "simple_strings",
    "united",
]

MOST_OF_CLASS = 6
"""A character class with more members than this is no set of strings."""

Factor = frozenset[str]
"""Strings of which one is in the text."""

NOTHING: Factor = frozenset([""])
ZERO_WIDTH = (op.AT, op.ASSERT, op.ASSERT_NOT)
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, getattr(op, "POSSESSIVE_REPEAT", None))
ATOMIC = getattr(op, "ATOMIC_GROUP", None)
_SURROGATES = range(0xD800, 0xE000)


def parse(pattern: str, flags: int = re.MULTILINE) -> Any:
    """The parse tree of the standard library (its form is that of `re._parser`).

    Raises:
        re.error: The pattern does not compile.
    """
    return parser.parse(pattern, flags)


def simple_strings(kind: Any, argument: Any, *, fold: bool) -> Factor | None:
    """All strings of an item that holds no other items; None if they are too many."""
    if kind in ZERO_WIDTH:
        return NOTHING
    if kind is op.LITERAL:
        return character(argument, fold=fold)
    return character_class(argument, fold=fold) if kind is op.IN else None


def inner_fold(group: Any, *, fold: bool) -> bool:
    """True when case does not matter inside a group (the argument of its item), `fold` being so around it."""
    _, on, off, _ = group
    return (fold or bool(on & re.IGNORECASE)) and not off & re.IGNORECASE


def joined(left: Factor, right: Factor) -> Factor:
    """What stands one behind the other."""
    return frozenset(first + second for first in left for second in right)


def shortest(factor: Factor) -> Factor:
    """The strings that hold no other one: a text with a longer one has a shorter one as well."""
    return frozenset(text for text in factor if not any(other in text and other != text for other in factor))


def united(parts: list[Factor | None], most: int) -> Factor | None:
    """What alternatives can be; None if that is not known of one of them, or if it is too much."""
    known = [part for part in parts if part is not None]
    union: Factor = frozenset(text for part in known for text in part)
    return union if len(known) == len(parts) and len(union) <= most else None


def character(code: int, *, fold: bool) -> Factor | None:
    """A character of a pattern; None if no literal may hold it."""
    text = chr(code)
    # A literal over a line end could be cut by the prefixes of the next line; surrogates cannot be encoded.
    if text == "\n" or code in _SURROGATES or (fold and text.lower() != text.upper()):
        return None
    return frozenset([text])


def character_class(members: list[Any], *, fold: bool) -> Factor | None:
    """A character class with few members; None for others."""
    codes: list[int] = []
    for kind, argument in members:
        if kind is op.LITERAL:
            codes.append(argument)
        elif kind is op.RANGE and argument[1] - argument[0] < MOST_OF_CLASS:
            codes += range(argument[0], argument[1] + 1)
        else:
            return None
    return united([character(code, fold=fold) for code in codes], MOST_OF_CLASS)
