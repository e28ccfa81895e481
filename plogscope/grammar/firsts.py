"""With which characters a text can begin that a part of a pattern matches."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable
from typing import Any

from plogscope.grammar.factors import ATOMIC, REPEATS, ZERO_WIDTH, inner_fold, op

Chars = frozenset[str]
"""ASCII characters. Others are always possible."""

ANYTHING: Chars = frozenset(map(chr, range(128)))
_WORD = frozenset(string.ascii_letters + string.digits + "_")
_DIGIT = frozenset(string.digits)
_SPACE = frozenset(" \t\n\r\f\v\x1c\x1d\x1e\x1f")
_CATEGORIES = {
    op.CATEGORY_DIGIT: _DIGIT,
    op.CATEGORY_NOT_DIGIT: ANYTHING - _DIGIT,
    op.CATEGORY_SPACE: _SPACE,
    op.CATEGORY_NOT_SPACE: ANYTHING - _SPACE,
    op.CATEGORY_WORD: _WORD,
    op.CATEGORY_NOT_WORD: ANYTHING - _WORD,
}


def firsts(items: Iterable[Any], follow: Chars, *, fold: bool) -> Chars:
    """First characters of a sequence, `follow` being those of what stands behind it."""
    chars = follow
    for item in reversed(list(items)):
        chars = _of_item(item, chars, fold=fold)
    return chars


def _of_item(item: Any, follow: Chars, *, fold: bool) -> Chars:
    kind, argument = item
    if kind in ZERO_WIDTH:
        return follow
    if kind is op.BRANCH:
        return frozenset().union(*(firsts(branch, follow, fold=fold) for branch in argument[1]))
    if kind is op.SUBPATTERN:
        return firsts(argument[3], follow, fold=inner_fold(argument, fold=fold))
    if kind is ATOMIC:
        return firsts(argument, follow, fold=fold)
    if kind in REPEATS:
        inner = firsts(argument[2], follow, fold=fold)
        return inner | follow if argument[0] == 0 else inner
    of = _OF_CHARACTERS.get(kind)
    return ANYTHING if of is None else of(argument, fold)


def _of_literal(code: int, fold: bool) -> Chars:  # noqa: FBT001 - called from a table
    if code > 127:  # noqa: PLR2004 - not ASCII
        return ANYTHING if fold else frozenset()
    text = chr(code)
    return frozenset([text.lower(), text.upper()] if fold else [text])


def _of_class(members: list[Any], fold: bool) -> Chars:  # noqa: FBT001 - called from a table
    chars: set[str] = set()
    negated = False
    for kind, argument in members:
        if kind is op.NEGATE:
            negated = True
        elif kind is op.LITERAL:
            chars |= _of_literal(argument, fold)
        elif kind is op.RANGE:
            for code in range(argument[0], min(argument[1], 128) + 1):
                chars |= _of_literal(code, fold)
        elif kind is op.CATEGORY and argument in _CATEGORIES:
            chars |= _CATEGORIES[argument]
        else:
            return ANYTHING
    return ANYTHING - chars if negated and not fold else ANYTHING if negated else frozenset(chars)


_OF_CHARACTERS: dict[Any, Callable[[Any, bool], Chars]] = {
    op.LITERAL: _of_literal,
    op.NOT_LITERAL: lambda code, fold: ANYTHING if fold else ANYTHING - {chr(code)},
    op.IN: _of_class,
}


def is_line_start(item: Any) -> bool:
    """True for `^` (with MULTILINE) and what else is only at the start of a line."""
    return item[0] is op.AT and item[1] in (op.AT_BEGINNING, op.AT_BEGINNING_STRING)


def folds(tree: Any) -> bool:
    """True when case does not matter in a whole pattern."""
    return bool(tree.state.flags & re.IGNORECASE)
