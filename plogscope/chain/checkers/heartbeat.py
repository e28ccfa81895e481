"""Rule `heartbeat`: the location of a cluster exception is suspect; its discoverer and its writer are not.

Priority: error CQE > stuck > lost. Only the places of the highest kind that is reported count, and of these the ones
that were noticed first: later ones are processes that leave because of the failure. A place on a server of which the
job's ranks are known, but where none of them sits, is an event of another communicator: stale. A rank that reports a
wait itself is dropped, unless all are: two ranks that declare each other lost are a cut network, both suspect.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timezone

from plogscope.chain.checkers.accuse import suspect, suspect_place
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import (
    incident_of,
    is_own_failure,
    number,
    on_reference_clock,
    these,
    uncertainty_ns,
)
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.checkers.signatures import HEARTBEAT
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 40
KINDS = ("error cqe", "stuck", "lost")
TOGETHER_NS = 45 * SECOND_NS
"""A lost heartbeat is noticed after 30 s of silence; events within that time can have one cause."""

Place = tuple[str, int]


def check(view: JobView) -> list[CheckerResult]:
    """One result: the places of the strongest kind of event."""
    seats = find_seats(view)
    places: dict[str, dict[Place, Finding]] = defaultdict(dict)
    for finding in these(view, *HEARTBEAT):
        device, kind = number(finding, "remote_device"), _kind(finding)
        node = finding.fields.get("remote_address", "")
        if device is not None and kind and not _stale(view, seats, node, device):
            places[kind].setdefault((node, device), finding)
    strongest = next((kind for kind in KINDS if places.get(kind)), None)
    if strongest is None:
        return []
    found = _first_noticed(view, _quiet(view, seats, places[strongest]))
    ranks = {seats.at(*place) for place in found}
    if any(is_own_failure(one) and one.actor.rank is not None and one.actor.rank in ranks for one in view.incidents):
        return []
    first = min(found.values(), key=_noticed_ns)
    who = ", ".join(f"{node}/{device}" for node, device in sorted(found))
    reason = say("checker.heartbeat", kind=strongest, who=who)
    accused = tuple(
        suspect(view, rank, reason) if (rank := seats.at(*place)) is not None else suspect_place(*place, reason)
        for place in sorted(found)
    )
    incident = incident_of(view, first)
    return [
        CheckerResult(
            rule="heartbeat",
            kind="suspects",
            reason=reason,
            incident=incident.id if incident else None,
            suspects=accused,
            finding=first,
        )
    ]


def _quiet(view: JobView, seats: Seats, found: dict[Place, Finding]) -> dict[Place, Finding]:
    talking = {one.actor.rank for one in view.incidents if one.waits and one.actor.rank is not None}
    quiet = {where: finding for where, finding in found.items() if seats.at(*where) not in talking}
    return quiet or found


def _first_noticed(view: JobView, found: dict[Place, Finding]) -> dict[Place, Finding]:
    """Without the events that, as far as the clocks prove it, came too late to have the cause of the others."""

    def too_late(finding: Finding) -> bool:
        return any(
            _noticed_ns(finding) - _noticed_ns(other)
            > TOGETHER_NS + uncertainty_ns((finding, other), view.cluster.clocks)
            for other in found.values()
        )

    return {where: finding for where, finding in found.items() if not too_late(finding)}


def _noticed_ns(finding: Finding) -> int:
    """When the event arrived on the reference clock; where that is not printed, when the line was written."""
    text = finding.fields.get("time", "")
    try:
        moment = datetime.strptime(text, "%a %b %d %H:%M:%S %Y").replace(tzinfo=timezone.utc)
    except ValueError:
        return finding.order_ns or 0
    return on_reference_clock(finding, int(moment.timestamp()) * SECOND_NS) or 0


def _kind(finding: Finding) -> str | None:
    text = finding.fields.get("kind", "").lower()
    return next((kind for kind in KINDS if kind in text), None)


def _stale(view: JobView, seats: Seats, node: str, device: int) -> bool:
    """True when all ranks of the job have a known place and none of them is this one."""
    known = set(seats.by_device.values())
    complete = view.cluster.expected_ranks is not None and len(known) >= view.cluster.expected_ranks
    return complete and seats.knows_server(node) and seats.at(node, device) is None
