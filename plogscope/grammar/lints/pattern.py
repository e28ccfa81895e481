"""Laws of the pattern: groups, flags, literals, and that it cannot be made slow."""

# ruff: noqa: D102 - the class says what its check does

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import regex

from plogscope.grammar.document import Defect
from plogscope.grammar.factors import parse
from plogscope.grammar.lints.base import Entry, Keys, Lint, named
from plogscope.grammar.literals import (
    MOST,
    SHORTEST,
    are_implied,
    inner_flags,
    inner_parts,
    repeat_of,
    required_literals,
    sample_parts,
)

_T = TypeVar("_T")
_PATTERN: Keys = ("match", "pattern")
_NO_LIMIT = 10_000
"""A repeat with a higher limit counts as one without limit."""

LONGEST = 16 * 1024
"""Characters of an adversarial text: the program cuts longer ones."""

MOST_OF_KIND = 16
"""Texts of one kind for one variant of the pattern."""

VARIANTS = 3
"""Of a pattern with alternatives."""

TIME_LIMIT_S = 0.5
"""For one adversarial text, on a machine that has nothing else to do: half of what a search is given in the scan, and
five times what the slowest shipped pattern needs, so that no clock decides whether a pattern passes."""

YARDSTICK = regex.compile(r"a[^\n]{0,200}?b")
YARDSTICK_TEXT = "a" * 4096
YARDSTICKS = 100
"""How many searches with the yardstick a pattern may take: `TIME_LIMIT_S` where one takes 5 ms. Clocks of busy machines
run ahead of the work, so a pattern that is late is measured again, against the yardstick of the same moment."""


class GroupsExtracted(Lint):
    """Named groups and `[extract]` are the same set."""

    id = "groups-extracted"
    meaning = "a group that is not extracted is lost, a field without group is never filled"

    def check(self, entry: Entry) -> Iterator[Defect]:
        groups, fields = set(entry.by_re.groupindex), set(entry.signature.extract)
        for name in sorted(groups - fields):
            yield self.defect(entry, _PATTERN, f"the group {name} is not extracted", f"add {name} to [extract]")
        for name in sorted(fields - groups):
            remedy = f"name a group (?P<{name}>...) or drop the field"
            yield self.defect(entry, ("extract", name), f"the field {name} has no group in the pattern", remedy)


class NoUnnamedGroups(Lint):
    """Every group has a name or does not capture."""

    id = "unnamed-group"
    meaning = "a value that is captured without a name cannot be used"

    def check(self, entry: Entry) -> Iterator[Defect]:
        extra = entry.by_re.groups - len(entry.by_re.groupindex)
        if extra:
            yield self.defect(
                entry, _PATTERN, f"the pattern has {extra} unnamed group(s)", "write (?:...) or name them"
            )


class NoInlineFlags(Lint):
    """A pattern means the same in every place that compiles it."""

    id = "inline-flags"
    meaning = "flags hide case folding from the gate and differ between re and regex"

    def check(self, entry: Entry) -> Iterator[Defect]:
        tree = parse(entry.signature.match.pattern, 0)
        flags = tree.state.flags & ~re.UNICODE
        if flags or any(inner_flags(item) for item in _items(tree)):
            yield self.defect(
                entry, _PATTERN, "the pattern has inline flags", "spell the variants out, as in [Ff]ailed"
            )


class NoNestedQuantifiers(Lint):
    """No repeat without limit inside another one."""

    id = "nested-quantifier"
    meaning = "such a pattern can take exponential time on a hostile line"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if _is_nested(entry.signature.match.pattern):
            remedy = "bound one of them, as in {0,64}"
            yield self.defect(entry, _PATTERN, "a repeat without limit stands inside another one", remedy)


class FastOnHostileText(Lint):
    """Texts made from the pattern's own words do not make it slow."""

    id = "slow"
    meaning = "a hostile or merely long line would hold up the scan"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if _is_nested(entry.signature.match.pattern):
            return  # said already, by its shape and not by a clock
        for text in hostile_texts(entry.signature.match.pattern):
            if _is_late(entry, text, TIME_LIMIT_S) and all(_is_late(entry, text, _limit_s()) for _ in range(3)):
                message = f"the pattern needs more than {TIME_LIMIT_S} s for {text[:24]!r}... ({len(text)} characters)"
                yield self.defect(entry, _PATTERN, message, "bound the repeats and anchor on a literal")
                return


class LiteralsImplied(Lint):
    """Literals that the file gives are in every match."""

    id = "literals-implied"
    meaning = "the gate would hide matches"

    def check(self, entry: Entry) -> Iterator[Defect]:
        literals = entry.signature.match.literals
        if literals and not are_implied(entry.signature.match.pattern, literals):
            message = "the pattern can match without any of the literals"
            yield self.defect(entry, ("match", "literals"), message, "drop the key: literals are derived")


class GateWorks(Lint):
    """A literal of some length is in every match."""

    id = "no-literal"
    meaning = "without one, every line of every log would be searched with this pattern"

    def check(self, entry: Entry) -> Iterator[Defect]:
        literals = entry.signature.match.literals or required_literals(entry.signature.match.pattern)
        short = named(repr(literal) for literal in literals if len(literal.encode()) < SHORTEST)
        if literals and not short:
            return
        message = f"the literals {short} are too short" if literals else "no literal is in every match"
        remedy = f"put a fixed text of at least {SHORTEST} characters into every alternative (at most {MOST} of them)"
        yield self.defect(entry, _PATTERN, message, remedy)


def hostile_texts(pattern: str) -> list[str]:
    """Texts of 16 KB that make a backtracking pattern slow: what it nearly matches, repeated, cut short, stuffed."""
    texts: dict[str, None] = {}
    for variant in range(VARIANTS):
        parts = sample_parts(pattern, variant) or ["a"]
        begun = ["".join(parts[:count]) for count in range(len(parts) + 1)]
        stuffed = list(zip(begun, parts, strict=False)) + [(parts[0], filler) for filler in (" ", "a ", "0,", "a=0, ")]
        for start, filler in _spread(stuffed):
            texts[(start + filler * LONGEST)[:LONGEST]] = None
        for start in _spread(begun[1:]):
            texts[(start * (LONGEST // len(start) + 1))[:LONGEST]] = None
        for filler in ("a", "0", " ", "0.", "a "):
            texts[(filler * LONGEST)[: max(0, LONGEST - len(begun[-1]))] + begun[-1]] = None
    return list(texts)


def _spread(items: list[_T]) -> list[_T]:
    """At most `MOST_OF_KIND` of the items, evenly chosen."""
    step = max(1, len(items) / MOST_OF_KIND)
    return [items[int(index * step)] for index in range(int(len(items) / step))]


def _limit_s() -> float:
    """What the limit is worth on this machine at this moment, never less than the limit."""
    before = time.perf_counter()
    YARDSTICK.search(YARDSTICK_TEXT)
    return max(TIME_LIMIT_S, YARDSTICKS * (time.perf_counter() - before))


def _is_late(entry: Entry, text: str, limit_s: float) -> bool:
    try:
        for _ in entry.by_regex.finditer(text, timeout=limit_s):
            pass
    except TimeoutError:
        return True
    return False


def _is_nested(pattern: str) -> bool:
    """Whether a repeat without limit stands inside another one."""
    return any(
        _unlimited(item) and any(_unlimited(inner) for part in inner_parts(item) for inner in _items(part))
        for item in _items(parse(pattern))
    )


def _items(tree: Iterable[Any]) -> Iterator[Any]:
    for item in tree:
        yield item
        for part in inner_parts(item):
            yield from _items(part)


def _unlimited(item: Any) -> bool:
    limits = repeat_of(item)
    return limits is not None and limits[1] > _NO_LIMIT
