"""Rule `straggler`: a rank that came later than the others waited is the first cause of their timeouts.

Compared are the times at which the ranks of one communicator issued the same collective (of the task report), and the
times at which they entered creation of the communicator (Entry- lines, when it never came up). Gap of last to first
> limit + uncertainty of the clocks: the last one is the straggler, at its own record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from plogscope.chain.checkers.accuse import suspects
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import (
    SECOND_NS,
    connect_limit_ns,
    exec_limit_ns,
    incident_of,
    number,
    these,
    uncertainty_ns,
)
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.checkers.signatures import COMM_INIT_SUCCESS, ENTRY_COMM_INIT
from plogscope.chain.checkers.tasks import TaskReport, by_communicator, task_reports
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 55
RULE = "straggler"
PAIR = 2

Arrival = tuple[int, Finding, int | None]
"""Time on the reference clock, the line that says it, world rank."""


def check(view: JobView) -> list[CheckerResult]:
    """Stragglers of collectives, then of communicator creation."""
    seats = find_seats(view)
    groups = by_communicator(task_reports(view, seats)).values()
    late = [_late(view, _issues(members), exec_limit_ns(view)) for members in groups]
    late += [_late(view, arrivals, connect_limit_ns(view)) for arrivals in _entries(view, seats).values()]
    return [result for result in late if result is not None]


def _issues(members: Sequence[TaskReport]) -> list[Arrival]:
    """When the members issued the operation that most of them speak of."""
    same: dict[tuple[int | None, str], list[Arrival]] = defaultdict(list)
    for one in members:
        if one.issued_ns is not None:
            line = one.issued or one.finding
            same[one.index, one.operation].append((one.issued_ns, line, one.rank))
    return max(same.values(), key=len, default=[])


def _entries(view: JobView, seats: Seats) -> dict[str, list[Arrival]]:
    """Communicators that never came up → when each of their ranks entered."""
    ready = {one.fields.get("communicator") for one in these(view, COMM_INIT_SUCCESS)}
    found: dict[str, dict[int, Arrival]] = defaultdict(dict)
    for finding in these(view, ENTRY_COMM_INIT):
        name, inside = finding.fields.get("communicator", ""), number(finding, "rank")
        if not name or name in ready or inside is None or finding.order_ns is None:
            continue
        rank = finding.actor.rank if finding.actor.rank is not None else seats.world(name, inside)
        found[name].setdefault(inside, (finding.order_ns, finding, rank))
    return {name: list(arrivals.values()) for name, arrivals in found.items()}


def _late(view: JobView, arrivals: Sequence[Arrival], limit: int) -> CheckerResult | None:
    if len(arrivals) < PAIR:
        return None
    ordered = sorted(arrivals, key=lambda one: one[0])
    last_ns, finding, rank = ordered[-1]
    gap = last_ns - ordered[0][0]
    if limit == 0 or gap <= limit + uncertainty_ns((ordered[0][1], finding), view.cluster.clocks):
        return None
    who = say("who.rank", rank=rank) if rank is not None else say("who.process", pid=finding.actor.pid or "?")
    reason = say("checker.straggler", who=who, gap=round(gap / SECOND_NS), limit=round(limit / SECOND_NS))
    incident = incident_of(view, finding)
    return CheckerResult(
        rule=RULE,
        kind="root",
        reason=reason,
        incident=incident.id if incident else None,
        suspects=suspects(view, [rank], reason) if rank is not None else (),
        proven=True,
        finding=finding,
    )
