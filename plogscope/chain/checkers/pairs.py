"""Rule `pairs`: operations between two ranks that cannot meet.

1. Two ranks that both send to each other, or both receive from each other: neither comes to the other half.
2. A rank that receives from somebody else than the rank that sends to it: it is the first cause, at its own report.

An operation is called by its side, or both sides share one tag that has the sender before the receiver.
"""

from __future__ import annotations

import re
from collections import defaultdict

from plogscope.chain.checkers.accuse import at_fault
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.checkers.tasks import TaskReport, task_reports
from plogscope.model.vocabulary import Text
from plogscope.wording import say

ORDER = 66
SEND, RECEIVE = "send", "receive"
_SIDES = {"Send": SEND, "Receive": RECEIVE, "Recv": RECEIVE}
_SHARED = re.compile(r"CommSendRecv_(\d{1,9})_(\d{1,9})(?:_|$)")
"""Ranks inside the communicator: who sends, who receives."""


def check(view: JobView) -> list[CheckerResult]:
    """The first pair that cannot meet."""
    seats = find_seats(view)
    reports = [one for one in task_reports(view, seats) if _side(one) and one.rank is not None]
    of_rank: dict[int | None, list[TaskReport]] = defaultdict(list)
    for report in reports:
        of_rank[report.rank].append(report)
    for one in reports:
        for other in of_rank[_peer(one, seats)]:
            if _side(one) == _side(other) and _peer(other, seats) == one.rank != other.rank:
                reason = say(f"checker.both_{_side(one)}", a=one.rank, b=other.rank)
                return [_root(view, one, [one.rank, other.rank], reason)]
    for sender in reports:
        receiver = next(iter(of_rank[_peer(sender, seats)]), None)
        if _side(sender) != SEND or receiver is None or _side(receiver) != RECEIVE:
            continue
        expected = _peer(receiver, seats)
        if expected is not None and expected != sender.rank:
            reason = say("checker.other_source", rank=receiver.rank, expected=expected, sender=sender.rank)
            return [_root(view, receiver, [receiver.rank], reason)]
    return []


def _side(report: TaskReport) -> str | None:
    """Which half of the operation the rank waits in; None if it is none between two, or does not tell."""
    shared = _SHARED.search(report.tag)
    if shared is None:
        return _SIDES.get(report.operation)
    return {int(shared[1]): SEND, int(shared[2]): RECEIVE}.get(-1 if report.inside is None else report.inside)


def _peer(report: TaskReport, seats: Seats) -> int | None:
    shared = _SHARED.search(report.tag)
    if shared is not None:
        return seats.world(report.communicator, int(shared[2 if _side(report) == SEND else 1]))
    return seats.world(report.communicator, report.remote)


def _root(view: JobView, report: TaskReport, ranks: list[int | None], reason: Text) -> CheckerResult:
    incident = incident_of(view, report.finding)
    return CheckerResult(
        rule="pairs",
        kind="root",
        reason=reason,
        incident=incident.id if incident else None,
        finding=report.finding,
        suspects=at_fault(view, ranks, reason),
    )
