"""Signatures searched in the text of one record: gated, capped, guarded against slow patterns, overlaps resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice

import msgspec
import regex

from plogscope.grammar.gate import Gate
from plogscope.model.signature import Grammar

HEAD = 12 * 1024
TAIL = 4 * 1024
"""Of a longer text only the first `HEAD` and the last `TAIL` characters are searched."""

MOST_OF_ONE = 32
"""Matches of one signature in one record."""

QUIET_LEVELS = ("INFO", "DEBUG", "EVENT", "WARNING")
"""Plog records of these levels are only searched for signatures that speak of them (`Gate.in_quiet`)."""

TIMEOUT_S = 1.0
"""For one pattern on one record; a shipped pattern needs at most a tenth of it for the most hostile text."""

SHORT = 512
"""Characters of a text that `re` searches: it needs half the time of `regex`, but nothing stops it."""

MOST_ANSWERS = 4096
"""Sets of candidates of which it is remembered whether they are wanted."""

_SEPARATORS = re.compile(r"[\x1c-\x1f]")
"""Of the ASCII characters `re` and `regex` have another idea of these only, as of white space."""


class Match(msgspec.Struct, frozen=True):
    """A signature (index into `Grammar.signatures`) seen at characters `start` to `end` of the record's text.

    `fields` are the named groups that took part, as printed.
    """

    signature: int
    start: int
    end: int
    fields: dict[str, str]


class Matcher:
    """Searches all signatures of a grammar in one record at a time.

    Attributes:
        timeouts: How often the pattern of a signature (by index) was given up after `TIMEOUT_S`: for the coverage.
    """

    def __init__(self, grammar: Grammar, *, gated: bool = True, proven: bool = False) -> None:
        """`proven` if all patterns are known to be fast (the lint proves it): short texts are then searched by `re`."""
        self.grammar = grammar
        self.gate = Gate(grammar)
        self.timeouts: dict[int, int] = {}
        self._gated = gated
        self._proven = proven
        self._all = frozenset(range(len(grammar.signatures)))
        self._patterns: dict[int, regex.Pattern[str]] = {}
        self._quick_patterns: dict[int, re.Pattern[str]] = {}
        self._answers: dict[tuple[frozenset[int], str | None, str | None], tuple[int, ...]] = {}
        self._refined = refined_by_index(grammar)

    def match(self, text: str, format: str | None, level: str | None) -> list[Match]:  # noqa: A002 - the program's word
        """All matches that stand after overlaps are resolved, ordered by start and signature.

        Args:
            text: Text of one record: its lines without rank, worker and receipt-time prefixes, joined by newlines.
            format: Name of the record's format; None when its head is not known yet: no condition is tested.
            level: Level of the record, None if it has none.
        """
        return self.match_among(self.candidates(text), text, format, level)

    def match_among(self, candidates: frozenset[int], text: str, format: str | None, level: str | None) -> list[Match]:  # noqa: A002
        """As `match`, when it is known already which signatures can match the text."""
        wanted = self._wanted(candidates, format, level)
        if not wanted:
            return []
        if self._proven and len(text) <= SHORT and text.isascii() and not _has_separator(text):
            found = [match for index in wanted for match in self._search_short(index, text)]
        else:
            ranges = searched_ranges(len(text))
            found = [match for index in wanted for match in self._search(index, text, ranges)]
        if len(found) < 2:  # noqa: PLR2004 - nothing to compare
            return found
        return sorted(self._resolve(found, text), key=lambda match: (match.start, match.signature, match.end))

    def matching(self, text: str) -> frozenset[int]:
        """Indices of all signatures whose pattern matches, whatever the format, before overlaps are resolved."""
        ranges = searched_ranges(len(text))
        return frozenset(i for i in self.candidates(text) if any(True for _ in self._search(i, text, ranges)))

    def candidates(self, text: str, literals: frozenset[int] | None = None) -> frozenset[int]:
        """Indices of the signatures that can match the text of a record.

        Args:
            text: The text.
            literals: Indices of those that stand in it, perhaps with others; None if they are not known.
        """
        if not self._gated:
            return self._all
        if len(text) <= HEAD + TAIL:
            if literals is not None:
                return self.gate.among(literals, _encoded(text), whole="\n" not in text)
            return self.gate.candidates(_encoded(text))
        parts = [_encoded(text[start:end]) for start, end in searched_ranges(len(text))]
        return frozenset().union(*(self.gate.candidates(part) for part in parts))

    def _wanted(self, candidates: frozenset[int], format: str | None, level: str | None) -> tuple[int, ...]:  # noqa: A002
        """Those of the candidates that are about such records; few questions are asked, again and again."""
        question = (candidates, format, level)
        answer = self._answers.get(question)
        if answer is None:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            answer = tuple(index for index in candidates if self._wants(index, format, level))
            self._answers[question] = answer
        return answer

    def _wants(self, index: int, format: str | None, level: str | None) -> bool:  # noqa: A002
        if format is None:
            return True
        if format == "plog" and level in QUIET_LEVELS and index not in self.gate.in_quiet:
            return False
        wanted = self.grammar.signatures[index].match
        return (not wanted.formats or format in wanted.formats) and (not wanted.levels or level in wanted.levels)

    def _search(self, index: int, text: str, ranges: list[tuple[int, int]]) -> list[Match]:
        pattern = self._patterns.get(index)
        if pattern is None:
            pattern = regex.compile(self.grammar.signatures[index].match.pattern, regex.MULTILINE)
            self._patterns[index] = pattern
        found: list[Match] = []
        try:
            if self._gated and "\n" not in text and self.gate.only_at_start(index, _encoded(text)):
                first = pattern.match(text, 0, ranges[0][1], timeout=TIMEOUT_S)
                return [] if first is None else [_match_of(index, first)]
            for start, end in ranges:
                for hit in pattern.finditer(text, start, end, timeout=TIMEOUT_S):
                    found.append(_match_of(index, hit))
                    if len(found) == MOST_OF_ONE:
                        return found
        except TimeoutError:
            self.timeouts[index] = self.timeouts.get(index, 0) + 1
        return found

    def _search_short(self, index: int, text: str) -> list[Match]:
        pattern = self._quick_patterns.get(index)
        if pattern is None:
            pattern = re.compile(self.grammar.signatures[index].match.pattern, re.MULTILINE)
            self._quick_patterns[index] = pattern
        return [_match_of(index, hit) for hit in islice(pattern.finditer(text), MOST_OF_ONE)]

    def _resolve(self, found: list[Match], text: str) -> list[Match]:
        lines: dict[int, list[Match]] = {}
        for match in found:
            lines.setdefault(text.rfind("\n", 0, match.start), []).append(match)
        return [match for line in lines.values() for match in self._most_specific(line)]

    def _most_specific(self, line: list[Match]) -> list[Match]:
        """On one line: the refined give way to the refiner, generic ones to others, of generic ones one stays."""
        present = {match.signature for match in line}
        if len(present) == 1:
            return line
        beaten = frozenset().union(*(self._refined[index] for index in present))
        line = [match for match in line if match.signature not in beaten]
        special = [match for match in line if not self.grammar.signatures[match.signature].match.generic]
        if special or not line:
            return special
        best = max(line, key=lambda match: (match.end - match.start, -match.signature))
        return [match for match in line if match.signature == best.signature]


def _has_separator(text: str) -> bool:
    return not text.isprintable() and _SEPARATORS.search(text) is not None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _match_of(index: int, hit: regex.Match[str] | re.Match[str]) -> Match:
    fields = hit.groupdict() if hit.re.groups else {}
    if None in fields.values():
        fields = {name: value for name, value in fields.items() if value is not None}
    return Match(index, hit.start(), hit.end(), fields)


def searched_ranges(length: int) -> list[tuple[int, int]]:
    """Which characters of a text of this length are searched: all, or the head and the tail."""
    return [(0, length)] if length <= HEAD + TAIL else [(0, HEAD), (length - TAIL, length)]


def refined_by_index(grammar: Grammar) -> list[frozenset[int]]:
    """For each signature the indices of all that it refines, directly or through others."""
    index_of = {signature.id: index for index, signature in enumerate(grammar.signatures)}
    direct = [
        {index for target in signature.chain.refines for index in _covered(target, index_of)} - {own}
        for own, signature in enumerate(grammar.signatures)
    ]
    closed = []
    for own, start in enumerate(direct):
        seen, fresh = set(start), list(start)
        while fresh:
            more = direct[fresh.pop()] - seen
            seen |= more
            fresh += more
        closed.append(frozenset(seen - {own}))
    return closed


def _covered(target: str, index_of: Mapping[str, int]) -> Iterable[int]:
    """Indices of the signatures that a target, an id or a prefix ending in `/`, means."""
    if target.endswith("/"):
        return [index for name, index in index_of.items() if name.startswith(target)]
    return [index_of[target]] if target in index_of else []
