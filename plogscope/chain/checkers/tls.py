"""Rule `tls`: ranks print different TLS states: the minority is the first cause, at its own record.

The state is read from EI0016, which names the devices on both sides (one of the minority that prints nothing is named
by the place that the others print), else from the TlsStatus column of LINK_ERROR_INFO (the writer's own), else, where
links did not come up, from what the network service of each device printed when it started.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from plogscope.chain.checkers.accuse import at_fault
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of, incidents_of, number, place, these
from plogscope.chain.checkers.seats import Seats, find_seats, server
from plogscope.chain.checkers.signatures import LINK_ROW, LINK_TIMEOUT, SOCKET_ESTABLISH, TLS, TLS_SWITCH
from plogscope.model.record import Actor, Finding, Writer
from plogscope.wording import say

ORDER = 14
STATES = ("ENABLE", "DISABLE")
_PLACE = re.compile(r"\[([^\]/\n]{1,60})/(\d{1,4})\]")


def check(view: JobView) -> list[CheckerResult]:
    """One result when both states are printed."""
    seats = find_seats(view)
    return _listed(view, seats) or _rows(view, seats) or _switches(view, seats)


def _rows(view: JobView, seats: Seats) -> list[CheckerResult]:
    state: dict[Writer, Finding] = {}
    for finding in these(view, LINK_ROW):
        if finding.fields.get("tls") in STATES:
            state.setdefault(finding.writer, finding)
    return _minority(view, state, seats)


def _switches(view: JobView, seats: Seats) -> list[CheckerResult]:
    """What devices start with matters only to links that do not come up: a difference alone is no failure."""
    if not incidents_of(view, LINK_ROW, LINK_TIMEOUT, SOCKET_ESTABLISH):
        return []
    return _minority(view, {one.writer: one for one in these(view, TLS_SWITCH)}, seats)


def _minority(view: JobView, state: Mapping[Writer, Finding], seats: Seats) -> list[CheckerResult]:
    """The writers with the rarer of two states."""
    votes = Counter(_state(finding) for finding in state.values())
    if len(votes) < len(STATES):
        return []
    ordered = sorted(state.values(), key=lambda one: (votes[_state(one)], _rank(one, seats), place(one)))
    odd = ordered[0]
    ranks = [_rank(one, seats) for one in ordered if votes[_state(one)] == votes[_state(odd)]]
    return _result(view, odd, {**votes}, [rank for rank in ranks if rank < UNKNOWN], None, covers=())


UNKNOWN = 1 << 30


def _rank(finding: Finding, seats: Seats) -> int:
    """World rank of the writer; very large when nothing says it, so that it sorts last."""
    if finding.actor.rank is not None:
        return finding.actor.rank
    rank = seats.world(None, number(finding, "rank"))
    return rank if rank is not None else UNKNOWN


def _listed(view: JobView, seats: Seats) -> list[CheckerResult]:
    told = [one for one in these(view, *TLS) if one.fields.get("enabled") and one.fields.get("disabled")]
    if not told:
        return []
    sides = {
        "ENABLE": _PLACE.findall(told[0].fields["enabled"]),
        "DISABLE": _PLACE.findall(told[0].fields["disabled"]),
    }
    votes = {state: len(places) for state, places in sides.items()}
    if not all(votes.values()):
        return []
    odd_state = min(votes, key=lambda state: votes[state])
    tie = votes["ENABLE"] == votes["DISABLE"]
    places = [(server(node), int(device)) for node, device in sides[odd_state]]
    ranks = [rank for node, device in places if (rank := seats.at(node, device)) is not None]
    own = [one for one in told if _own_state(one) == odd_state and not tie]
    own.sort(key=lambda one: (-one.nearness, _rank(one, seats), place(one)))
    if own and (not ranks or own[0].actor.rank in ranks):
        ranks = ranks or sorted({one.actor.rank for one in own if one.actor.rank is not None})
        return _result(view, own[0], votes, ranks, None, covers=incidents_of(view, *TLS))
    speaker = next((one for one in sorted(told, key=place) if one.actor.rank in ranks), None)
    if speaker is not None and not tie:
        return _result(view, speaker, votes, ranks, None, covers=incidents_of(view, *TLS))
    actor = None if tie else _placed(places[0], min(ranks, default=None))
    return _result(view, told[0], votes, ranks, actor, covers=incidents_of(view, *TLS))


def _own_state(finding: Finding) -> str:
    value = finding.fields.get("value", "").upper()
    return next((state for state in STATES if value in (state, f"{state}D")), "")


def _state(finding: Finding) -> str:
    """ENABLE or DISABLE, as any of the three tells it."""
    if finding.signature == TLS_SWITCH:
        return STATES[finding.fields["switch"] == "0"]
    return finding.fields.get("tls") or _own_state(finding)


def _placed(where: tuple[str, int], rank: int | None) -> Actor:
    return Actor(rank=rank) if rank is not None else Actor(node=where[0], device=where[1])


def _result(
    view: JobView,
    odd: Finding,
    votes: Mapping[str, int],
    ranks: Sequence[int],
    actor: Actor | None,
    *,
    covers: tuple[str, ...],
) -> list[CheckerResult]:
    incident = incident_of(view, odd)
    if incident is None and odd.signature != TLS_SWITCH:
        return []
    here = _state(odd)
    key = "checker.tls" if actor is None else "checker.tls_other"
    reason = say(key, here=here, enabled=votes["ENABLE"], disabled=votes["DISABLE"])
    unnamed = incident is None or incident.actor.rank is None
    if actor is None and unnamed and odd.actor.rank is None and ranks:
        actor = Actor(node=odd.actor.node, pid=odd.actor.pid, device=odd.actor.device, rank=ranks[0])
    return [
        CheckerResult(
            rule="tls",
            kind="root",
            reason=reason,
            incident=incident.id if incident is not None else None,
            proven=votes["ENABLE"] != votes["DISABLE"],
            finding=odd,
            covers=covers,
            actor=actor,
            suspects=at_fault(view, ranks, reason),
        )
    ]
