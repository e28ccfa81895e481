"""Laws between files: what a signature points at exists, nothing explains itself, overlaps are meant."""

# ruff: noqa: D102 - the class says what its check does

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from plogscope.data import code_families
from plogscope.grammar.compile import assemble, with_literals
from plogscope.grammar.document import CODES_FOLDER, Defect
from plogscope.grammar.lints.base import Entry, Lint, covers, named
from plogscope.grammar.match import Matcher, refined_by_index
from plogscope.model.signature import Signature

NARROW = ("thread", "stream", "device", "process")
"""Scopes in which `explains` must not run in a circle; between ranks and nodes it may."""

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*(?:/[a-z0-9]+(?:-[a-z0-9]+)*)+")


class IdIsPath(Lint):
    """`<domain>/<name>.toml`, lower case, words joined by hyphens."""

    id = "id"
    meaning = "the id is shown in reports and typed by people"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if not _ID.fullmatch(entry.document.id):
            message = f"the id {entry.document.id} is not <domain>/<name>"
            yield self.defect(entry, (), message, "put the file into a folder; lower case, words joined by hyphens")


class HintsFit(Lint):
    """What `[chain]` names is there: fields, the code table; who waits is a symptom."""

    id = "chain"
    meaning = "a later stage would ask for a field or table that does not exist"

    def check(self, entry: Entry) -> Iterator[Defect]:
        chain, fields = entry.signature.chain, set(entry.signature.extract)
        for name in sorted(set(chain.identity) - fields):
            message = f"{name} in identity is not an extracted field"
            yield self.defect(entry, ("chain", "identity"), message, "extract it or drop it")
        if chain.codes is not None and not self._table_exists(entry, chain.codes):
            remedy = f"use one of {named(code_families())}"
            yield self.defect(entry, ("chain", "codes"), f"there is no code table {chain.codes}", remedy)
        if chain.codes is not None and "code" not in fields:
            yield self.defect(entry, ("chain", "codes"), "codes needs a field named code", "extract code")
        if chain.waits and entry.signature.role != "symptom":
            message = f"waits = true, but the role is {entry.signature.role}"
            yield self.defect(entry, ("chain", "waits"), message, "make the role symptom: somebody else did not come")

    def _table_exists(self, entry: Entry, family: str) -> bool:
        root = entry.document.path.parents[entry.document.id.count("/")]
        return family in code_families() or (root / CODES_FOLDER / f"{family}.toml").is_file()


class TargetsExist(Lint):
    """What a signature explains or refines exists."""

    id = "target"
    meaning = "the edge would never be drawn"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        ids = [entry.signature.id for entry in entries] + [signature.id for signature in known]
        for entry in entries:
            chain = entry.signature.chain
            links = {"explains": [link.id for link in chain.explains], "refines": list(chain.refines)}
            for verb, targets in links.items():
                missing = [target for target in targets if not any(covers(target, name) for name in ids)]
                if missing:
                    message = f"{verb} what does not exist: {named(missing)}"
                    remedy = "write ids, or prefixes that end in /, of signatures that exist"
                    yield self.defect(entry, ("chain", verb), message, remedy)


class NoCircles(Lint):
    """Nothing explains or refines itself, directly or through others."""

    id = "circle"
    meaning = "two findings of one process would be the cause of each other"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        signatures = {signature.id: signature for signature in known}
        signatures |= {entry.signature.id: entry.signature for entry in entries}
        explains = {
            name: [e.id for e in signature.chain.explains if e.scope in NARROW]
            for name, signature in signatures.items()
        }
        refines = {name: list(signature.chain.refines) for name, signature in signatures.items()}
        by_id = {entry.signature.id: entry for entry in entries}
        for verb, targets in (("explains", explains), ("refines", refines)):
            for circle in _circles(targets):
                own = next((name for name in circle if name in by_id), None)
                if own is not None:
                    start = circle.index(own)
                    path = " > ".join([*circle[start:], *circle[:start], own])
                    message = f"{verb} runs in a circle: {path}"
                    remedy = "drop one of the links" + (", or widen its scope" if verb == "explains" else "")
                    yield self.defect(by_id[own], ("chain", verb), message, remedy)


class OverlapsMeant(Lint):
    """An example that another signature matches as well is settled by `generic` or `refines`."""

    id = "overlap"
    meaning = "one line would be two findings"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        signatures = {signature.id: signature for signature in known}
        signatures |= {entry.signature.id: entry.signature for entry in entries}
        grammar = assemble(map(with_literals, signatures.values()))
        index_of = {signature.id: index for index, signature in enumerate(grammar.signatures)}
        refined = refined_by_index(grammar)
        matcher = Matcher(grammar)
        for entry in entries:
            own = index_of[entry.signature.id]
            for number, example in enumerate(entry.signature.examples):
                for other in sorted(matcher.matching(example.line) - {own} - refined[own]):
                    signature = grammar.signatures[other]
                    if own not in refined[other] and _collide(entry.signature, signature):
                        message = f"example {number + 1} also matches {signature.id}"
                        remedy = f'make one more specific, or say generic = true or refines = ["{signature.id}"]'
                        yield self.defect(entry, ("examples", number, "line"), message, remedy)


def _collide(one: Signature, other: Signature) -> bool:
    left, right = one.match, other.match
    if left.generic or right.generic:
        return False
    apart = any(
        a and b and not set(a) & set(b) for a, b in ((left.formats, right.formats), (left.levels, right.levels))
    )
    return not apart


def _circles(targets: Mapping[str, list[str]]) -> list[list[str]]:
    """Circles of the graph, one for each set of names that reach each other; a prefix does not mean its own file."""
    edges = {
        name: sorted(
            {
                other
                for target in own
                for other in targets
                if covers(target, other) and (other != name or target == name)
            }
        )
        for name, own in targets.items()
    }
    circles: list[list[str]] = []
    done: set[str] = set()
    for start in sorted(edges):
        path = None if start in done else _way_back(edges, start)
        if path is not None:
            circles.append(path)
            done |= set(path)
    return circles


def _way_back(edges: Mapping[str, list[str]], start: str) -> list[str] | None:
    """The shortest way from `start` to itself, without the last step; None if there is none."""
    came: dict[str, str] = {}
    queue = [start]
    for name in queue:
        for other in edges[name]:
            if other == start:
                path = [name]
                while path[-1] != start:
                    path.append(came[path[-1]])
                return path[::-1]
            if other not in came:
                came[other] = name
                queue.append(other)
    return None
