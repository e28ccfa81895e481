"""Equal findings of several processes stand once: the first in full, the others beside it, none is dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from plogscope.model.report import ChainEntry, Evidence

_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+")
_MASKED = 300


class Folded(msgspec.Struct, frozen=True):
    """A finding and those that other processes report alike."""

    first: ChainEntry
    alike: list[ChainEntry]


class FoldedEvidence(msgspec.Struct, frozen=True):
    """A quoted line and those that other processes print alike."""

    first: Evidence
    alike: list[Evidence]


def masked(text: str) -> str:
    """The start of a line without its numbers: what equal lines of different processes share."""
    return _NUMBERS.sub("#", text[:_MASKED])


def kind_of(entry: ChainEntry) -> tuple[str, str, str]:
    """What makes two findings of different processes alike."""
    return entry.role, entry.signature or entry.title.en, masked(entry.quote)


def _process(entry: ChainEntry) -> tuple[str | None, int | None, int | None]:
    return entry.node, entry.pid, entry.rank


def fold_findings(entries: Sequence[ChainEntry]) -> list[Folded]:
    """`entries` in their order, equal ones of other processes with the first; the first cause is never folded."""
    groups: dict[object, list[ChainEntry]] = {}
    for entry in entries:
        alone = entry.role == "root" or _process(entry) == (None, None, None)
        key: object = entry.id if alone else kind_of(entry)
        members = groups.setdefault(key, [])
        if any(_process(member) == _process(entry) for member in members[:64]):
            # Twice in one process is not the same as once in two.
            members = groups.setdefault((key, entry.id), [])
        members.append(entry)
    return [Folded(members[0], members[1:]) for members in groups.values()]


def fold_evidence(evidence: Sequence[Evidence], entries: Sequence[ChainEntry]) -> list[FoldedEvidence]:
    """`evidence` in its order, folded as the findings that stand on its lines."""
    leader: dict[tuple[str, int], str] = {}
    for folded in fold_findings(entries):
        for entry in (folded.first, *folded.alike):
            leader.setdefault((entry.file, entry.line), folded.first.id)
    groups: dict[str, list[Evidence]] = {}
    for item in evidence:
        groups.setdefault(leader.get((item.file, item.line), item.id), []).append(item)
    return [FoldedEvidence(items[0], items[1:]) for items in groups.values()]
