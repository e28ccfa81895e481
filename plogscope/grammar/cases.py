"""The ways through a pattern: for each the texts that are in every match, in their order, and how far apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

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

MOST_CASES = 32
"""Of one pattern; alternatives beyond are united, each with one factor."""

MOST_STRINGS = 16
"""Of a run of characters."""

FAR = 1 << 20
"""Characters; what may be farther apart is anywhere."""


class Case(msgspec.Struct, frozen=True):
    """One way through a pattern.

    Attributes:
        factors: Of each of them one string is in the match. Neighbours may be parts of the same text.
        widths: For each factor the most characters of the run that holds it.
        gaps: The most characters before, between and behind the runs.
        starts: How a line begins that matches so; None = anyhow.
    """

    factors: tuple[Factor, ...] = ()
    widths: tuple[int, ...] = ()
    gaps: tuple[int, ...] = (0,)
    starts: Chars | None = None

    def reach(self, first: int, last: int) -> int:
        """The most characters from the first of a run to the last of another one."""
        return sum(self.widths[first : last + 1]) + sum(self.gaps[first + 1 : last + 1])

    @property
    def width(self) -> int:
        """The most characters of a match."""
        return min(FAR, sum(self.widths) + sum(self.gaps))

    def then(self, other: Case, *, at_start: bool = False) -> Case:
        """This, and the other behind it; `at_start` if nothing is before the other in a line."""
        return Case(
            (*self.factors, *other.factors),
            (*self.widths, *other.widths),
            (*self.gaps[:-1], min(FAR, self.gaps[-1] + other.gaps[0]), *other.gaps[1:]),
            other.starts if at_start and self.starts is None else self.starts,
        )


Best = Callable[[Factor], Any]
"""The key by which the best of several factors is the least."""

_Found = tuple[Factor | None, tuple[Case, ...]]
"""All strings that a part of a pattern can be, None if they are too many; and its cases."""


def cases_of(pattern: str, best: Best) -> tuple[Case, ...]:
    """The cases of which every match of a pattern is one.

    Raises:
        re.error: The pattern does not compile.
    """
    tree = parse(pattern)
    return _Walk(best).sequence(list(tree), ANYTHING, fold=folds(tree))[1]


class _Walk:
    """A walk over a parse tree."""

    def __init__(self, best: Best) -> None:
        self._best = best

    def sequence(self, items: list[Any], follow: Chars, *, fold: bool) -> _Found:
        """Strings and cases of a sequence; `follow` are the first characters of what stands behind it."""
        cases: tuple[Case, ...] = (Case(),)
        run, whole, at_start = NOTHING, True, True
        for index, item in enumerate(items):
            behind = firsts(items[index + 1 :], follow, fold=fold)
            if is_line_start(item) and at_start:
                cases = _each(cases, (Case(starts=behind),), at_start=True)
                whole = False
                continue
            for exact, inner in self._parts(item, behind, fold=fold):
                if exact is not None and len(run) * len(exact) <= MOST_STRINGS:
                    run = joined(run, exact)
                    continue
                whole = False
                cases = _each(cases, (_of_run(run),))
                run = NOTHING if exact is None else exact
                if exact is None:
                    inner = inner if len(cases) * len(inner) <= MOST_CASES else self._weakened(inner)  # noqa: PLW2901
                    cases = _each(cases, inner, at_start=at_start)
            at_start = at_start and item[0] in ZERO_WIDTH
        return (run if whole else None), _each(cases, (_of_run(run),))

    def _parts(self, item: Any, follow: Chars, *, fold: bool) -> Iterator[_Found]:
        """What an item can be; a repeat that is open at its end is its beginning, a cut, and its end (or the same)."""
        kind, argument = item
        if kind not in REPEATS:
            yield self._item(kind, argument, follow, fold=fold)
            return
        least, most, inner = argument
        exact, cases = self.sequence(list(inner), ANYTHING, fold=fold)
        width = max(case.width for case in cases) if exact is None else max(map(len, exact))
        others = (_gap(width * (int(most) - least)),)
        times = None if exact is None else _times(exact, least)
        if least == 0:
            yield (united([exact, NOTHING], MOST_STRINGS) if most == 1 else None), others
        elif times is None:
            around = (_gap(width * (int(most) - 1)),)
            yield None, _each(_each(around, cases, at_start=True), around)
        else:
            yield times, ()
            if most != least:
                yield None, others
                yield times, ()

    def _item(self, kind: Any, argument: Any, follow: Chars, *, fold: bool) -> _Found:
        if kind is op.SUBPATTERN:
            return self.sequence(list(argument[3]), follow, fold=inner_fold(argument, fold=fold))
        if kind is ATOMIC:
            return self.sequence(list(argument), follow, fold=fold)
        if kind is op.BRANCH:
            ways = [self.sequence(list(branch), follow, fold=fold) for branch in argument[1]]
            return united([exact for exact, _ in ways], MOST_STRINGS), self._either([cases for _, cases in ways])
        return simple_strings(kind, argument, fold=fold), (_gap(1 if kind in _CHARACTERS else FAR),)

    def _either(self, ways: list[tuple[Case, ...]]) -> tuple[Case, ...]:
        """Cases of alternatives; those that are one factor and no more are one case."""
        cases = [case for way in ways for case in way]
        single = [case for case in cases if len(case.factors) == 1 and case.starts is None]
        if len(single) > 1:
            factor = shortest(frozenset(text for case in single for text in case.factors[0]))
            before, behind = (max(case.gaps[side] for case in single) for side in (0, 1))
            union = Case((factor,), (max(case.widths[0] for case in single),), (before, behind))
            cases = [*(case for case in cases if case not in single), union]
        return tuple(cases) if len(cases) <= MOST_CASES else self._weakened(cases)

    def _weakened(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """One case for many: the best factor of each, united."""
        cases = list(cases)
        union = united([min(case.factors, key=self._best, default=None) for case in cases], MOST_CASES * MOST_STRINGS)
        width = max(case.width for case in cases)
        return (_gap(width) if union is None else Case((shortest(union),), (width,), (width, width)),)


_CHARACTERS = (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)


def _gap(width: int) -> Case:
    return Case(gaps=(min(FAR, width),))


def _of_run(run: Factor) -> Case:
    width = max(map(len, run))
    return _gap(width) if "" in run else Case((shortest(run),), (width,), (0, 0))


def _times(exact: Factor, count: int) -> Factor | None:
    run = NOTHING
    for _ in range(count):
        run = joined(run, exact)
        if len(run) > MOST_STRINGS or max(map(len, run)) > _LONGEST:
            return None
    return run


_LONGEST = 256


def _each(cases: Iterable[Case], others: tuple[Case, ...], *, at_start: bool = False) -> tuple[Case, ...]:
    """Each case with each of the others behind it."""
    return tuple(left.then(right, at_start=at_start) for left in cases for right in others)
