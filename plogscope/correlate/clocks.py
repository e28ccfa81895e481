"""One clock per node and kind of source: whose stamps can be compared, and by how much they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from plogscope.model.chain import Clock
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source

SECOND_NS = 1_000_000_000
QUARTER_NS = 900 * SECOND_NS
"""Zones differ by whole quarters of an hour."""

MAX_ZONE_NS = 26 * 3600 * SECOND_NS
AGREE_WITHIN_NS = 120 * SECOND_NS
ASSUMED_UNCERTAINTY_S = 10.0 * 365 * 86_400
SAME_NODE_UNCERTAINTY_S = 1.0

ClockName = tuple[str | None, str]
"""(node, kind): a node's own stamps ("plog") and what was printed by its processes ("stdout")."""


class Clocks(msgspec.Struct, frozen=True):
    """Clocks of the bundle and which source runs on which."""

    clocks: tuple[Clock, ...]
    of_source: dict[int, int]


def find_clocks(bundle: Bundle, findings: Sequence[Finding], spans: Mapping[int, tuple[int, int]]) -> Clocks:
    """Names the clocks and proves their offsets from what the bundle holds.

    The reference is the plog clock of the first node (else the printed clock). The printed clock of a node is proven by
    errors of one process that stand in both its plog and its output: they differ by a whole number of quarter hours.
    Without such errors, output and plogs that begin and end together at exactly one shift prove it as well. Clocks of
    different nodes stay assumed here: nothing is ordered by them.

    Args:
        bundle: The sources.
        findings: Of all sources.
        spans: (first, last) local stamp by source id.
    """
    names: list[ClockName] = []
    of_source: dict[int, int] = {}
    for source in bundle.sources:
        name = (source.node, _kind(source))
        if name not in names:
            names.append(name)
        of_source[source.id] = names.index(name)
    order = sorted(range(len(names)), key=lambda i: (names[i][1] != "plog", i))
    reference = order[0] if order else 0
    zones = {**_common_spans(spans, of_source, names), **_zone_offsets(findings, of_source, names)}
    clocks = tuple(_clock(i, names, reference, zones) for i in range(len(names)))
    return Clocks(clocks, of_source)


def on_reference(findings: Sequence[Finding], clocks: Clocks) -> list[Finding]:
    """Findings with `clock` and `order_ns` set."""
    shift = [int(clock.offset_s * SECOND_NS) for clock in clocks.clocks]
    placed = []
    for finding in findings:
        clock = clocks.of_source[finding.source]
        order = None if finding.time_ns is None else finding.time_ns + shift[clock]
        placed.append(msgspec.structs.replace(finding, clock=clock, order_ns=order))
    return placed


def _kind(source: Source) -> str:
    return "plog" if source.kind in ("plog", "device-log") else "stdout"


def _clock(index: int, names: Sequence[ClockName], reference: int, zones: Mapping[str | None, int]) -> Clock:
    node, kind = names[index]
    shown = f"{node or 'bundle'}/{kind}"
    if index == reference:
        return Clock(id=index, name=shown)
    has_plog = (node, "plog") in names
    offset_ns = zones.get(node, 0) if kind == "stdout" else 0
    if node == names[reference][0] and (kind == "plog" or node in zones or not has_plog):
        return Clock(
            id=index, name=shown, offset_s=offset_ns / SECOND_NS, uncertainty_s=SAME_NODE_UNCERTAINTY_S, basis="proven"
        )
    return Clock(
        id=index, name=shown, offset_s=offset_ns / SECOND_NS, uncertainty_s=ASSUMED_UNCERTAINTY_S, basis="assumed"
    )


def _zone_offsets(
    findings: Sequence[Finding], of_source: Mapping[int, int], names: Sequence[ClockName]
) -> dict[str | None, int]:
    """Node → what has to be added to its printed stamps to compare them with its plogs, ns."""
    seen: dict[tuple[str | None, int], dict[str, list[int]]] = defaultdict(lambda: {"plog": [], "stdout": []})
    for finding in findings:
        if finding.actor.pid is None or finding.time_ns is None or finding.time_quality not in ("exact", "no_year"):
            continue
        node, kind = names[of_source[finding.source]]
        if finding.level in ("ERROR", "CRITICAL"):
            seen[node, finding.actor.pid][kind].append(finding.time_ns)
    votes: dict[str | None, list[int]] = defaultdict(list)
    for (node, _), times in seen.items():
        for printed in times["stdout"]:
            gaps = [_quarter_gap(printed, logged) for logged in times["plog"]]
            fitting = [gap for gap in gaps if gap is not None]
            if fitting:
                votes[node].append(min(fitting, key=abs))
    return {node: int(median(gaps)) for node, gaps in votes.items()}


def _quarter_gap(printed_ns: int, logged_ns: int) -> int | None:
    """The whole quarter hours between the two stamps if they fit one event, else None."""
    gap = logged_ns - printed_ns
    quarters = round(gap / QUARTER_NS) * QUARTER_NS
    return quarters if abs(gap - quarters) <= AGREE_WITHIN_NS and abs(quarters) <= MAX_ZONE_NS else None


def _common_spans(
    spans: Mapping[int, tuple[int, int]], of_source: Mapping[int, int], names: Sequence[ClockName]
) -> dict[str | None, int]:
    """The same from the first and last stamps of all plogs and all output of a node."""
    ends: dict[ClockName, tuple[int, int]] = {}
    for source, (first, last) in spans.items():
        name = names[of_source[source]]
        known = ends.get(name, (first, last))
        ends[name] = (min(known[0], first), max(known[1], last))
    offsets: dict[str | None, int] = {}
    for node, kind in ends:
        if kind != "stdout" or (node, "plog") not in ends:
            continue
        printed, logged = ends[node, "stdout"], ends[node, "plog"]
        begin, end = _quarter_gap(printed[0], logged[0]), _quarter_gap(printed[1], logged[1])
        if begin is not None and begin == end:
            offsets[node] = begin
    return offsets
