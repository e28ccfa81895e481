"""What stands in every text that a pattern matches, beyond one literal: most candidates of the gate fail by it.

A pattern is cut into cases, one for each way through its larger alternatives. The literals of the gate decide which
cases are asked about; of what else is in each match of a case, that is kept which is rare and cheap to look for.
A condition may be weaker than the pattern, never stronger.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import combinations
from typing import Any

from plogscope.grammar.cases import Case, cases_of
from plogscope.grammar.everyday import EVERYDAY
from plogscope.grammar.factors import Factor
from plogscope.model.signature import Condition

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
"""More characters than this rule nothing out."""

MOST_APART = 160
"""Characters: what is farther apart is as good as anywhere."""

_LINES = EVERYDAY.strip().splitlines()


@lru_cache(maxsize=4096)
def conditions(pattern: str, literals: tuple[str, ...]) -> tuple[Condition, ...]:
    """The conditions of which every text that `pattern` matches keeps one.

    Args:
        pattern: A pattern that compiles.
        literals: Of these one is in every match.

    Raises:
        re.error: The pattern does not compile.
    """
    kept: list[Condition] = []
    for condition in dict.fromkeys(_condition(case, literals) for case in cases_of(pattern, _worth)):
        if not any(_covers(other, condition) for other in kept):
            kept = [*(other for other in kept if not _covers(condition, other)), condition]
    return tuple(kept)


def _covers(wide: Condition, narrow: Condition) -> bool:
    """True when a text that keeps `narrow` keeps `wide`."""
    return (
        set(wide.trigger) >= set(narrow.trigger)
        and (not wide.at_start or narrow.at_start)
        and (not wide.starts or (bool(narrow.starts) and set(wide.starts) >= set(narrow.starts)))
        and (not wide.near or (wide.near == narrow.near and wide.within == narrow.within))
        and all(any(_share_implied(known, words) == 1 for known in narrow.words) for words in wide.words)
    )


def _condition(case: Case, literals: tuple[str, ...]) -> Condition:
    trigger = _trigger(case, literals)
    kept: list[Factor] = []
    for factor in sorted(filter(_pays, case.factors), key=_worth):
        known = max((_share_implied(words, factor) for words in (trigger, *kept)), default=0)
        if len(kept) < MOST_FACTORS and known < MOST_KNOWN:
            kept.append(factor)
    near, within = _near(case)
    return Condition(
        trigger=trigger,
        words=tuple(tuple(sorted(factor)) for factor in kept),
        at_start=case.starts is not None,
        starts="".join(sorted(case.starts)) if case.starts is not None and len(case.starts) <= MOST_STARTS else "",
        near=near,
        within=within,
    )


def _near(case: Case) -> tuple[tuple[tuple[str, ...], ...], tuple[int, int]]:
    """The two factors close to each other that are the least likely to be so by chance; and how close."""
    places = [place for place, factor in enumerate(case.factors) if _is_affordable(factor)]
    close = [pair for pair in combinations(places, 2) if case.reach(*pair) <= MOST_APART]
    if not close:
        return (), (0, 0)

    def chance(pair: tuple[int, int]) -> tuple[float, int, tuple[int, int]]:
        left, right = (case.factors[place] for place in pair)
        return (_share_of_lines(left) * _share_of_lines(right), case.reach(*pair), pair)

    best = min(close, key=chance)
    # What begins and what ends a repeat may be the same text, and of the first run only a part may be looked for.
    within = (case.widths[best[0]], case.reach(*best))
    return tuple(tuple(sorted(case.factors[place])) for place in best), within


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
    return _is_affordable(factor) and _share_of_lines(factor) <= MOST_LINES


def _is_affordable(factor: Factor) -> bool:
    return len(factor) <= MOST_WORDS and min(map(len, factor)) >= SHORTEST_WORD


def _share_of_lines(factor: Factor) -> float:
    return sum(any(word in line for word in factor) for line in _LINES) / len(_LINES)


def _worth(factor: Factor) -> tuple[Any, ...]:
    """The lowest is what fails first at least cost: rare, few and long; then a fixed order."""
    return (_share_of_lines(factor), len(factor), -min(map(len, factor)), sorted(factor))
