"""From incidents and edges to the chain: who stands where, what is the first cause, what are its rivals.

The choice is lexicographic: a direct cause before an `either` before an unknown error; what explains the terminal
failure before what does not; the earliest start; the widest coverage. A symptom or a wait is never chosen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from plogscope.chain.checkers.base import CheckerResult
from plogscope.chain.clear import is_condition
from plogscope.chain.edges import INTERRUPTED, STRENGTH, UNKNOWN_STRENGTH, connect, is_background, strength
from plogscope.chain.exits import after_an_exit
from plogscope.chain.order import comparable, precedes
from plogscope.model.chain import Chain, Clock, Edge, Incident, Rival, Suspect
from plogscope.model.signature import Signature
from plogscope.model.vocabulary import Place, Text
from plogscope.wording import say

MAX_RIVALS = 5


def find_cause(
    incidents: Sequence[Incident],
    cleared: frozenset[str],
    signatures: Mapping[str, Signature],
    clocks: Sequence[Clock],
    checked: Sequence[CheckerResult],
) -> Chain:
    """Builds the graph over what was not recovered and chooses the root.

    Args:
        incidents: In order.
        cleared: Ids of recovered incidents.
        signatures: By id.
        clocks: By position.
        checked: What the checkers say; a checker's root wins over everything but a direct cause outside it.
    """
    alive = [incident for incident in incidents if incident.id not in cleared]
    edges = connect(alive, signatures, clocks)
    ended = aftermath(alive, edges)
    alive = [incident for incident in alive if incident.id not in ended]
    edges = tuple(edge for edge in edges if edge.effect not in ended and edge.cause not in ended)
    later = {one: result.reason for result in checked if result.kind == "aftermath" for one in result.covers}
    first = [one for one in alive if one.id not in later]
    said = [result for result in checked if result.kind != "aftermath" and result.incident not in later]
    known = [edge for edge in edges if edge.cause not in later]
    root, suspects, proven, reasons = _choose(first, known, clocks, said, signatures)
    edges = tuple(edge for edge in edges if edge.cause not in later or edge.effect in later)
    if root is not None and reasons:
        alive = [*(one for one in alive if one.id != root.id), root]
        incidents = _with(incidents, root)
    edges = _towards(root, alive, (*edges, *_restarted(root, later, edges)), reasons)
    reason = reasons[0] if root is not None and reasons else None
    return Chain(
        incidents=tuple(incidents),
        edges=edges,
        places={**_places(incidents, cleared, edges, root), **dict.fromkeys(ended, AFTERMATH)},
        root=root.id if root else None,
        terminal=_terminal(alive),
        rivals=_rivals(root, alive, edges, clocks) if root and not reasons else (),
        suspects=suspects,
        proven_absence=proven,
        root_reason=_sentence(reason.reason) if reason is not None else None,
        root_proven=reason is not None and reason.proven,
    )


def _restarted(root: Incident | None, later: Mapping[str, Text], edges: Sequence[Edge]) -> list[Edge]:
    """From the root to what failed in workers that were started again, where nothing else there explains it."""
    has = {edge.effect for edge in edges}
    if root is None:
        return []
    return [
        Edge(cause=root.id, effect=one, kind="checker", reason=reason)
        for one, reason in later.items()
        if one not in has
    ]


def _sentence(reason: Text) -> Text:
    """A reason that begins with `rank 3` stands alone in reports."""
    return Text(reason.en[:1].upper() + reason.en[1:], reason.zh)


AFTERMATH: Place = "teardown"


def blame_speed(chain: Chain) -> Chain:
    """The chain of a run that somebody calls slow: if nothing failed, the first remark about its speed is the cause."""
    remark = next(
        (one for one in chain.incidents if one.category == "performance" and chain.places[one.id] == "recovered"), None
    )
    if remark is None or chain.root is not None or chain.suspects:
        return chain
    return msgspec.structs.replace(chain, root=remark.id, places={**chain.places, remark.id: "root"})


def aftermath(alive: Sequence[Incident], edges: Sequence[Edge]) -> frozenset[str]:
    """What only follows from a person who interrupted the job, directly or through others."""
    ended = {one.id for one in alive if one.role == "teardown" and one.subcategory == INTERRUPTED}
    named = set(ended)
    while True:
        more = {edge.effect for edge in edges if edge.cause in ended} - ended
        if not more:
            return frozenset(ended - named)
        ended |= more


def _with(incidents: Sequence[Incident], root: Incident) -> list[Incident]:
    """The incidents with the root as a checker states it, in its place or, if it is none of them, first."""
    if any(one.id == root.id for one in incidents):
        return [root if one.id == root.id else one for one in incidents]
    return [root, *incidents]


def _accused(result: CheckerResult, alive: Sequence[Incident], signatures: Mapping[str, Signature]) -> Incident | None:
    """The incident that a checker names, at the line that proves it; one made of that line if there is no incident."""
    known = next((one for one in alive if one.id == result.incident), None)
    if result.finding is None:
        return known
    lead = result.finding
    if known is not None:
        stating = signatures.get(lead.signature or "")
        return msgspec.structs.replace(
            known,
            lead=lead,
            signature=stating.id if stating is not None else known.signature,
            title=stating.title if stating is not None and stating.id != known.signature else known.title,
            actor=result.actor or known.actor,
        )
    return Incident(
        id="c1",
        lead=lead,
        findings=(lead,),
        signature=lead.signature,
        title=result.reason,
        role="cause",
        category="communication",
        subcategory=result.rule,
        actor=result.actor or lead.actor,
        time_ns=lead.order_ns,
        start_ns=lead.order_ns,
    )


def _choose(
    alive: Sequence[Incident],
    edges: Sequence[Edge],
    clocks: Sequence[Clock],
    checked: Sequence[CheckerResult],
    signatures: Mapping[str, Signature],
) -> tuple[Incident | None, tuple[Suspect, ...], bool, Sequence[CheckerResult]]:
    explained = {edge.effect for edge in edges}
    telling = {edge.cause for edge in edges if edge.kind == "signature"}
    late = after_an_exit(alive, clocks)
    candidates = [
        one
        for one in alive
        if strength(one) <= UNKNOWN_STRENGTH
        and one.id not in explained
        and one.id not in late
        and one.lead.quote
        and (one.id in telling or not is_background(one))
    ]
    direct = [one for one in candidates if strength(one) == STRENGTH["cause"] and not is_condition(one)]
    roots = [result for result in checked if result.kind == "root"]
    suspecting = [result for result in checked if result.kind == "suspects" and result.suspects]
    if roots and all(one.id in roots[0].covers for one in direct):
        chosen = _accused(roots[0], alive, signatures)
        if chosen is not None:
            return chosen, roots[0].suspects, False, roots
    if not direct and suspecting and any(result.proven for result in suspecting):
        best = next(result for result in suspecting if result.proven)
        return None, best.suspects, True, suspecting
    pool = direct or [one for one in candidates if not is_condition(one)]
    if not pool and any(strength(one) >= STRENGTH["symptom"] and one.role != "teardown" for one in alive):
        suspects = suspecting[0].suspects if suspecting else ()
        ends = [result for result in checked if result.kind == "end"] if not suspecting else []
        return (_accused(ends[0], alive, signatures) if ends else None), suspects, False, suspecting or ends
    pool = pool or candidates
    if not pool:
        return None, (), False, ()
    return _first(pool, edges, alive, clocks), (), False, ()


def _first(
    pool: Sequence[Incident], edges: Sequence[Edge], alive: Sequence[Incident], clocks: Sequence[Clock]
) -> Incident:
    """The best of the candidates; comparisons that the clocks cannot make fall back to coverage."""
    covers: dict[str, int] = defaultdict(int)
    for edge in edges:
        covers[edge.cause] += 1
    failing = {one.writer for one in alive if strength(one) >= STRENGTH["symptom"]}

    def better(a: Incident, b: Incident) -> bool:
        if strength(a) != strength(b):
            return strength(a) < strength(b)
        ends_a, ends_b = a.writer in failing, b.writer in failing
        earlier = precedes(a, b, clocks)
        if earlier is None and ends_a != ends_b:
            return ends_a
        if earlier is not None:
            return earlier
        if strength(a) == UNKNOWN_STRENGTH and a.lead.nearness != b.lead.nearness:
            return a.lead.nearness > b.lead.nearness  # the layer that failed knows more than a program's own print
        if covers[a.id] != covers[b.id]:
            return covers[a.id] > covers[b.id]
        related = comparable(a.findings[0], b.findings[0], clocks)
        return _place(a) < _place(b) if related else _written(a) < _written(b)

    best, *rest = sorted(pool, key=_written)
    for one in rest:
        if better(one, best):
            best = one
    return best


def _written(incident: Incident) -> tuple[int, int]:
    return (incident.lead.source, incident.lead.line)


def _place(incident: Incident) -> tuple[int, int, int]:
    start = incident.start_ns if incident.start_ns is not None else 1 << 62
    return (start, incident.lead.source, incident.lead.line)


def _towards(
    root: Incident | None, alive: Sequence[Incident], edges: Sequence[Edge], checked: Sequence[CheckerResult]
) -> tuple[Edge, ...]:
    """The edges in the order in which a reader wants them: for each effect the root first, then the strongest cause.

    A root that a checker chose explains, by that checker's reason, what nothing else explains.
    """
    if root is None:
        return tuple(edges)
    kept = [edge for edge in edges if edge.effect != root.id]
    has = {edge.effect for edge in kept}
    if checked:
        kept += [
            Edge(cause=root.id, effect=one.id, kind="checker", reason=checked[0].reason)
            for one in alive
            if one.id != root.id and one.id not in has
        ]
    order = {one.id: (strength(one), _place(one)) for one in alive}
    kept.sort(key=lambda edge: (edge.effect, edge.cause != root.id, order[edge.cause]))
    return tuple(kept)


def _places(
    incidents: Sequence[Incident], cleared: frozenset[str], edges: Sequence[Edge], root: Incident | None
) -> dict[str, Place]:
    explained = {edge.effect for edge in edges}
    places: dict[str, Place] = {}
    for one in incidents:
        if root is not None and one.id == root.id:
            places[one.id] = "root"
        elif one.id in cleared:
            places[one.id] = "recovered"
        elif one.role == "teardown":
            places[one.id] = "teardown"
        elif one.id in explained and root is not None:
            places[one.id] = "cascade"
        else:
            places[one.id] = "witness"
    return places


def _terminal(alive: Sequence[Incident]) -> str | None:
    """The last failure that anybody reports: what the user saw."""
    failing = [one for one in alive if one.role != "teardown"]
    return max(failing, key=_place).id if failing else None


def _rivals(
    root: Incident, alive: Sequence[Incident], edges: Sequence[Edge], clocks: Sequence[Clock]
) -> tuple[Rival, ...]:
    """Other incidents that nothing explains and that could be causes, with why they were not chosen."""
    explained = {edge.effect for edge in edges}
    rivals = []
    for one in alive:
        if one.id == root.id or one.id in explained or strength(one) > UNKNOWN_STRENGTH or not one.lead.quote:
            continue
        if is_background(one) or (is_condition(one) and not is_condition(root)):
            continue
        unordered = False
        if strength(one) > strength(root):
            key = "rival.unknown" if one.signature is None else "rival.weaker"
        elif not comparable(one.lead, root.lead, clocks):
            key, unordered = "rival.other_clock", True
        else:
            key = "rival.later"
        rivals.append((strength(one), _place(one), Rival(one.id, say(key), unordered)))
    rivals.sort(key=lambda entry: entry[:2])
    return tuple(entry[2] for entry in rivals[:MAX_RIVALS])
