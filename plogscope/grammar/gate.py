"""The literal gate: which signatures can match a text at all, found in one pass over its bytes."""

from __future__ import annotations

import re

from plogscope.grammar.automaton import Automaton, literal
from plogscope.model.signature import Grammar, Signature


class Gate:
    """The literals of all signatures, sought at once.

    Attributes:
        always: Indices of signatures without literals: candidates for every text. The lint allows none.
        in_quiet: Indices of signatures that speak of plog records below ERROR.
        quiet_literals: Literals of those, with the indices of their signatures.
    """

    def __init__(self, grammar: Grammar) -> None:
        owners: dict[bytes, set[int]] = {}
        for index, signature in enumerate(grammar.signatures):
            for text in signature.match.literals:
                owners.setdefault(text.encode("utf-8", "surrogatepass"), set()).add(index)
        self.in_quiet = frozenset(i for i, signature in enumerate(grammar.signatures) if _speaks_of_quiet(signature))
        self.always = frozenset(i for i, signature in enumerate(grammar.signatures) if not signature.match.literals)
        self.quiet_literals = [
            (text, self.in_quiet & indices) for text, indices in owners.items() if not self.in_quiet.isdisjoint(indices)
        ]
        self._owners = [frozenset(indices) for indices in owners.values()]
        self._automaton = Automaton([literal(text) for text in owners])

    def candidates(self, text: bytes) -> frozenset[int]:
        """Indices of the signatures that can match the UTF-8 text; all others cannot."""
        _, hits = self._automaton.hits(text)
        return self.always.union(*(self._owners[hit] for hit in set(hits))) if hits else self.always

    def hits(self, block: bytes) -> tuple[list[int], list[frozenset[int]]]:
        """Where a literal ends in a block of lines (its last byte), ascending, and the signatures that it may mean.

        A line without a hit matches no signature but those of `always`. Literals never span lines.
        """
        positions, hits = self._automaton.hits(block)
        return positions, [self._owners[hit] for hit in hits]


_QUIET_HEAD = re.compile(r"\[(?:INFO|DEBUG|EVENT|TRACE|WARNING)\] ?[A-Z][A-Z0-9_]*\(")


def _speaks_of_quiet(signature: Signature) -> bool:
    """True when a signature is about plog records below ERROR: one of its examples is such a record.

    Such records are most of every log and never a failure, so all other signatures pass them by.
    """
    return any(_QUIET_HEAD.search(example.line) is not None for example in signature.examples)
