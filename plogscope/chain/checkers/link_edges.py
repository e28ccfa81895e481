"""Rule `link-edges`: every victim of a failed link names its peer; the peer that names nobody is where the chain ends.

Edges local → peer are read from all forms of the message (LINK_ERROR_INFO rows, transport, P2P, the probe's result).
- A sink without a failure of its own is suspect; named by several victims it outweighs sinks that fewer name.
- A sink with a failure of its own is left to that failure.
- Two ranks that name each other: both ends are suspect (the link), unless one began to wait more than the limit later:
  then it is the straggler, at its own record.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from plogscope.chain.checkers.accuse import listed, suspect, suspect_place
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import (
    connect_limit_ns,
    incident_of,
    is_own_failure,
    number,
    these,
    uncertainty_ns,
)
from plogscope.chain.checkers.seats import Seats, find_seats, server
from plogscope.chain.checkers.signatures import (
    LINK_DETECTED,
    LINK_ROW,
    P2P_TIMEOUT,
    TRANSPORT_CREATE,
    TRANSPORT_INIT,
)
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.record import Finding
from plogscope.model.vocabulary import Text
from plogscope.wording import say

ORDER = 60
RULE = "link-edges"


class End(NamedTuple):
    """One end of a link: its world rank, or the server and device when nothing says the rank."""

    rank: int | None
    node: str = ""
    device: int | None = None


def check(view: JobView) -> list[CheckerResult]:
    """One result: the ends of the chains of waits."""
    peers, lines = _edges(view, find_seats(view))
    sinks = {peer for targets in peers.values() for peer in targets if peer not in peers}
    failing = {one.actor.rank for one in view.incidents if is_own_failure(one) and one.actor.rank is not None}
    if sinks:
        quiet = {sink for sink in sinks if sink.rank is None or sink.rank not in failing}
        return _suspects(view, _most_named(quiet, peers), lines, "checker.link_sink") if quiet else []
    pair = next(((a, b) for a in sorted(peers) for b in sorted(peers[a]) if a < b and a in peers.get(b, set())), None)
    if pair is None or {end.rank for end in pair} & failing:
        return []
    return _late_end(view, pair, lines) or _suspects(view, set(pair), lines, "checker.link_pair")


def _edges(view: JobView, seats: Seats) -> tuple[dict[End, set[End]], dict[End, Finding]]:
    """Victim → peers; end → the first line that it wrote, else the first that names it."""
    peers: dict[End, set[End]] = defaultdict(set)
    own: dict[End, Finding] = {}
    about: dict[End, Finding] = {}
    for finding in these(view, LINK_DETECTED, P2P_TIMEOUT, LINK_ROW, TRANSPORT_INIT, TRANSPORT_CREATE):
        here, there = _ends(finding, seats)
        if here is None or there is None or here == there:
            continue
        peers[here].add(there)
        own.setdefault(here, finding)
        about.setdefault(there, finding)
    return dict(peers), about | own


def _ends(finding: Finding, seats: Seats) -> tuple[End | None, End | None]:
    actor = finding.actor
    remote_device, remote = number(finding, "remote_device"), finding.fields.get("remote_address")
    if finding.signature == P2P_TIMEOUT:
        here = _end(actor.rank, seats, actor.node, number(finding, "device"))
        return here, _end(None, seats, actor.node, remote_device)
    if finding.signature == LINK_DETECTED:
        here = _end(None, seats, finding.fields.get("address"), number(finding, "device"))
        if here.rank is None and actor.rank is not None and here.device == actor.device:
            here = End(actor.rank)
        return here, _end(None, seats, remote, remote_device)
    inside, peer = number(finding, "rank"), number(finding, "remote_rank")
    rank = seats.at(remote, remote_device)
    rank = rank if rank is not None else seats.world(None, peer)
    here_rank = actor.rank if actor.rank is not None else seats.world(None, inside)
    return (
        End(here_rank) if here_rank is not None else None,
        _end(rank, seats, remote, remote_device) if rank is not None or remote else None,
    )


def _end(rank: int | None, seats: Seats, node: str | None, device: int | None) -> End:
    """The rank if it can be found, else the place."""
    rank = rank if rank is not None else seats.at(node, device)
    return End(rank) if rank is not None else End(None, server(node), device)


def _most_named(sinks: set[End], peers: Mapping[End, set[End]]) -> set[End]:
    votes = {sink: sum(sink in targets for targets in peers.values()) for sink in sinks}
    return {sink for sink, count in votes.items() if count == max(votes.values())}


def _suspects(view: JobView, ends: set[End], lines: Mapping[End, Finding], key: str) -> list[CheckerResult]:
    ranks = [end.rank for end in ends if end.rank is not None]
    places = [f"{end.node or '?'}/{end.device}" for end in ends if end.rank is None]
    who = ", ".join(filter(None, [listed(ranks), *sorted(places)]))
    reason = say(key, who=who)
    ordered = sorted(ends, key=lambda end: (end.rank is None, end.rank or 0, end.node, end.device or 0))
    accused = tuple(
        suspect(view, end.rank, reason) if end.rank is not None else suspect_place(end.node or None, end.device, reason)
        for end in ordered
    )
    line = lines[ordered[0]]
    incident = incident_of(view, line)
    return [
        CheckerResult(
            rule=RULE,
            kind="suspects",
            reason=reason,
            incident=incident.id if incident else None,
            suspects=accused,
            finding=line,
        )
    ]


def _late_end(view: JobView, pair: tuple[End, End], lines: Mapping[End, Finding]) -> list[CheckerResult]:
    first, last = sorted((lines[end] for end in pair), key=lambda one: one.order_ns or 0)
    incident = incident_of(view, last)
    if first.order_ns is None or last.order_ns is None or incident is None:
        return []
    gap, limit = last.order_ns - first.order_ns, connect_limit_ns(view)
    if gap <= limit + uncertainty_ns((first, last), view.cluster.clocks):
        return []
    who: Text = say("who.rank", rank=last.actor.rank) if last.actor.rank is not None else say("who.writer")
    reason = say("checker.straggler", who=who, gap=round(gap / SECOND_NS), limit=round(limit / SECOND_NS))
    return [CheckerResult(rule=RULE, kind="root", reason=reason, incident=incident.id, proven=True, finding=last)]
