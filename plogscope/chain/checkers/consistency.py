"""Rule `consistency`: when ranks compare the arguments of a collective, the minority is the first cause.

Each end prints its own value and that of its peer. Votes: the own value of every rank that reports, or the peer's value
when the peer does not report. The odd rank's own record states it; if it has none, a record of its peer does, and the
rank is the only one of the job that does not report. A tie is not decided: the earliest record stands for both ends,
and both are suspect.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import msgspec

from plogscope.chain.checkers.accuse import at_fault, process_of_rank, suspect
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of, incidents_of, number, place, these
from plogscope.chain.checkers.seats import find_seats
from plogscope.chain.checkers.signatures import PARAMETERS, TRANSPORT_INIT
from plogscope.model.chain import Suspect
from plogscope.model.record import Actor, Finding, Writer
from plogscope.model.vocabulary import Text
from plogscope.wording import say

ORDER = 10
PAIR = 2


def check(view: JobView) -> list[CheckerResult]:
    """One result for the first argument that differs."""
    by_variable: dict[str, list[Finding]] = defaultdict(list)
    for finding in these(view, *PARAMETERS):
        if finding.fields.get("value") is not None and finding.fields.get("expected") is not None:
            by_variable[finding.fields.get("variable", "")].append(finding)
    for variable, findings in by_variable.items():
        own = _own_records(findings)
        odd, decided = _odd(own, findings)
        absent = decided and _is_peer(odd, own)
        incident = incident_of(view, odd)
        if incident is None:
            continue
        key = "checker.odd_peer" if absent else "checker.odd_argument" if decided else "checker.different_argument"
        reason = say(key, variable=variable, here=odd.fields["value"], there=odd.fields["expected"])
        same = [one.actor.rank for one in own if one.fields["value"] == odd.fields["value"]] if not absent else []
        return [
            CheckerResult(
                rule="consistency",
                kind="root",
                reason=reason,
                incident=incident.id,
                proven=decided,
                finding=odd,
                covers=incidents_of(view, *PARAMETERS),
                actor=_silent_peer(view, own) if absent else None,
                suspects=at_fault(view, same, reason) if decided else _both_ends(view, own, reason),
            )
        ]
    return []


def _both_ends(view: JobView, own: Sequence[Finding], reason: Text) -> tuple[Suspect, ...]:
    """The two ranks of which nothing tells which one is wrong; where no line says a rank, its failed link does."""
    seats = find_seats(view)
    linked = {one.writer: seats.world(None, number(one, "rank")) for one in these(view, TRANSPORT_INIT)}
    known = [one.actor.rank if one.actor.rank is not None else linked.get(one.writer) for one in own]
    ranks = sorted({rank for rank in known if rank is not None})
    need = say("suspect.either_end")
    ends = [msgspec.structs.replace(suspect(view, rank, reason), need=need) for rank in ranks]
    return tuple(ends) if len(ends) == PAIR else ()


def _own_records(findings: Sequence[Finding]) -> list[Finding]:
    """One record of each rank, its plog's rather than what its output repeats, by rank and time."""
    own: dict[Writer, Finding] = {}
    for finding in sorted(findings, key=lambda one: (-one.nearness, place(one))):
        own.setdefault(finding.writer, finding)
    return sorted(own.values(), key=lambda one: (one.actor.rank is None, one.actor.rank or 0, place(one)))


def _odd(own: Sequence[Finding], findings: Sequence[Finding]) -> tuple[Finding, bool]:
    """The record of the minority (or of a peer that names it), and whether the votes decide."""
    votes = Counter(finding.fields["value"] for finding in own)
    told = set(votes)
    for value in {one.fields["expected"] for one in own} - told:
        votes[value] += 1
    least, most = min(votes.values()), max(votes.values())
    if least == most or sum(votes.values()) <= PAIR:
        return findings[0], False
    value = min(votes, key=lambda one: (votes[one], one not in told))
    stating = [one for one in own if one.fields["value"] == value]
    return (stating or [one for one in own if one.fields["expected"] == value])[0], True


def _is_peer(odd: Finding, own: Sequence[Finding]) -> bool:
    """True when the record is of a rank of the majority, which names the other value."""
    votes = Counter(finding.fields["value"] for finding in own)
    return votes[odd.fields["value"]] == max(votes.values()) and odd.fields["expected"] not in votes


def _silent_peer(view: JobView, own: Sequence[Finding]) -> Actor:
    """The only rank of the job that does not report; nobody, when several do not."""
    reporting = {one.actor.rank for one in own}
    expected = view.cluster.expected_ranks or 0
    missing = [rank for rank in range(expected) if rank not in reporting] if expected <= len(own) + 1 else []
    if len(missing) != 1 or None in reporting:
        return Actor()
    process = process_of_rank(view, missing[0])
    if process is None:
        return Actor(rank=missing[0])
    return Actor(node=process.node, pid=process.pid, device=process.device, rank=missing[0])
