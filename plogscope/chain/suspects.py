"""When only witnesses are left: the ranks that they wait for, and the ranks that nobody heard from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.reading import MAX_RANKS
from plogscope.chain.checkers.seats import Seats, find_seats
from plogscope.chain.edges import strength
from plogscope.model.chain import Cluster, Incident, Suspect
from plogscope.model.record import Finding
from plogscope.model.signature import Signature
from plogscope.wording import say

NO_RANK = 4_294_967_295
MAX_SUSPECTS = 64
_NUMBER = re.compile(r"\d{1,10}")


def suspects_of(
    witnesses: Sequence[Incident],
    signatures: Mapping[str, Signature],
    cluster: Cluster,
    path_of: Mapping[int, str],
    findings: Sequence[Finding] = (),
) -> tuple[Suspect, ...]:
    """Ranks that waits name as the peer that did not come, the silent ones first.

    A rank that reports a failure itself is a witness like the others: it is suspect only if no silent rank is named.
    If no rank is named, the rank that the launcher saw exit first is suspect, else ranks that left no log.

    Waits name ranks of a communicator. They are told as world ranks where the membership is known; of a part of the job
    whose members nothing says, nobody is named by number.
    """
    seats = find_seats(JobView(tuple(witnesses), tuple(findings), cluster))
    named = _named(witnesses, signatures, seats)
    seen = {process.rank for process in cluster.processes if process.rank is not None}
    talking = {one.actor.rank for one in witnesses if one.actor.rank is not None}
    silent = [rank for rank in named if rank not in seen]
    quiet = [rank for rank in named if rank not in talking]
    ranks = silent or quiet or list(named)
    if ranks:
        return tuple(_suspect(rank, named[rank], path_of) for rank in sorted(ranks)[:MAX_SUSPECTS])
    heard = seen | {one.actor.rank for one in findings if one.actor.rank is not None} | talking
    return (
        _first_exit(findings, path_of)
        or _failing(witnesses, path_of)
        or _unheard(cluster, seen, witnesses)
        or _hole(seen | talking, witnesses)
        or _calm(heard - talking, talking, witnesses)
        or _store_keeper(heard, witnesses)
    )


def _calm(calm: set[int], waiting: set[int], witnesses: Sequence[Incident]) -> tuple[Suspect, ...]:
    """The few ranks that say nothing of a wait when all that is wrong is that most others waited too long."""
    if not calm or len(waiting) < max(MOST_WAIT, len(calm)) or not all(one.waits for one in witnesses):
        return ()
    return tuple(
        Suspect(
            rank=rank,
            why=say("suspect.calm", count=len(waiting)),
            need=say("suspect.need_what_it_did", who=say("who.rank", rank=rank)),
            logged=True,
        )
        for rank in sorted(calm)[:MAX_SUSPECTS]
    )


def _store_keeper(heard: set[int], witnesses: Sequence[Incident]) -> tuple[Suspect, ...]:
    """Rank 0, when nobody reaches torch's store, which it keeps, and nothing was heard of it."""
    if 0 in heard or not any(one.signature == NO_STORE for one in witnesses) or not all(one.waits for one in witnesses):
        return ()
    who = say("who.rank", rank=0)
    return (Suspect(rank=0, why=say("suspect.store_keeper"), need=say("suspect.need_log_any_time", who=who)),)


NO_STORE = "hccl/store-client-timeout"
MOST_WAIT = 2


def _first_exit(findings: Sequence[Finding], path_of: Mapping[int, str]) -> tuple[Suspect, ...]:
    """The rank that mpirun or an executor saw end, or that of torchrun's block on the first worker that exited."""
    for head in findings:
        if head.signature in NAME_THE_DEAD and head.fields.get("rank", "").isdecimal():
            return (_exited(head, path_of),)
    for head in findings:
        if head.signature != FIRST_EXIT:
            continue
        for row in findings:
            if (
                row.signature == SUMMARY_RANK
                and row.source == head.source
                and 0 < row.line - head.line <= SUMMARY_LINES
            ):
                return (_exited(row, path_of),)
    return ()


def _exited(row: Finding, path_of: Mapping[int, str]) -> Suspect:
    why = say("suspect.first_exit", file=path_of[row.source], line=row.line)
    who = say("who.rank", rank=row.fields["rank"])
    return Suspect(rank=int(row.fields["rank"]), why=why, need=say("suspect.need_log_any_time", who=who))


def _failing(witnesses: Sequence[Incident], path_of: Mapping[int, str]) -> tuple[Suspect, ...]:
    """The only rank whose own log tells that it failed, if it does not tell of what, and not that it waited."""
    own = [one for one in witnesses if one.role == "symptom" and not one.waits and _is_own_end(one)]
    ranks = {one.actor.rank for one in own}
    if len(ranks) != 1 or None in ranks:
        return ()
    lead = own[0].lead
    return (
        Suspect(
            rank=own[0].actor.rank,
            why=say("suspect.failing", rank=own[0].actor.rank, file=path_of[lead.source], line=lead.line),
            need=say("suspect.need_log_any_time", who=say("who.rank", rank=own[0].actor.rank)),
        ),
    )


def _is_own_end(incident: Incident) -> bool:
    """True for a traceback that breaks off, and for a remark that something failed in the process itself."""
    return incident.signature is None or incident.subcategory == WRAPPER


WRAPPER = "wrapper"
"""Subcategory of messages that only pass on that something failed."""

NAME_THE_DEAD = ("launcher/mpi-abort", "python/worker-died")
"""Signatures of lines that tell of one end and name its rank: of mpirun and of vLLM's executor."""

FIRST_EXIT = "launcher/first-observed-failure"
SUMMARY_RANK = "launcher/summary-rank"
SUMMARY_LINES = 8


def _named(witnesses: Sequence[Incident], signatures: Mapping[str, Signature], seats: Seats) -> dict[int, Incident]:
    """World rank → the first incident that names it, for ranks that are named most."""
    votes: Counter[int] = Counter()
    first: dict[int, Incident] = {}
    for incident in witnesses:
        communicator = _communicator(incident, seats)
        for finding in incident.findings:
            signature = signatures.get(finding.signature or "")
            if signature is None or not signature.chain.waits:
                continue
            for name, value in finding.fields.items():
                if signature.extract[name].meaning in ("remote_rank", "missing_ranks"):
                    for number in map(int, _NUMBER.findall(value)):
                        rank = _world(seats, communicator, number)
                        if rank is not None:
                            votes[rank] += 1
                            first.setdefault(rank, incident)
    return {rank: first[rank] for rank, _ in votes.most_common(MAX_SUSPECTS)}


def _communicator(incident: Incident, seats: Seats) -> str | None:
    """The communicator that the lines of a wait are about, by name or by the end of the operation's tag."""
    for finding in incident.findings:
        if finding.fields.get("communicator"):
            return finding.fields["communicator"]
    tags = [finding.fields.get("tag", "") for finding in incident.findings]
    known = sorted({*seats.sizes, *seats.members}, key=len, reverse=True)
    return next((name for tag in tags if tag for name in known if name and tag.endswith(name)), None)


def _world(seats: Seats, communicator: str | None, number: int) -> int | None:
    if number == NO_RANK:
        return None
    if communicator is None and len(set(seats.sizes.values())) > 1:
        return None  # the job has communicators of several sizes, and nothing says of which one this is a rank
    return seats.world(communicator, number)


def _suspect(rank: int, witness: Incident, path_of: Mapping[int, str]) -> Suspect:
    lead = witness.lead
    who = say("who.rank", rank=rank)
    return Suspect(
        rank=rank,
        why=say("suspect.named", title=witness.title, file=path_of[lead.source], line=lead.line),
        need=say("suspect.need_log_any_time", who=who),
    )


def _hole(heard: set[int], witnesses: Sequence[Incident]) -> tuple[Suspect, ...]:
    """The ranks missing between 0 and the highest rank that is heard, when most of them are heard.

    This decides where no line says how many ranks the job has; a bundle of a few ranks of many is no such job.
    """
    missing = sorted(set(range(min(max(heard, default=0), MAX_RANKS))) - heard)
    if len(missing) * 2 > len(heard) or not any(one.waits or strength(one) > 0 for one in witnesses):
        return ()
    return tuple(
        Suspect(
            rank=rank,
            why=say("suspect.hole", highest=max(heard)),
            need=say("suspect.need_log_any_time", who=say("who.rank", rank=rank)),
        )
        for rank in missing[:MAX_SUSPECTS]
    )


def _unheard(cluster: Cluster, seen: set[int], witnesses: Sequence[Incident]) -> tuple[Suspect, ...]:
    expected = cluster.expected_ranks
    if expected is None or not seen or not any(one.waits or strength(one) > 0 for one in witnesses):
        return ()
    missing = [rank for rank in range(min(expected, MAX_RANKS)) if rank not in seen]
    if not missing or len(missing) == expected:
        return ()
    return tuple(
        Suspect(
            rank=rank,
            why=say("suspect.silent", expected=expected),
            need=say("suspect.need_log_any_time", who=say("who.rank", rank=rank)),
        )
        for rank in missing[:MAX_SUSPECTS]
    )
