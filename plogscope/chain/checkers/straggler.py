"""Rule `straggler`: a rank that came later than the others waited is the first cause of their timeouts.

Compared are the times at which the ranks of one communicator issued the same collective (of the task report), and the
times at which they entered creation of the communicator (Entry- lines, when it never came up). A member that did not
report there, because it came too late and then waited for somebody in another communicator, counts with that report.
When all ranks of the job report waits, of whatever kind, compared are also the times at which each began its first.
Gap > limit + uncertainty of the clocks: the last one is the straggler, at its own record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, product

import msgspec

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.negotiation import missing_ranks
from plogscope.chain.checkers.reading import connect_limit_ns, exec_limit_ns, incident_of, number, these, uncertainty_ns
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.checkers.signatures import COMM_INIT_SUCCESS, ENTRY_COMM_INIT, SETUP_AGENT, TASK_FAILED
from plogscope.chain.checkers.tasks import TaskReport, by_communicator, task_reports
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Incident
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 55
RULE = "straggler"

Arrival = tuple[int, Finding, int | None]
"""Time on the reference clock, the line that says it, world rank."""


def check(view: JobView) -> list[CheckerResult]:
    """Stragglers of collectives, then of communicator creation; the widest gap of each first."""
    seats = find_seats(view)
    reports = task_reports(view, seats)
    first = _first_of_rank(reports)
    late = [
        _late(view, [*_issues(members), *_elsewhere(members, seats, first)], exec_limit_ns(view))
        for members in by_communicator(reports).values()
    ]
    absent = missing_ranks(view)
    bringing_up = [_late(view, arrivals, connect_limit_ns(view)) for arrivals in _entries(view, seats)]
    late += [one for one in bringing_up if one is None or absent is None or _is_among(one[1], absent[0])]
    widest = sorted(filter(None, late), key=lambda one: -one[0])
    found = [] if _is_clock_of_many(widest) else [result for _, result in widest]
    return found or [result for _, result in filter(None, [_last_to_wait(view)])]


def _is_among(result: CheckerResult, missing: set[int]) -> bool:
    """True when the late rank is one that the root missed: who connected to it came in time."""
    return result.finding is not None and number(result.finding, "rank") in missing


def _last_to_wait(view: JobView) -> tuple[int, CheckerResult] | None:
    """The only rank that began to wait when the others had given up: until then it was busy elsewhere.

    Counted are the executions of collectives; a rank that failed by itself, or does not wait at all, is left to the
    rules that look for absence.
    """
    first: dict[int, Incident] = {}
    for incident in view.incidents:
        rank = incident.actor.rank
        if rank is None or incident.start_ns is None:
            continue
        if incident.role == "cause" and not incident.waits:
            return None
        known = first.get(rank)
        started = incident.time_ns is not None and incident.start_ns < incident.time_ns
        if incident.waits and started and (known is None or incident.start_ns < (known.start_ns or 0)):
            first[rank] = incident
    if len(first) < MANY or len(first) != view.cluster.expected_ranks:
        return None
    told = {one.actor.rank: one for one in reversed(these(view, TASK_FAILED))}
    arrivals = [(one.start_ns or 0, one.lead, rank) for rank, one in first.items()]
    ordered = sorted(start for start, _, _ in arrivals)
    limit = min((one.time_ns or 0) - (one.start_ns or 0) for one in first.values())
    if ordered[-2] - ordered[0] > limit // 4:
        return None
    late = _late(view, arrivals, limit)
    if late is None or late[1].finding is None:
        return late
    finding = told.get(late[1].finding.actor.rank, late[1].finding)
    home = incident_of(view, finding)
    shown = msgspec.structs.replace(late[1], finding=finding, incident=home.id if home else None)
    return late[0], shown


MANY = 3
"""With two ranks nothing tells the late one from the one that gave up early."""


def _first_of_rank(reports: Iterable[TaskReport]) -> dict[int, Arrival]:
    first: dict[int, Arrival] = {}
    for one in reports:
        if one.rank is not None and one.issued_ns is not None:
            arrival = (one.issued_ns, one.issued or one.finding, one.rank)
            first[one.rank] = min(first.get(one.rank, arrival), arrival, key=lambda each: each[0])
    return first


def _issues(members: Sequence[TaskReport]) -> list[Arrival]:
    """When the members issued the operation that most of them speak of."""
    same: dict[tuple[int | None, str], list[Arrival]] = defaultdict(list)
    for one in members:
        if one.issued_ns is not None:
            line = one.issued or one.finding
            same[one.index, one.operation].append((one.issued_ns, line, one.rank))
    return max(same.values(), key=len, default=[])


def _elsewhere(members: Sequence[TaskReport], seats: Seats, first: dict[int, Arrival]) -> list[Arrival]:
    """What the members that did not report here reported in other communicators."""
    name = members[0].communicator
    known = set(seats.members.get(name or "", {}).values())
    known |= {rank for one in members if (rank := seats.world(name, one.remote)) is not None}
    known -= {one.rank for one in members if one.rank is not None}
    return [first[rank] for rank in sorted(known) if rank in first]


def _entries(view: JobView, seats: Seats) -> list[list[Arrival]]:
    """Of each communicator that never came up: when its ranks entered.

    In logs of no known node, servers tell which processes share a clock; those of several are not compared.
    """
    servers = {one.writer: one.fields.get("address") for one in these(view, SETUP_AGENT)}
    ready = {one.fields.get("communicator") for one in these(view, COMM_INIT_SUCCESS)}
    found: dict[tuple[str, str | None], dict[int, Arrival]] = defaultdict(dict)
    for finding in these(view, ENTRY_COMM_INIT):
        name, inside = finding.fields.get("communicator", ""), number(finding, "rank")
        if not name or name in ready or inside is None or finding.order_ns is None:
            continue
        rank = finding.actor.rank if finding.actor.rank is not None else seats.world(name, inside)
        server = servers.get(finding.writer) if finding.actor.node is None else None
        found[name, server].setdefault(inside, (finding.order_ns, finding, rank))
    return [list(arrivals.values()) for arrivals in found.values()]


def _late(view: JobView, arrivals: Sequence[Arrival], limit: int) -> tuple[int, CheckerResult] | None:
    """The widest gap that the clocks prove. Ranks under one unproven clock still compare with each other."""
    by_clock: dict[int, list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        by_clock[arrival[1].clock].append(arrival)
    first = [min(group, key=lambda one: one[0]) for group in by_clock.values()]
    last = [max(group, key=lambda one: one[0]) for group in by_clock.values()]
    proven = [
        (late[0] - early[0], late)
        for early, late in product(first, last)
        if limit and late[0] - early[0] > limit + uncertainty_ns((early[1], late[1]), view.cluster.clocks)
    ]
    if not proven or _are_two_clocks(arrivals):
        return None
    gap, (_, finding, rank) = max(proven, key=lambda one: one[0])
    who = say("who.rank", rank=rank) if rank is not None else say("who.process", pid=finding.actor.pid or "?")
    reason = say("checker.straggler", who=who, gap=round(gap / SECOND_NS), limit=round(limit / SECOND_NS))
    incident = incident_of(view, finding)
    return gap, CheckerResult(
        rule=RULE,
        kind="root",
        reason=reason,
        incident=incident.id if incident else None,
        proven=True,
        finding=finding,
    )


def _is_clock_of_many(late: Sequence[tuple[int, CheckerResult]]) -> bool:
    """True where no file tells its node and many ranks are late, each in another communicator: so is their clock."""
    leads = [result.finding for _, result in late if result.finding is not None]
    return all(one.actor.node is None for one in leads) and len({one.writer for one in leads}) >= MANY


def _are_two_clocks(arrivals: Sequence[Arrival]) -> bool:
    """True where no file tells its node and the arrivals fall into two close groups: servers whose clocks differ."""
    if any(finding.actor.node is not None for _, finding, _ in arrivals):
        return False
    times = sorted(time for time, _, _ in arrivals)
    gap, cut = max(
        ((after - before, index) for index, (before, after) in enumerate(pairwise(times), 1)), default=(0, 0)
    )
    groups = times[:cut], times[cut:]
    return all(len(group) >= PAIR and (group[-1] - group[0]) * CLOSE < gap for group in groups)


PAIR = 2
CLOSE = 4
"""How much closer together than the groups are their members."""
