"""One clock per node and kind of source: whose stamps can be compared, and by how much they differ."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from plogscope.correlate.skew import Skew, find_skews
from plogscope.model.chain import Clock
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source

SECOND_NS = 1_000_000_000
QUARTER_NS = 900 * SECOND_NS
"""Zones differ by whole quarters of an hour."""

LEAST_ZONE_NS = 3600 * SECOND_NS
MAX_ZONE_NS = 26 * 3600 * SECOND_NS
AGREE_WITHIN_NS = 120 * SECOND_NS
EVENT_WITHIN_NS = 15 * SECOND_NS
"""A process prints an error within this time of the record in its plog."""

ASSUMED_UNCERTAINTY_S = 10.0 * 365 * 86_400
SAME_NODE_UNCERTAINTY_S = 1.0

ClockName = tuple[str | None, str]
"""(node, kind): stamps of a node in its CANN logs ("plog"), its output ("stdout") or its system log ("host")."""


class Clocks(msgspec.Struct, frozen=True):
    """Clocks of the bundle and which source runs on which.

    In a file of no node each process prints the time of its own node: `of_name` has the clocks of these.
    """

    clocks: tuple[Clock, ...]
    of_source: dict[int, int]
    of_name: dict[ClockName, int] = {}

    def index(self, source: int, node: str | None) -> int:
        """Position of the clock of a line, by its file and the node of the process that wrote it."""
        own = self.of_source[source]
        shown = self.clocks[own].name
        if node is None or not shown.startswith(NO_NODE + "/"):
            return own
        return self.of_name.get((node, shown.rpartition("/")[2]), own)


NO_NODE = "bundle"


def find_clocks(bundle: Bundle, findings: Sequence[Finding], spans: Mapping[int, tuple[int, int]]) -> Clocks:
    """Names the clocks and proves their offsets from what the bundle holds.

    The reference is the plog clock of the first node (else the printed clock).

    - The printed clock of a node is proven by errors of one process that stand in both its plog and its output: they
      differ by a whole number of quarter hours. Without such errors, output and plogs that begin and end together at
      exactly one shift prove it as well, or that begin or end together at the one shift that all other nodes have.
    - The plog clock of another node is proven by communicators that came up on both: all members log that within
      seconds. Without such an event it stays assumed: nothing is ordered by it.

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
    reference = min(range(len(names)), key=lambda i: (names[i][1] != "plog", i))
    zones = {(node, "stdout"): zone for node, zone in _zones(findings, spans, of_source, names).items()}
    zones |= {(node, "host"): 0 for node in _hosts_in_step(findings, of_source, names)}
    skews = find_skews(findings, names[reference][0])
    clocks = tuple(_clock(i, names, reference, zones, skews) for i in range(len(names)))
    return Clocks(clocks, of_source, {name: i for i, name in enumerate(names)})


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
        return "host"
    return "plog" if source.kind in ("plog", "device-log") else "stdout"


def _clock(
    index: int,
    names: Sequence[ClockName],
    reference: int,
    zones: Mapping[ClockName, int],
    skews: Mapping[str | None, Skew],
) -> Clock:
    node, kind = names[index]
    shown = f"{node or NO_NODE}/{kind}"
    if index == reference:
        return Clock(id=index, name=shown)
    has_plog = (node, "plog") in names
    own_ns = zones.get((node, kind), 0)
    comparable = kind == "plog" or (node, kind) in zones or not has_plog
    skew = Skew(0, 0.0) if node == names[reference][0] else skews.get(node)
    offset_s = (own_ns + (skew.offset_ns if skew is not None else 0)) / SECOND_NS
    if skew is None or not comparable:
        return Clock(id=index, name=shown, offset_s=offset_s, uncertainty_s=ASSUMED_UNCERTAINTY_S, basis="assumed")
    same_node = SAME_NODE_UNCERTAINTY_S if kind != "plog" or node == names[reference][0] else 0.0
    return Clock(id=index, name=shown, offset_s=offset_s, uncertainty_s=skew.uncertainty_s + same_node, basis="proven")


def _zones(
    findings: Sequence[Finding],
    spans: Mapping[int, tuple[int, int]],
    of_source: Mapping[int, int],
    names: Sequence[ClockName],
) -> dict[str | None, int]:
    """Node → what has to be added to its printed stamps to compare them with its plogs, ns."""
    ends = _ends(spans, of_source, names)
    zones = {**_common_spans(ends), **_zone_offsets(findings, of_source, names)}
    if len(set(zones.values())) == 1:
        common = next(iter(zones.values()))
        for node, kind in names:
            if kind == "stdout" and node not in zones and common in _gaps(ends, node):
                zones[node] = common
    return zones


def _zone_offsets(
    findings: Sequence[Finding], of_source: Mapping[int, int], names: Sequence[ClockName]
) -> dict[str | None, int]:
    """The same from errors that one process states in both."""
    seen: dict[tuple[str | None, int], dict[str, list[int]]] = defaultdict(lambda: {"plog": [], "stdout": []})
    for finding in findings:
        if finding.actor.pid is None or finding.time_ns is None or finding.time_quality not in ("exact", "no_year"):
            continue
        node, kind = names[of_source[finding.source]]
        if finding.level in ("ERROR", "CRITICAL"):
            seen[node if node is not None else finding.actor.node, finding.actor.pid][kind].append(finding.time_ns)
    votes: dict[str | None, Counter[int]] = defaultdict(Counter)
    for (node, _), times in seen.items():
        for printed in times["stdout"]:
            gaps = [_quarter_gap(printed, logged, EVENT_WITHIN_NS) for logged in times["plog"]]
            fitting = [gap for gap in gaps if gap is not None]
            if fitting:
                votes[node][min(fitting, key=abs)] += 1
    zones: dict[str | None, int] = {}
    for node, count in votes.items():
        zone, agreeing = min(count.items(), key=lambda one: (-one[1], abs(one[0])))
        if agreeing * 2 > sum(count.values()):
            zones[node] = zone
    return zones


def _hosts_in_step(
    findings: Sequence[Finding], of_source: Mapping[int, int], names: Sequence[ClockName]
) -> set[str | None]:
    """Nodes whose system logs something while its processes log errors: it stands in the zone of the plogs."""
    failing: dict[str | None, list[int]] = defaultdict(list)
    system: dict[str | None, list[int]] = defaultdict(list)
    for finding in findings:
        node, kind = names[of_source[finding.source]]
        if finding.time_ns is None:
            continue
        if kind == "host":
            system[node].append(finding.time_ns)
        elif kind == "plog" and finding.level in ("ERROR", "CRITICAL"):
            failing[node].append(finding.time_ns)
    return {
        node
        for node, times in system.items()
        if any(abs(moment - other) <= AGREE_WITHIN_NS for moment in times for other in failing.get(node, ()))
    }


def _quarter_gap(printed_ns: int, logged_ns: int, within_ns: int = AGREE_WITHIN_NS) -> int | None:
    """The difference of zones between the two stamps if they fit one event, else None.

    Zones differ by whole quarters, but never by less than an hour: half an hour between two errors is a timeout.
    """
    gap = logged_ns - printed_ns
    zone = round(gap / QUARTER_NS) * QUARTER_NS
    if abs(gap - zone) > within_ns or not (zone == 0 or LEAST_ZONE_NS <= abs(zone) <= MAX_ZONE_NS):
        return None
    return zone


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


def _gaps(ends: Mapping[ClockName, tuple[int, int]], node: str | None) -> tuple[int | None, int | None]:
    """Whole quarter hours between output and plogs of a node, where they begin and where they end."""
    if (node, "stdout") not in ends or (node, "plog") not in ends:
        return None, None
    printed, logged = ends[node, "stdout"], ends[node, "plog"]
    return _quarter_gap(printed[0], logged[0]), _quarter_gap(printed[1], logged[1])


def _common_spans(ends: Mapping[ClockName, tuple[int, int]]) -> dict[str | None, int]:
    offsets: dict[str | None, int] = {}
    for node, kind in ends:
        begin, end = _gaps(ends, node)
        if kind == "stdout" and begin is not None and begin == end:
            offsets[node] = begin
    return offsets
