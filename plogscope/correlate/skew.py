"""By how much the clocks of nodes differ, proven by events that all their ranks log at one moment.

The event is a communicator that came up: its members end creation together, because each needs the answers of the
others. When a rank entered creation proves nothing: a straggler on its own node would look like a clock that is off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from plogscope.formats.stamps import SECOND_NS
from plogscope.model.record import Finding

COMM_INIT_SUCCESS = "hccl/comm-init-success"
EVENT_S = 5.0
"""The members of one communicator log that it is up within this time of each other."""

AGREE_NS = 10 * SECOND_NS
"""Events that differ more from the median are left out: a second creation under the same name, a torn log."""

Times = dict[str | None, list[int]]


class Skew(msgspec.Struct, frozen=True):
    """What has to be added to a node's stamps to compare them with the reference node's, and how sure that is."""

    offset_ns: int
    uncertainty_s: float


def shared_events(findings: Iterable[Finding]) -> list[Times]:
    """The communicators that came up on several nodes: when the members on each node say so, as printed."""
    events: dict[str, Times] = defaultdict(lambda: defaultdict(list))
    for finding in findings:
        name = finding.fields.get("communicator")
        if finding.signature != COMM_INIT_SUCCESS or not name or finding.time_ns is None:
            continue
        if finding.time_quality == "exact" and finding.format == "plog":
            events[name][finding.actor.node].append(finding.time_ns)
    return [times for times in events.values() if len(times) > 1]


def find_skews(shared: Sequence[Times], reference: str | None) -> dict[str | None, Skew]:
    """Skews of the nodes that share events with the reference node, directly or through other nodes."""
    known: dict[str | None, Skew] = {reference: Skew(0, 0.0)}
    waiting = {node for times in shared for node in times} - {reference}
    while waiting:
        found = {node: skew for node in waiting if (skew := _skew_of(node, shared, known)) is not None}
        if not found:
            break
        known |= found
        waiting -= set(found)
    del known[reference]
    return known


def _skew_of(node: str | None, shared: Sequence[Times], known: Mapping[str | None, Skew]) -> Skew | None:
    """The median over all events that the node shares with nodes whose skew is known."""
    offsets: list[int] = []
    doubt_s = 0.0
    for times in shared:
        if node not in times:
            continue
        there = [moment + known[other].offset_ns for other in times if other in known for moment in times[other]]
        if there:
            offsets.append(int(median(there)) - int(median(times[node])))
            doubt_s = max(doubt_s, *(known[other].uncertainty_s for other in times if other in known))
    if not offsets:
        return None
    middle = int(median(offsets))
    agreeing = [offset for offset in offsets if abs(offset - middle) <= AGREE_NS]
    if len(agreeing) * 2 <= len(offsets):
        return None
    spread_s = (max(agreeing) - min(agreeing)) / SECOND_NS
    return Skew(int(median(agreeing)), doubt_s + EVENT_S + spread_s)
