"""What stands in every text that a pattern matches, beyond one literal: most candidates of the gate fail by it.

A pattern is cut into *cases*, one for each way through its larger alternatives. A case is a list of factors that are
all in a match. The literals of the gate decide which cases are asked about; of the other factors those are kept that
are cheap to look for. A condition may be weaker than the pattern, never stronger.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

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
from plogscope.grammar.firsts import ANYTHING, Chars, firsts, folds, is_line_start
from plogscope.model.signature import Condition

MOST_CASES = 32
"""Of one pattern; alternatives beyond are united, each with one factor."""

MOST_STRINGS = 16
"""Of a run of characters."""

MOST_WORDS = 12
"""Of a factor: each costs some 40 ns to look for."""

MOST_FACTORS = 3
"""Of a case, beside its trigger."""

SHORTEST_WORD = 2

MOST_LINES = 0.25
"""Share of everyday lines that hold a factor: what is in more of them rules nothing out."""

MOST_KNOWN = 0.7
"""Share of the words looked for before that hold one of a factor: it would say the same again."""

MOST_STARTS = 96
_LINES = EVERYDAY.strip().splitlines()


class Case(msgspec.Struct, frozen=True):
    """One way through a pattern: its factors, and how a line begins that matches so (None = anyhow)."""

    factors: tuple[Factor, ...] = ()
    starts: Chars | None = None


_ANY_WAY: tuple[Case, ...] = (Case(),)


@lru_cache(maxsize=4096)
def conditions(pattern: str, literals: tuple[str, ...]) -> tuple[Condition, ...]:
    """The conditions of which every text that `pattern` matches keeps one.

    Args:
        pattern: A pattern that compiles.
        literals: Of these one is in every match.

    Raises:
        re.error: The pattern does not compile.
    """
    tree = parse(pattern)
    _, cases = _Walk().sequence(list(tree), ANYTHING, fold=folds(tree))
    kept: list[Condition] = []
    for condition in dict.fromkeys(_condition(case, literals) for case in cases):
        if not any(_covers(other, condition) for other in kept):
            kept = [*(other for other in kept if not _covers(condition, other)), condition]
    return tuple(kept)


def _covers(wide: Condition, narrow: Condition) -> bool:
    """True when a text that keeps `narrow` keeps `wide`."""
    return (
        set(wide.trigger) >= set(narrow.trigger)
        and (not wide.starts or (bool(narrow.starts) and set(wide.starts) >= set(narrow.starts)))
        and all(any(_share_implied(known, words) == 1 for known in narrow.words) for words in wide.words)
    )


def _condition(case: Case, literals: tuple[str, ...]) -> Condition:
    trigger = _trigger(case, literals)
    kept: list[Factor] = []
    for factor in sorted(filter(_pays, case.factors), key=_worth):
        known = max((_share_implied(words, factor) for words in (trigger, *kept)), default=0)
        if len(kept) < MOST_FACTORS and known < MOST_KNOWN:
            kept.append(factor)
    starts = "".join(sorted(case.starts)) if case.starts is not None and len(case.starts) <= MOST_STARTS else ""
    return Condition(trigger=trigger, words=tuple(tuple(sorted(factor)) for factor in kept), starts=starts)


def _trigger(case: Case, literals: tuple[str, ...]) -> tuple[str, ...]:
    """The fewest literals of which one is in each match of the case."""
    found = [literals]
    for factor in case.factors:
        held = [[literal for literal in literals if literal in text] for text in factor]
        if all(held):
            found.append(tuple(sorted({max(some, key=len) for some in held})))
    return min(found, key=len)


def _share_implied(known: Collection[str], factor: Collection[str]) -> float:
    """Of a text with one of `known`: how likely it has one of the factor for that reason. 1 = always."""
    return sum(any(word in text for word in factor) for text in known) / len(known) if known else 0


def _pays(factor: Factor) -> bool:
    """False for what costs much to look for, or is everywhere."""
    return (
        len(factor) <= MOST_WORDS and min(map(len, factor)) >= SHORTEST_WORD and _share_of_lines(factor) <= MOST_LINES
    )


def _share_of_lines(factor: Factor) -> float:
    return sum(any(word in line for word in factor) for line in _LINES) / len(_LINES)


def _worth(factor: Factor) -> tuple[Any, ...]:
    """The lowest is what fails first at least cost: rare, few and long; then a fixed order."""
    return (_share_of_lines(factor), len(factor), -min(map(len, factor)), sorted(factor))


class _Walk:
    """A walk over a parse tree: of a part all strings that it can be, None if they are too many, and its cases."""

    def sequence(self, items: list[Any], follow: Chars, *, fold: bool) -> tuple[Factor | None, tuple[Case, ...]]:
        """Strings and cases of a sequence; `follow` are the first characters of what stands behind it."""
        run, cases, whole, at_start = NOTHING, _ANY_WAY, True, True
        for index, item in enumerate(items):
            behind = firsts(items[index + 1 :], follow, fold=fold)
            if is_line_start(item) and at_start:
                cases = tuple(msgspec.structs.replace(case, starts=behind) for case in cases)
                whole = False
                continue
            for exact, inner in self._parts(item, behind, fold=fold):
                if exact is not None and len(run) * len(exact) <= MOST_STRINGS:
                    run = joined(run, exact)
                    continue
                whole = False
                cases = _with_factor(cases, run)
                run = NOTHING if exact is None else exact
                cases = _product(cases, inner, at_start=at_start) if exact is None else cases
            at_start = at_start and item[0] in ZERO_WIDTH
        return (run if whole else None), _with_factor(cases, run)

    def _parts(self, item: Any, follow: Chars, *, fold: bool) -> Iterator[tuple[Factor | None, tuple[Case, ...]]]:
        """What an item can be; a repeat that is open at its end is its beginning, a cut, and its end (or the same)."""
        kind, argument = item
        if kind in REPEATS:
            least, most, inner = argument
            exact, cases = self.sequence(list(inner), ANYTHING, fold=fold)
            if least == 0:
                yield (united([exact, NOTHING], MOST_STRINGS) if most == 1 else None), _ANY_WAY
                return
            times = None if exact is None else _times(exact, least)
            if times is None:
                yield None, cases
                return
            yield times, _ANY_WAY
            if most != least:
                yield None, _ANY_WAY
                yield times, _ANY_WAY
        else:
            yield self._item(kind, argument, follow, fold=fold)

    def _item(self, kind: Any, argument: Any, follow: Chars, *, fold: bool) -> tuple[Factor | None, tuple[Case, ...]]:
        if kind is op.SUBPATTERN:
            return self.sequence(list(argument[3]), follow, fold=inner_fold(argument, fold=fold))
        if kind is ATOMIC:
            return self.sequence(list(argument), follow, fold=fold)
        if kind is op.BRANCH:
            ways = [self.sequence(list(branch), follow, fold=fold) for branch in argument[1]]
            return united([exact for exact, _ in ways], MOST_STRINGS), _either([cases for _, cases in ways])
        return simple_strings(kind, argument, fold=fold), _ANY_WAY


def _times(exact: Factor, count: int) -> Factor | None:
    run = NOTHING
    for _ in range(count):
        run = joined(run, exact)
        if len(run) > MOST_STRINGS or max(map(len, run)) > len(EVERYDAY):
            return None
    return run


def _with_factor(cases: tuple[Case, ...], run: Factor) -> tuple[Case, ...]:
    if "" in run:
        return cases
    factor = shortest(run)
    return tuple(msgspec.structs.replace(case, factors=(*case.factors, factor)) for case in cases)


def _either(ways: list[tuple[Case, ...]]) -> tuple[Case, ...]:
    """Cases of alternatives; those that are one factor and no more are one case."""
    cases = [case for way in ways for case in way]
    single = [case for case in cases if len(case.factors) == 1 and case.starts is None]
    if len(single) > 1:
        union = Case((shortest(frozenset(text for case in single for text in case.factors[0])),))
        cases = [*(case for case in cases if case not in single), union]
    return tuple(cases) if len(cases) <= MOST_CASES else _weakened(cases)


def _weakened(cases: Iterable[Case]) -> tuple[Case, ...]:
    """One case for many: the best factor of each, united."""
    factors = [min(case.factors, key=_worth, default=None) for case in cases]
    union = united(factors, MOST_CASES * MOST_STRINGS)
    return _ANY_WAY if union is None else (Case((shortest(union),)),)


def _product(cases: tuple[Case, ...], inner: tuple[Case, ...], *, at_start: bool) -> tuple[Case, ...]:
    """Both: each case of the one with each of the other."""
    if len(cases) * len(inner) > MOST_CASES:
        inner = _weakened(inner)
    return tuple(
        Case((*left.factors, *right.factors), right.starts if at_start and left.starts is None else left.starts)
        for left in cases
        for right in inner
    )
