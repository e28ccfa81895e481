"""Laws between files: what a signature points at exists, nothing explains itself, overlaps are meant."""

# ruff: noqa: D102 - the class says what its check does

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from plogscope.data import code_families
from plogscope.grammar.compile import assemble, with_literals
from plogscope.grammar.document import CODES_FOLDER, Defect
from plogscope.grammar.lints.base import Entry, Lint, covers, named
from plogscope.grammar.match import QUIET_LEVELS, Matcher
from plogscope.grammar.reading import Part, admits, read_parts, takes
from plogscope.grammar.schema import OVERRIDES
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


class OverridesMeant(Lint):
    """A file has the id of a signature that is known already exactly when it says that it replaces it."""

    id = "override"
    meaning = "a file would replace another one unseen, or would replace nothing"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        ids = [signature.id for signature in known]
        for entry in entries:
            own, says = entry.signature.id, entry.document.data.get(OVERRIDES) is True
            if own in ids and not says:
                message = f"the id {own} is taken by a signature that is loaded before"
                remedy = "write overrides = true to replace it, or give the file another name"
                yield self.defect(entry, (OVERRIDES,), message, remedy)
            elif says and own not in ids:
                near = difflib.get_close_matches(own, ids, 1)
                remedy = "drop the line, or give the file the id of the signature that it is to replace"
                remedy += f" (perhaps {near[0]})" if near else ""
                yield self.defect(entry, (OVERRIDES,), f"overrides = true, but there is no {own} to replace", remedy)


class TakesItsLines(Lint):
    """Of its examples a signature gets at least one from those of other folders; within a folder they arrange that."""

    id = "taken"
    meaning = "the signature would never be seen"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        contest, here = Contest(entries, known), {entry.signature.id for entry in entries}
        for entry in entries:
            takers = [contest.takers(example.line) for example in entry.signature.examples]
            if any(entry.signature.id in names or (names and names <= here) for names in takers):
                continue
            for number, (names, example) in enumerate(zip(takers, entry.signature.examples, strict=True)):
                parts = [part for part in read_parts(example.line) if entry.by_regex.search(part.piece.text)]
                if parts and (names or _is_refused(entry.signature, parts[0])):  # else another law says why
                    message, remedy = _lost(entry.signature, number + 1, names, parts[0])
                    yield self.defect(entry, ("examples", number, "line"), message, remedy)


class OverlapsMeant(Lint):
    """An example that another signature takes as well is settled by `generic` or `refines`."""

    id = "overlap"
    meaning = "one line would be two findings"

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        contest = Contest(entries, known)
        for entry in entries:
            own = entry.signature.id
            for number, example in enumerate(entry.signature.examples):
                takers = contest.takers(example.line)
                for other in sorted(takers - {own}) if own in takers else ():
                    message = f"example {number + 1} is taken by {other} as well"
                    remedy = (
                        f'to take it alone write refines = ["{other}"] below [chain]; '
                        f"to leave it to {other} write generic = true below [match]; or make the pattern narrower"
                    )
                    yield self.defect(entry, ("examples", number, "line"), message, remedy)


class Contest:
    """All signatures together, asked who gets a line."""

    def __init__(self, entries: list[Entry], known: tuple[Signature, ...]) -> None:
        signatures = {signature.id: signature for signature in known}
        signatures |= {entry.signature.id: entry.signature for entry in entries}
        self._matcher = Matcher(assemble(map(with_literals, signatures.values())))

    def takers(self, line: str) -> set[str]:
        """Ids of the signatures that the analysis finds in the line."""
        signatures = self._matcher.grammar.signatures
        return {signatures[match.signature].id for part in read_parts(line) for match in takes(self._matcher, part)}


def _is_refused(own: Signature, part: Part) -> bool:
    """True when what is asked of the record keeps the signature from it."""
    return not admits(own.match, part) or (part.format == "plog" and part.level in QUIET_LEVELS)


def _lost(own: Signature, number: int, takers: set[str], part: Part) -> tuple[str, str]:
    """Message and remedy for an example that matches and goes to nobody, or to `takers`."""
    if not takers:
        level = f" at level {part.level}" if part.level else ""
        message = f"example {number} is passed over: its record is of format {part.format}{level}"
        return message, "mend formats and levels below [match], or give an example of a record that they admit"
    names = ", ".join(f'"{name}"' for name in sorted(takers))
    message = f"example {number} is taken by {named(takers)}, not by this signature"
    if own.match.generic:
        remedy = f"to take it drop generic = true and write refines = [{names}] below [chain]; else give an example"
        return message, f"{remedy} that nobody else takes, or drop the file"
    return message, "the other one refines this one: give an example that it leaves, or another id than the one refined"


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
