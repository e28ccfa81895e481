"""One clock per node and kind of source: whose stamps can be compared, and by how much they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from plogscope.correlate.skew import Skew, Times, find_skews, shared_events
from plogscope.correlate.zones import ClockName, Zone, own_zones, utc_zones
from plogscope.formats.epochs import MAX_DELAY_NS, MAX_EARLY_NS
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source
from plogscope.model.vocabulary import ClockProof

ASSUMED_UNCERTAINTY_S = 10.0 * 365 * 86_400
SAME_NODE_UNCERTAINTY_S = 1.0
EPOCH_UNCERTAINTY_S = 2.0 * (MAX_DELAY_NS + MAX_EARLY_NS) / SECOND_NS
"""Zones of two nodes are whole quarters of an hour; what their clocks differ beyond that can hide behind the delay that
a line may have."""

NO_NODE = "bundle"


class Clocks(msgspec.Struct, frozen=True):
    """Clocks of the bundle and which source runs on which.

    In a file of no node each process prints the time of its own node: `of_name` has the clocks of these.
    """

    clocks: tuple[Clock, ...]
    of_source: dict[int, int]
    of_name: dict[ClockName, int] = {}

    @property
    def utc_offset_ns(self) -> int | None:
        """The reference clock minus UTC, if its zone and all other clocks are proven."""
        zones = [clock.zone_s for clock in self.clocks if clock.basis == "reference"]
        if any(clock.basis == "assumed" for clock in self.clocks) or not zones or zones[0] is None:
            return None
        return int(zones[0] * SECOND_NS)

    def index(self, source: int, node: str | None) -> int:
        """Position of the clock of a line, by its file and the node of the process that wrote it."""
        own = self.of_source[source]
        shown = self.clocks[own].name
        if node is None or not shown.startswith(NO_NODE + "/"):
            return own
        return self.of_name.get((node, shown.rpartition("/")[2]), own)


class _Relation(msgspec.Struct, frozen=True):
    """How the main clock of a node stands on the reference clock, and what proves it."""

    skew: Skew
    proof: ClockProof | None


def find_clocks(bundle: Bundle, findings: Sequence[Finding], spans: Mapping[int, tuple[int, int]]) -> Clocks:
    """Names the clocks and proves their offsets from what the bundle holds. What nothing proves stays assumed.

    The main clock of a node is that of its plogs (else of what its processes print). The reference is the main clock of
    the first of those nodes that shared events relate to the most others.

    - Main clocks of nodes are related by communicators that came up on both: all members log that within seconds; else
      by their zones, which instants in UTC prove.
    - The other clocks of a node are related to its main clock by the evidence of `zones`.

    Args:
        bundle: The sources.
        findings: Of all sources, their actors on the nodes where their processes run.
        spans: (first, last) local stamp by source id.
    """
    names: list[ClockName] = []
    of_source: dict[int, int] = {}
    for source in bundle.sources:
        name = (source.node, _kind(source))
        if name not in names:
            names.append(name)
        of_source[source.id] = names.index(name)
    if (None, "stdout") in names:
        names += [(node, "stdout") for node, kind in names if kind == "plog" and (node, "stdout") not in names and node]
    if not names:
        return Clocks((), of_source)
    of_name = {name: i for i, name in enumerate(names)}

    def name_of(finding: Finding) -> ClockName:
        own = names[of_source[finding.source]]
        moved = (finding.actor.node, own[1])
        return moved if own[0] is None and moved in of_name else own

    utc = utc_zones(findings, name_of)
    main = _main(names)
    zones = own_zones(findings, _ends(spans, of_source, names), utc, name_of, main)
    reference, skews = _reference(main, shared_events(findings))
    relations = _relations(main, reference, skews, utc)
    clocks = tuple(
        _clock(i, name, of_name[main[name[0]]], of_name[reference], zones.get(name), utc.get(name), relations)
        for name, i in of_name.items()
    )
    return Clocks(clocks, of_source, of_name)


def _main(names: Sequence[ClockName]) -> dict[str | None, ClockName]:
    """Node → the clock by which it is compared with other nodes."""
    main: dict[str | None, ClockName] = {}
    for name in names:
        known = main.setdefault(name[0], name)
        main[name[0]] = min(known, name, key=_preference)
    return main


_PREFERRED = ("plog", "stdout", "host", "device")


def _preference(name: ClockName) -> int:
    return _PREFERRED.index(name[1])


def _reference(
    main: Mapping[str | None, ClockName], shared: Sequence[Times]
) -> tuple[ClockName, dict[str | None, Skew]]:
    """The reference, and the skews of the nodes that share events with its node."""
    best = min(map(_preference, main.values()))
    waiting = [node for node, name in main.items() if _preference(name) == best]
    groups: list[tuple[str | None, dict[str | None, Skew]]] = []
    while waiting:
        skews = find_skews(shared, waiting[0])
        groups.append((waiting[0], skews))
        waiting = [node for node in waiting[1:] if node not in skews]
    node, skews = max(groups, key=lambda group: len(group[1]))  # the first of equals
    return main[node], skews


def _relations(
    main: Mapping[str | None, ClockName],
    reference: ClockName,
    skews: Mapping[str | None, Skew],
    utc: Mapping[ClockName, int],
) -> dict[str | None, _Relation]:
    """Of the nodes whose main clocks are proven."""
    relations = {reference[0]: _Relation(Skew(0, 0.0), None)}
    for node, name in main.items():
        if node in skews:
            relations[node] = _Relation(skews[node], "communicator")
        elif node not in relations and name in utc and reference in utc:
            relations[node] = _Relation(Skew(utc[reference] - utc[name], EPOCH_UNCERTAINTY_S), "epochs")
    return relations


def on_reference(findings: Sequence[Finding], clocks: Clocks) -> list[Finding]:
    """Findings with `clock` and `order_ns` set."""
    shift = [int(clock.offset_s * SECOND_NS) for clock in clocks.clocks]
    placed = []
    for finding in findings:
        clock = clocks.index(finding.source, finding.actor.node)
        order = None if finding.time_ns is None else finding.time_ns + shift[clock]
        placed.append(msgspec.structs.replace(finding, clock=clock, order_ns=order))
    return placed


def _kind(source: Source) -> str:
    if source.kind in ("host-system", "device-system"):
        return source.kind.removesuffix("-system")
    return "plog" if source.kind in ("plog", "device-log") else "stdout"


def _clock(
    index: int,
    name: ClockName,
    main: int,
    reference: int,
    zone: Zone | None,
    utc_ns: int | None,
    relations: Mapping[str | None, _Relation],
) -> Clock:
    clock = Clock(
        id=index,
        name=f"{name[0] or NO_NODE}/{name[1]}",
        zone_s=None if utc_ns is None else utc_ns / SECOND_NS,
        island=index,
    )
    if index == reference:
        return clock
    if index == main:
        zone = (0, None)
    elif zone is not None:
        clock = msgspec.structs.replace(clock, island=main, island_s=SAME_NODE_UNCERTAINTY_S)
    relation = relations.get(name[0])
    own_ns, proof = zone or (0, None)
    if relation is None or zone is None:
        return msgspec.structs.replace(
            clock, offset_s=own_ns / SECOND_NS, uncertainty_s=ASSUMED_UNCERTAINTY_S, basis="assumed"
        )
    return msgspec.structs.replace(
        clock,
        offset_s=(own_ns + relation.skew.offset_ns) / SECOND_NS,
        uncertainty_s=relation.skew.uncertainty_s + clock.island_s,
        basis="proven",
        proof=proof if proof is not None else relation.proof,
    )


def _ends(
    spans: Mapping[int, tuple[int, int]], of_source: Mapping[int, int], names: Sequence[ClockName]
) -> dict[ClockName, tuple[int, int]]:
    """First and last stamp of all sources of a clock."""
    ends: dict[ClockName, tuple[int, int]] = {}
    for source, (first, last) in spans.items():
        name = names[of_source[source]]
        known = ends.get(name, (first, last))
        ends[name] = (min(known[0], first), max(known[1], last))
    return ends
