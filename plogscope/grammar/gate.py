"""The literal gate: which signatures can match a text at all, found in one pass over its bytes.

Chosen by measurement on one core, 9 MB of plog lines; building is for 1,800 literals:

| matcher                | a block without hits | one line | building |
| ahocorasick-rs, NFA    | 390 MB/s             | 0.9 us   | 3 ms     |
| ahocorasick-rs, DFA    | 610 MB/s             | 0.9 us   | 40 ms    |
| hyperscan              | 1,400 MB/s           | 0.5 us   | 27 ms    |

The code around the gate reads some tens of MB/s, so its speed does not show; every process of the pool builds its own,
so the time of building does: the faster ones pay for themselves only beyond 40 MB a process.
"""

from __future__ import annotations

import re

import ahocorasick_rs

from plogscope.model.signature import Grammar, Signature


class Gate:
    """One automaton over the literals of all signatures.

    Attributes:
        always: Indices of signatures without literals: candidates for every text. The lint allows none.
        in_quiet: Indices of signatures that speak of plog records below ERROR.
    """

    def __init__(self, grammar: Grammar, *, thorough: bool = False) -> None:
        owners: dict[bytes, set[int]] = {}
        for index, signature in enumerate(grammar.signatures):
            for literal in signature.match.literals:
                owners.setdefault(literal.encode("utf-8", "surrogatepass"), set()).add(index)
        self.in_quiet = frozenset(i for i, signature in enumerate(grammar.signatures) if _speaks_of_quiet(signature))
        self.always = frozenset(i for i, signature in enumerate(grammar.signatures) if not signature.match.literals)
        self._owners = [frozenset(indices) for indices in owners.values()]
        self._hits_quiet = [not self.in_quiet.isdisjoint(indices) for indices in self._owners]
        self._automaton = _automaton(list(owners), thorough=thorough) if owners else None

    def candidates(self, text: bytes) -> frozenset[int]:
        """Indices of the signatures that can match the UTF-8 text; all others cannot."""
        if self._automaton is None:
            return self.always
        hits = {hit[0] for hit in self._automaton.find_matches_as_indexes(text, overlapping=True)}
        if not hits:
            return self.always
        return self.always.union(*(self._owners[hit] for hit in hits))

    def hit_offsets(self, block: bytes) -> tuple[list[int], list[int]]:
        """Sorted byte offsets in a block of lines such that every line with a literal has at least one of them.

        The first list is of all literals, the second of those whose signatures speak of quiet records (`in_quiet`).
        A line without an offset matches no signature (unless `always` is not empty). Literals never span lines. The
        block must be what the patterns will see: colours stripped.
        """
        if self._automaton is None:
            return [], []
        hits = self._automaton.find_matches_as_indexes(block, overlapping=True)
        speaks = self._hits_quiet
        return sorted({hit[1] for hit in hits}), sorted({hit[1] for hit in hits if speaks[hit[0]]})


_QUIET_HEAD = re.compile(r"\[(?:INFO|DEBUG|EVENT|TRACE|WARNING)\] ?[A-Z][A-Z0-9_]*\(")


def _speaks_of_quiet(signature: Signature) -> bool:
    """True when a signature is about plog records below ERROR: one of its examples is such a record.

    Such records are most of every log and never a failure, so all other signatures pass them by.
    """
    return any(_QUIET_HEAD.search(example.line) is not None for example in signature.examples)


def _automaton(literals: list[bytes], *, thorough: bool) -> ahocorasick_rs.BytesAhoCorasick:
    kinds = ahocorasick_rs.Implementation
    return ahocorasick_rs.BytesAhoCorasick(literals, implementation=kinds.DFA if thorough else kinds.ContiguousNFA)
