"""Rule `execution`: in one communicator the rank that is at another operation, or that does not report, is the one.

1. Among the reports of one collective the minority with another index (a tie: the lower one), another operation at
   the same index, or another count than most is the odd rank: it is the first cause, at its own record. Ranks that
   all differ are no majority. A rank that says nothing and that the heartbeat or the network lost explains more than a
   difference.
2. Otherwise members that did not report and have no failure of their own are suspects. Those that any report names as
   the peer it waited for come first. Absence is proven when most of the communicator's members did report.
Operations between two ranks are left out of 1: their counters differ from rank to rank.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from plogscope.chain.checkers.accuse import listed, suspects
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import (
    NEVER_NS,
    exec_limit_ns,
    incident_of,
    is_own_failure,
    number,
    these,
    uncertainty_ns,
)
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.checkers.signatures import CQE, HEARTBEAT
from plogscope.chain.checkers.tasks import TaskReport, by_communicator, task_reports
from plogscope.model.vocabulary import Text
from plogscope.wording import say

ORDER = 70
RULE = "execution"
PAIR = 2
ODD_COUNT = "checker.odd_count"
EQUAL_COUNTS = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce")
"""Operations in which every rank passes the same count."""


def check(view: JobView) -> list[CheckerResult]:
    """The odd ranks of all communicators first, then the ranks that did not report."""
    seats = find_seats(view)
    reports = task_reports(view, seats)
    groups = by_communicator(reports)
    lost = _is_anybody_lost(view, seats, reports)
    odd = [] if lost else [result for members in groups.values() if (result := _odd_rank(view, members)) is not None]
    return odd or _silent_members(view, seats, groups, reports)


def _is_anybody_lost(view: JobView, seats: Seats, reports: Sequence[TaskReport]) -> bool:
    """True when packets to a rank got lost, or the heartbeat of one that does not report: the others stop anywhere."""
    if these(view, *CQE):
        return True
    talking = {one.rank for one in reports}
    places = ((one.fields.get("remote_address"), number(one, "remote_device")) for one in these(view, *HEARTBEAT))
    return any(_is_silent(seats, talking, *where) for where in places)


def _is_silent(seats: Seats, talking: set[int | None], address: str | None, device: int | None) -> bool:
    """True for a place of a rank that does not report, and for one that only a rank of no known place can have."""
    rank = seats.at(address, device)
    if rank is not None:
        return rank not in talking
    placed = set(seats.by_device.values())
    return device is not None and bool(placed) and (seats.expected is None or len(placed) < seats.expected)


def _odd_rank(view: JobView, members: Sequence[TaskReport]) -> CheckerResult | None:
    comparable = [one for one in members if one.collective]
    if len(comparable) < PAIR or not _within_limit(view, comparable):
        return None
    differences: tuple[tuple[str, Callable[[TaskReport], int | str | None]], ...] = (
        ("checker.odd_index", lambda one: one.index),
        ("checker.odd_operation", lambda one: one.operation or None),
        (ODD_COUNT, lambda one: one.count if one.operation in EQUAL_COUNTS else None),
    )
    for key, trait in differences:
        odd = _minority(view, comparable, trait)
        if odd is None or (key == ODD_COUNT and not _outvoted(comparable, odd, trait)):
            continue
        usual = Counter(trait(one) for one in comparable if trait(one) not in (None, trait(odd))).most_common(1)[0][0]
        reason = say(key, who=_who(odd), here=trait(odd), there=usual, communicator=odd.communicator)
        return _root(view, odd, reason, proven=len(comparable) > PAIR or odd.size == PAIR)
    return None


def _minority(
    view: JobView, members: Sequence[TaskReport], trait: Callable[[TaskReport], int | str | None]
) -> TaskReport | None:
    """The first of the members with the rarest value; a tie goes to the lower index or the earlier operation.

    Where nothing relates the clocks of the members, no operation is the earlier one.
    """
    told = [one for one in members if trait(one) is not None]
    votes = Counter(trait(one) for one in told)
    if len(votes) < PAIR or (len(votes) > PAIR and 2 * max(votes.values()) <= len(told)):
        return None
    timed = uncertainty_ns([one.finding for one in told], view.cluster.clocks) < NEVER_NS

    def rarity(one: TaskReport) -> tuple[int, int, int]:
        value = trait(one)
        when = one.issued_ns if one.issued_ns is not None else one.at_ns
        return (votes[value], value if isinstance(value, int) else 0, when if timed and when is not None else 1 << 62)

    odd = min(told, key=rarity)
    tied = any(trait(one) != trait(odd) and rarity(one)[:2] == rarity(odd)[:2] for one in told)
    return None if tied and not timed else odd


def _outvoted(members: Sequence[TaskReport], odd: TaskReport, trait: Callable[[TaskReport], int | str | None]) -> bool:
    """True when most of those that tell agree on another value, or when the two are all there are.

    An index or an operation says who is behind, so a tie has an answer; of two counts either can be the wrong one.
    """
    votes = Counter(value for one in members if (value := trait(one)) is not None)
    return odd.size == PAIR or any(2 * count > votes.total() for value, count in votes.items() if value != trait(odd))


def _within_limit(view: JobView, members: Sequence[TaskReport]) -> bool:
    times = [one.at_ns for one in members if one.at_ns is not None]
    if len(times) < PAIR:
        return True
    slack = uncertainty_ns([one.finding for one in members], view.cluster.clocks)
    return max(times) - min(times) <= exec_limit_ns(view) + slack


def _root(view: JobView, report: TaskReport, reason: Text, *, proven: bool) -> CheckerResult:
    incident = incident_of(view, report.finding)
    return CheckerResult(
        rule=RULE,
        kind="root",
        reason=reason,
        incident=incident.id if incident else None,
        proven=proven,
        finding=report.finding,
    )


def _who(report: TaskReport) -> Text:
    if report.rank is not None:
        return say("who.rank", rank=report.rank)
    return say("who.process", pid=report.finding.actor.pid) if report.finding.actor.pid else say("who.writer")


def _silent_members(
    view: JobView, seats: Seats, groups: dict[str, list[TaskReport]], reports: Sequence[TaskReport]
) -> list[CheckerResult]:
    talking = {one.rank for one in reports if one.rank is not None}
    failing = {one.actor.rank for one in view.incidents if is_own_failure(one) and one.actor.rank is not None}
    missing: Counter[int] = Counter()
    counted: set[int] = set()
    named: Counter[int] = Counter()
    for name, members in groups.items():
        for one in members:
            peer = seats.world(name, one.remote)
            if peer is not None and peer not in talking:
                named[peer] += 1
        size = next((one.size for one in members if one.size is not None), None)
        inside = {one.inside for one in members}
        if size is None or None in inside or not len(inside) < size <= 2 * len(inside):
            continue
        absent = [seats.world(name, rank) for rank in range(size) if rank not in inside]
        found = {rank for rank in absent if rank is not None and rank not in talking}
        missing.update(found)
        counted |= found if len(inside) >= PAIR else set()
    both = set(missing) & set(named)
    chosen = both or set(missing) or set(named)
    if not chosen or (set(missing) | set(named)) & failing:
        return []
    proven = chosen <= counted and (chosen == set(missing) or _is_unanimous(reports, named))
    key = "checker.not_reporting" if chosen == set(missing) else "checker.waited_for"
    reason = say(key, ranks=listed(chosen), count=len(talking))
    return [
        CheckerResult(rule=RULE, kind="suspects", reason=reason, suspects=suspects(view, chosen, reason), proven=proven)
    ]


def _is_unanimous(reports: Sequence[TaskReport], named: Counter[int]) -> bool:
    """True when several ranks name the peer that they waited for, and all the same one, of those that are not heard."""
    naming = {one.member for one in reports if one.remote is not None}
    return len(named) == 1 and len(naming) >= UNANIMOUS and sum(named.values()) >= len(naming)


UNANIMOUS = 3
