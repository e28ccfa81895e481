"""The gate: which signatures can match a text at all, found in one pass over its bytes and a few looks at words.

The pass finds the literals that stand in the text. Each decides about some conditions of signatures (see
`plogscope.grammar.conditions`); those are looked at one by one, at some 0.2 us each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from plogscope.grammar.automaton import Automaton, literal
from plogscope.model.signature import Condition, Grammar, Signature

MOST_SETS = 4096
"""Sets of literals of which it is remembered what they mean."""

LONGEST = 1 << 16
"""Bytes of a text that is looked at more than once: of a longer record only parts are searched."""

MOST_PLACES = 64
"""Where a word stands in a text: if it stands in more, a search costs as much."""


class _Test(msgspec.Struct, frozen=True):
    """A condition of a signature, behind its trigger, in bytes."""

    signature: int
    starts: frozenset[int]
    words: tuple[tuple[bytes, ...], ...]
    near: tuple[tuple[bytes, ...], ...]
    within: tuple[int, int]


class _Meaning(msgspec.Struct, frozen=True):
    """What a set of literals in a text says: these signatures can match, and those that pass their test."""

    sure: frozenset[int]
    tests: tuple[_Test, ...]


class Gate:
    """The literals of all signatures, sought at once.

    Attributes:
        always: Indices of signatures without literals: candidates for every text. The lint allows none.
        in_quiet: Indices of signatures that speak of plog records below ERROR.
        literals: All of them, by index.
        quiet_literals: Indices of those of signatures that speak of plog records below ERROR.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.in_quiet = frozenset(i for i, signature in enumerate(grammar.signatures) if _speaks_of_quiet(signature))
        self.always = frozenset(i for i, signature in enumerate(grammar.signatures) if not signature.match.literals)
        sure, tests = _meanings(grammar.signatures)
        self.literals = list(sure)
        self.quiet_literals = [
            index
            for index, text in enumerate(self.literals)
            if not self.in_quiet.isdisjoint(sure[text] | {test.signature for test in tests[text]})
        ]
        self._sure = [frozenset(sure[text]) for text in self.literals]
        self._tests = [tests[text] for text in self.literals]
        self._automaton = Automaton([literal(text) for text in self.literals])
        self._elsewhere = [_elsewhere(index, signature) for index, signature in enumerate(grammar.signatures)]
        self._known: dict[tuple[frozenset[int], bool], _Meaning] = {}

    def candidates(self, text: bytes) -> frozenset[int]:
        """Indices of the signatures that can match the UTF-8 text of a record; all others cannot."""
        _, hits = self._automaton.hits(text)
        return self.among(frozenset(hits), text, whole=b"\n" not in text) if hits else self.always

    def hits(self, block: bytes) -> tuple[list[int], list[int]]:
        """Where a literal ends in a block of lines (its last byte), ascending, and the index of the literal.

        A line without a hit matches no signature but those of `always`. Literals never span lines.
        """
        return self._automaton.hits(block)

    def among(self, literals: frozenset[int], text: bytes, *, whole: bool, quiet: bool = False) -> frozenset[int]:
        """As `candidates`, when it is known which literals stand in the text.

        Args:
            literals: Their indices; of further ones it is not said whether they stand there.
            text: UTF-8 text, or what holds it as it stands.
            whole: The text is one line and nothing but the text of a record.
            quiet: Only signatures of `in_quiet` are asked for.
        """
        meaning = self._known.get((literals, quiet)) or self._mean(literals, quiet=quiet)
        if not meaning.tests:
            return meaning.sure
        if len(text) > LONGEST:
            return meaning.sure.union(test.signature for test in meaning.tests)
        first = text[0] if whole and text else None
        passed: set[int] = set()
        for test in meaning.tests:
            if first is not None and test.starts and first not in test.starts:
                continue
            if test.signature in passed:
                continue
            if _holds(test, text):
                passed.add(test.signature)
        return meaning.sure | passed if passed else meaning.sure

    def only_at_start(self, signature: int, text: bytes) -> bool:
        """True when a signature can only match at the start of a line of the text."""
        tests = self._elsewhere[signature]
        return tests is not None and not any(_holds(test, text) for test in tests)

    def _mean(self, literals: frozenset[int], *, quiet: bool) -> _Meaning:
        if len(self._known) >= MOST_SETS:
            self._known.clear()
        sure = self.always.union(*(self._sure[index] for index in literals))
        tests = dict.fromkeys(test for index in sorted(literals) for test in self._tests[index])
        if quiet:
            sure &= self.in_quiet
        asked = (test for test in tests if test.signature not in sure)
        meaning = _Meaning(sure, tuple(test for test in asked if not quiet or test.signature in self.in_quiet))
        self._known[literals, quiet] = meaning
        return meaning


def _meanings(signatures: Iterable[Signature]) -> tuple[dict[bytes, set[int]], dict[bytes, list[_Test]]]:
    """By literal: the signatures that can match where it stands, and those that can if they pass a test."""
    sure: dict[bytes, set[int]] = {}
    tests: dict[bytes, list[_Test]] = {}
    for index, signature in enumerate(signatures):
        literals = signature.match.literals
        for text in literals:
            sure.setdefault(_encoded(text), set())
            tests.setdefault(_encoded(text), [])
        for condition in signature.conditions or (Condition(trigger=literals),):
            test = _test_of(index, condition)
            for text in condition.trigger:
                if test.starts or test.words or test.near:
                    tests[_encoded(text)].append(test)
                else:
                    sure[_encoded(text)].add(index)
    return sure, tests


def _test_of(index: int, condition: Condition) -> _Test:
    starts = frozenset(map(ord, condition.starts)) | _NOT_ASCII if condition.starts else frozenset()
    return _Test(index, starts, _all_encoded(condition.words), _all_encoded(condition.near), condition.within)


def _elsewhere(index: int, signature: Signature) -> list[_Test] | None:
    """The conditions of matches that do not begin a line, with their triggers; None if all may be so."""
    others = [condition for condition in signature.conditions if not condition.at_start]
    if len(others) == len(signature.conditions):
        return None
    return [
        _test_of(index, msgspec.structs.replace(condition, words=(condition.trigger, *condition.words)))
        for condition in others
    ]


def _holds(test: _Test, text: bytes) -> bool:
    for words in test.words:
        for word in words:
            if word in text:
                break
        else:
            return False
    return not test.near or _are_near(text, test)


def _are_near(text: bytes, test: _Test) -> bool:
    """True when words of both groups of `near` are as close as they must be, or if that takes too long to say."""
    first, second = test.near
    before, reach = test.within if text.isascii() else (_MOST_BYTES * test.within[0], _MOST_BYTES * test.within[1])
    for word in first:
        at = text.find(word)
        for _ in range(MOST_PLACES):
            if at < 0:
                break
            window = text[max(0, at - before) : at + reach]
            for other in second:
                if other in window:
                    return True
            at = text.find(word, at + 1)
        else:
            return True
    return False


def _all_encoded(groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[bytes, ...], ...]:
    return tuple(tuple(map(_encoded, group)) for group in groups)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_MOST_BYTES = 4
"""Of one character."""

_NOT_ASCII = frozenset(range(128, 256))
_QUIET_HEAD = re.compile(r"\[(?:INFO|DEBUG|EVENT|TRACE|WARNING)\] ?[A-Z][A-Z0-9_]*\(")


def _speaks_of_quiet(signature: Signature) -> bool:
    """True when a signature is about plog records below ERROR: one of its examples is such a record.

    Such records are most of every log and never a failure, so all other signatures pass them by.
    """
    return any(_QUIET_HEAD.search(example.line) is not None for example in signature.examples)
