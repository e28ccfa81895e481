"""The literals of which one stands in every text that a pattern matches: what makes the gate possible.

A pattern is walked as the parse tree of the standard library. A sequence is cut into runs of which all strings can be
listed (a *factor*: one of its strings is in every match); the best factor wins. Alternatives are united.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from plogscope.grammar.everyday import EVERYDAY
from plogscope.grammar.factors import (
    ATOMIC,
    NOTHING,
    REPEATS,
    ZERO_WIDTH,
    Factor,
    inner_fold,
    joined,
    op,
    parse,
    shortest,
    simple_strings,
    united,
)

MOST = 64
"""More literals than this make no factor."""

RUNS = (256, 64, 16, 4, 1)
"""How many strings a run may have before it is cut: long runs with many variants make unions of alternatives too large,
short ones make literals short; all are tried."""

LONG = 12
"""A literal of this length is as good as a longer one."""

SHORTEST = 4
"""Bytes. A factor with a shorter literal lets too many lines through the gate; the lint refuses such a pattern."""

Score = Callable[[Factor], tuple[int, ...]]
Found = tuple[Factor | None, Factor | None]
"""All strings that a part of a pattern can be, None if they are too many; and its best factor, None if it has none."""

_OF_CATEGORY = {op.CATEGORY_DIGIT: "0", op.CATEGORY_WORD: "a", op.CATEGORY_SPACE: " ", op.CATEGORY_NOT_SPACE: "a"}


@lru_cache(maxsize=4096)
def required_literals(pattern: str) -> tuple[str, ...]:
    """Literals of which at least one is in every text that `pattern` matches, sorted; empty if none can be derived.

    Raises:
        re.error: The pattern does not compile.
    """
    return tuple(sorted(_best_factor(pattern, _rare_and_long)))


def are_implied(pattern: str, literals: Iterable[str]) -> bool:
    """True when every match of `pattern` contains one of `literals`.

    Raises:
        re.error: The pattern does not compile.
    """
    wanted = tuple(literals)

    def fewest_without(factor: Factor) -> tuple[int, ...]:
        return (-sum(not any(word in text for word in wanted) for text in factor),)

    best = _best_factor(pattern, fewest_without)
    return bool(best) and fewest_without(best)[0] == 0


def sample_parts(pattern: str, variant: int = 0) -> list[str]:
    """A text that the pattern (nearly) matches, in parts, one for each run of plain characters, class and repeat.

    Args:
        pattern: A pattern that compiles.
        variant: Which of the alternatives is taken, counted round.

    Raises:
        re.error: The pattern does not compile.
    """
    parts: list[str] = [""]
    _sample(parse(pattern), variant, parts)
    return [part for part in parts if part]


def inner_parts(item: Any) -> list[Any]:
    """The sequences that stand inside one item of a parse tree."""
    kind, argument = item
    if kind is op.BRANCH:
        return list(argument[1])
    if kind is op.SUBPATTERN:
        return [argument[3]]
    if kind in REPEATS:
        return [argument[2]]
    if kind is ATOMIC:
        return [argument]
    return [argument[1]] if kind in (op.ASSERT, op.ASSERT_NOT) else []


def repeat_of(item: Any) -> tuple[int, int] | None:
    """Least and most repeats of an item; None if it is no repeat, most is huge if there is no limit."""
    return (int(item[1][0]), int(item[1][1])) if item[0] in REPEATS else None


def inner_flags(item: Any) -> int:
    """Flags that an item of a parse tree turns on or off for what stands inside it."""
    return int(item[1][1] | item[1][2]) if item[0] is op.SUBPATTERN else 0


def _rare_and_long(factor: Factor) -> tuple[int, ...]:
    """Not of the everyday kind, then long enough, then few, then as long as it can be."""
    least = min(len(text.encode("utf-8", "surrogatepass")) for text in factor)
    common = any(text in EVERYDAY for text in factor)
    return (least >= SHORTEST, not common, min(least, LONG), -len(factor), least)


def _best_factor(pattern: str, score: Score) -> Factor:
    """The best factor of the pattern, empty if there is none."""
    tree = parse(pattern)
    fold = bool(tree.state.flags & re.IGNORECASE)
    found = [_Walk(score, most).factor(tree, fold=fold) for most in RUNS]
    return max((factor for factor in found if factor), key=score, default=frozenset())


class _Walk:
    """One walk over a parse tree, with one idea of what the best factor is and how many strings a run may have."""

    def __init__(self, score: Score, most: int) -> None:
        self._score = score
        self._most = most

    def factor(self, tree: Iterable[Any], *, fold: bool) -> Factor | None:
        """The best factor of the tree."""
        return self._sequence(tree, fold=fold)[1]

    def _sequence(self, items: Iterable[Any], *, fold: bool) -> Found:
        run, factors, whole = NOTHING, list[Factor](), True
        for exact, factor in self._parts(items, fold=fold):
            if exact is not None and len(run) * len(exact) <= self._most:
                run = joined(run, exact)
                continue
            whole = False
            factors.append(run)
            run = NOTHING if exact is None else exact
            if exact is None and factor is not None:
                factors.append(factor)
        usable = [shortest(factor) for factor in [*factors, run] if "" not in factor]
        usable = [factor for factor in usable if len(factor) <= MOST]
        best = max(usable, key=lambda factor: (self._score(factor), sorted(factor)), default=None)
        return (run if whole else None), best

    def _parts(self, items: Iterable[Any], *, fold: bool) -> Iterator[Found]:
        """What each item can be; a repeat that is open at the end is its beginning, a cut, and its end."""
        for item in items:
            exact, factor = self._item(item, fold=fold)
            if exact is None and item[0] in REPEATS and item[1][0] > 0:
                least, _, inner = item[1]
                begin, _ = self._repeat(least, least, inner, fold=fold)
                if begin is not None:
                    yield from ((begin, None), (None, None), (begin, None))
                    continue
            yield exact, factor

    def _item(self, item: Any, *, fold: bool) -> Found:
        kind, argument = item
        if kind is op.BRANCH:
            return self._branch(argument[1], fold=fold)
        if kind is op.SUBPATTERN:
            return self._sequence(argument[3], fold=inner_fold(argument, fold=fold))
        if kind is ATOMIC:
            return self._sequence(argument, fold=fold)
        if kind in REPEATS:
            return self._repeat(*argument, fold=fold)
        return simple_strings(kind, argument, fold=fold), None

    def _branch(self, branches: list[Any], *, fold: bool) -> Found:
        found = [self._sequence(branch, fold=fold) for branch in branches]
        exact = united([exact for exact, _ in found], self._most)
        return exact, united([factor for _, factor in found], MOST * len(found))

    def _repeat(self, least: int, most: Any, inner: Any, *, fold: bool) -> Found:
        exact, factor = self._sequence(inner, fold=fold)
        if least == 0:
            return (united([exact, NOTHING], self._most) if most == 1 else None), None
        if least == most and exact is not None and len(exact) ** min(least, MOST) <= self._most:
            run = NOTHING
            for _ in range(min(least, MOST)):
                run = joined(run, exact)
            return (run if least <= MOST else None), (run if "" not in run else None)
        return None, factor


def _sample(items: Iterable[Any], variant: int, parts: list[str]) -> None:
    for item in items:
        kind, argument = item
        if kind is op.LITERAL:
            parts[-1] += chr(argument)
        elif kind is op.IN:
            parts += [_member(argument), ""]
        elif kind in (op.ANY, op.NOT_LITERAL):
            parts += ["b" if argument == ord("a") else "a", ""]
        elif kind not in ZERO_WIDTH:
            inner = inner_parts(item)
            parts.append("")
            if inner:
                _sample(inner[variant % len(inner)], variant, parts)
            parts.append("")


def _member(members: list[Any]) -> str:
    """A character of a class; of a negated one usually so."""
    for kind, argument in members:
        if kind is op.LITERAL:
            return chr(argument)
        if kind is op.RANGE:
            return chr(argument[0])
        if kind is op.CATEGORY and argument in _OF_CATEGORY:
            return _OF_CATEGORY[argument]
        if kind is op.NEGATE:
            excluded = {chr(value) for inner, value in members if inner is op.LITERAL}
            return next(character for character in "a0 -~" if character not in excluded)
    return "-"
