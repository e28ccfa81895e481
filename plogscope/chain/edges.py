"""Which incident can explain which, and why: layers, broken devices, waits, launchers, what signatures say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from plogscope.chain.order import comparable, lag_s, precedes
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import KERNEL_FORMATS, Clock, Edge, Incident
from plogscope.model.record import Writer
from plogscope.model.signature import Explains, Signature, names
from plogscope.model.vocabulary import EdgeKind, Text
from plogscope.wording import say

DEVICE_LAG_NS = 15 * SECOND_NS
"""A device-fault record can be stamped this much later than the wrappers of the same device."""

FAILING_WITHIN_S = 120.0
"""How long after a symptom other errors of the process are taken for its aftermath."""

STRENGTH = {"cause": 0, "either": 1, "symptom": 3, "teardown": 4}
UNKNOWN_STRENGTH = 2


def strength(incident: Incident) -> int:
    """0 direct cause, 1 either, 2 unknown or hushed, 3 symptom, 4 teardown: a lower number can explain a higher one."""
    if incident.waits:
        return STRENGTH["symptom"]
    unsure = incident.hushed or (incident.role == "either" and incident.category == "unknown")
    if incident.role in ("cause", "either") and (incident.signature is None or unsure):
        return UNKNOWN_STRENGTH
    return STRENGTH.get(incident.role, STRENGTH["teardown"])


def is_background(incident: Incident) -> bool:
    """True for what a machine's own log says of itself or of processes that are not of the job.

    A host says such things at all times: they are causes only where their signatures say of what.
    """
    return (
        incident.lead.format in KERNEL_FORMATS
        and incident.actor.rank is None
        and strength(incident) == UNKNOWN_STRENGTH
    )


def connect(
    incidents: Sequence[Incident], signatures: Mapping[str, Signature], clocks: Sequence[Clock]
) -> tuple[Edge, ...]:
    """The edges between incidents that were not recovered. For each effect the closest explanations come first.

    Edges can form a circle where stamps run against the lines of one file, or where no time decides: whoever follows
    them keeps what was already visited.
    """
    edges: list[Edge] = []
    near = _by_names(incidents)
    far = sorted(incidents, key=lambda one: (strength(one), one.start_ns if one.start_ns is not None else 1 << 62))
    strongest = {one.id: one for one in far if one.subcategory in ENDS_THE_JOB}
    strongest = dict(list(strongest.items())[:MAX_ENDS])
    strongest |= {one.id: one for one in [one for one in far if strength(one) < STRENGTH["symptom"]][:MAX_FAR_CAUSES]}
    for effect in incidents:
        own = {one.id: one for name in _sought(effect) for one in near[name][:MAX_NEAR_CAUSES]}
        elsewhere = [one for one in own.values() if one.lead.source != effect.lead.source]
        closest = [*(one for one in own.values() if one.lead.source == effect.lead.source), *elsewhere]
        others = [one for one in strongest.values() if one.id not in own]
        edges.extend(islice(_explaining(closest, effect, signatures, clocks), MAX_OWN_CAUSES))
        edges.extend(_explaining(others, effect, signatures, clocks))
    return tuple(edges)


def _explaining(
    causes: Iterable[Incident], effect: Incident, signatures: Mapping[str, Signature], clocks: Sequence[Clock]
) -> Iterator[Edge]:
    for cause in causes:
        kind = _edge_kind(cause, effect, signatures, clocks) if cause.id != effect.id else None
        if kind is not None:
            yield Edge(cause=cause.id, effect=effect.id, kind=kind)


MAX_NEAR_CAUSES = 200
MAX_OWN_CAUSES = 40
MAX_FAR_CAUSES = 40
MAX_ENDS = 4
"""An effect is compared with the incidents of its own process and with the strongest of all others: the numbers of
comparisons and of edges grow with the incidents, not with their square."""


def _by_names(incidents: Sequence[Incident]) -> dict[Writer, list[Incident]]:
    found: dict[Writer, list[Incident]] = defaultdict(list)
    for one in incidents:
        for name in (*one.actor.names(one.lead.source), _part(one, *_known(one))):
            found[name].append(one)
    return found


def _sought(incident: Incident) -> list[Writer]:
    """The names under which all incidents of the same process are found.

    They are its own, and, because the file decides where no name can be compared, the parts of its file that are known
    by other names.
    """
    pid, rank = _known(incident)
    others = [(other_pid, other_rank) for other_pid in _EITHER for other_rank in _EITHER]
    parts = [_part(incident, *other) for other in others if not (pid and other[0]) and not (rank and other[1])]
    return [*incident.actor.names(incident.lead.source), *parts]


_EITHER = (False, True)


def _known(incident: Incident) -> tuple[bool, bool]:
    return incident.actor.pid is not None, incident.actor.rank is not None


def _part(incident: Incident, pid: bool, rank: bool) -> Writer:  # noqa: FBT001 - what is known of a writer
    """What is written in the file of the incident by writers of whom this much is known."""
    return ("part", incident.lead.source, pid, rank)


def _edge_kind(  # noqa: PLR0911
    cause: Incident, effect: Incident, signatures: Mapping[str, Signature], clocks: Sequence[Clock]
) -> EdgeKind | None:
    if _says_so(cause, effect, signatures, clocks) and precedes(effect, cause, clocks) is not True:
        return "signature"
    if cause.category == SLOW != effect.category:
        return None
    mine, other = strength(cause), strength(effect)
    if cause.same_process(effect):
        if _family(cause, signatures) is not None and _family(cause, signatures) == _family(effect, signatures):
            told = _told_elsewhere(cause, effect, clocks)
            if told is not None:
                return "wraps" if told else None
        return _inside(cause, effect, mine, other, clocks)
    if cause.subcategory in ENDS_THE_JOB:
        return "kills" if _ends(cause, effect, clocks) else None
    if mine >= STRENGTH["symptom"] or cause.waits or is_background(cause):
        return None
    return _across(cause, effect, other, clocks)


def _inside(cause: Incident, effect: Incident, mine: int, other: int, clocks: Sequence[Clock]) -> EdgeKind | None:
    """Inside one process: what fails later, or is a layer above, is explained by what failed first."""
    earlier = precedes(cause, effect, clocks)
    if cause.role == "teardown" and cause.subcategory == INTERRUPTED:
        return "kills" if earlier is True and _soon(cause, effect, clocks) else None
    nearer = (
        _nearer(cause, effect, clocks) if mine == other and mine in (STRENGTH["either"], UNKNOWN_STRENGTH) else None
    )
    if nearer is not None:
        return "wraps" if nearer else None
    if other >= STRENGTH["symptom"] > mine:
        return "wraps" if _reports(cause, effect, clocks, earlier=earlier) else None
    return _follows(cause, effect, clocks) if earlier is True else None


def _reports(cause: Incident, effect: Incident, clocks: Sequence[Clock], *, earlier: bool | None) -> bool:
    """True when the effect, a symptom, can be a layer that reports the cause."""
    late = _late_ns(cause, effect, clocks)
    polled_late = cause.role == "cause" and late is not None and late <= DEVICE_LAG_NS
    untimed = earlier is None and (late is None or cause.role == "cause")
    return earlier is True or polled_late or untimed or _nearer(cause, effect, clocks) is True


def _follows(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> EdgeKind | None:
    """What comes later in one process is explained by something that is at least as strong, or shows it was failing."""
    mine, other = strength(cause), strength(effect)
    if mine >= STRENGTH["symptom"]:
        if other < STRENGTH["symptom"] and not _already_failing(cause, effect, clocks):
            return None
        return "repeats" if cause.signature == effect.signature else "wraps"
    if mine > other:
        return None
    return "poisons" if cause.category in ("operator", "device", "memory") else "wraps"


def _family(incident: Incident, signatures: Mapping[str, Signature]) -> str | None:
    signature = signatures.get(incident.signature or "")
    return signature.chain.joins if signature is not None else None


def _told_elsewhere(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool | None:
    """For two records of one failure in different files: is the cause the one nearer to it? None if it is not one."""
    if cause.lead.source == effect.lead.source or cause.lead.nearness == effect.lead.nearness:
        return None
    gap = lag_s(cause.lead, effect.lead, clocks)
    if gap is not None and abs(gap) * SECOND_NS > DEVICE_LAG_NS:
        return None
    return cause.lead.nearness > effect.lead.nearness


def _nearer(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool | None:
    """Of two records that both can be causes and stand close together: which one is nearer to the failure.

    torch_npu prints its exception before the error stack of CANN that it carries, so their order says nothing.
    """
    if cause.lead.nearness == effect.lead.nearness:
        return None
    same_block = cause.lead.source == effect.lead.source and abs(cause.lead.line - effect.lead.line) <= BLOCK_LINES
    gap = lag_s(cause.lead, effect.lead, clocks)
    if not same_block and (cause.lead.source == effect.lead.source or gap is None or abs(gap) > BLOCK_S):
        return None
    return cause.lead.nearness > effect.lead.nearness


BLOCK_LINES = 60
BLOCK_S = 2.0
"""How far the records of one failure lie apart: lines in one file, seconds between files."""

SLOW = "performance"
"""Category of what makes a run slow: by itself that ends nothing, so what fails after it has another cause."""

CANCELLED = "cancelled"
"""Subcategory of what a scheduler says: it decides for reasons of its own, not because a process reports a symptom."""

INTERRUPTED = "interrupt"
"""Subcategory of teardown signatures of a person or scheduler who ended the job: what follows is only the end."""


ENDS_THE_JOB = (INTERRUPTED, "terminated")
"""Subcategories of signals that reach the launcher or one process and end all of them."""


def _already_failing(symptom: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool:
    """True when an earlier symptom shows that the process was failing before something that can be a consequence.

    A wrapper is printed before the error stack that it carries, so it says nothing about lines nearer to the failure.
    """
    if effect.role == "cause" or effect.subcategory == CANCELLED or symptom.lead.nearness < effect.lead.nearness:
        return False
    lag = lag_s(symptom.lead, effect.lead, clocks)
    return lag is None or lag <= FAILING_WITHIN_S


def _across(cause: Incident, effect: Incident, other: int, clocks: Sequence[Clock]) -> EdgeKind | None:
    """Between processes: waits starve, and the end of one process takes others down."""
    earlier = precedes(cause, effect, clocks)
    if earlier is False:
        return None
    if effect.waits:
        return "starves"
    if other >= STRENGTH["symptom"]:
        return "kills"
    if earlier is True and cause.signature is not None and cause.signature == effect.signature:
        return "repeats"
    return None


def _ends(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool:
    """True when the effect is what a process says while it is taken down with the job.

    A process that states a cause of its own is believed. After a person's interruption anything else counts as the end,
    after a signal of unknown sender only what says nothing by itself. An error that no signature knows is the end also
    where it is stamped like the signal, and, when a person ended the job, where no time decides.
    """
    earlier = precedes(cause, effect, clocks)
    by_person = cause.subcategory == INTERRUPTED
    if earlier is None:
        together = comparable(cause.findings[0], effect.findings[0], clocks)
        return effect.signature is None and (by_person or together)
    return (
        earlier
        and _soon(cause, effect, clocks)
        and strength(effect) >= (STRENGTH["either"] if by_person else UNKNOWN_STRENGTH)
    )


def _soon(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool:
    """True unless the clocks say that a job that was ended would long be gone: what fails then was started again."""
    lag = lag_s(cause.lead, effect.lead, clocks)
    return lag is None or lag <= ENDED_WITHIN_S


ENDED_WITHIN_S = 900.0


def _late_ns(cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> int | None:
    """How much later than the effect the cause is stamped; None when that cannot be known."""
    if cause.start_ns is None or effect.time_ns is None or not comparable(cause.lead, effect.lead, clocks):
        return None
    return cause.start_ns - effect.time_ns


def _says_so(cause: Incident, effect: Incident, signatures: Mapping[str, Signature], clocks: Sequence[Clock]) -> bool:
    """True when the signature of the cause names that of the effect as a consequence, in scope and in time.

    Who names a whole domain does not mean its own signature there: two records of it would explain each other.
    """
    signature = signatures.get(cause.signature or "")
    if signature is None or effect.signature is None:
        return False
    own = effect.signature == signature.id
    return any(
        names(rule, effect.signature)
        and not (own and rule.id != effect.signature)
        and _in_scope(rule, cause, effect, clocks)
        for rule in signature.chain.explains
    )


def _in_scope(rule: Explains, cause: Incident, effect: Incident, clocks: Sequence[Clock]) -> bool:
    gap = lag_s(cause.lead, effect.lead, clocks)
    if gap is not None and gap > rule.within_s:
        return False
    if rule.scope in ("job", "communicator"):
        return True
    if rule.scope == "node":
        return cause.actor.node == effect.actor.node
    return cause.same_process(effect)


def reason_of(edge: Edge, cause: Incident, effect: Incident) -> Text:
    """Why the edge is there, in words."""
    return edge.reason or say(f"edge.{edge.kind}", cause=cause.title, effect=effect.title, who=who(cause))


def who(incident: Incident) -> Text:
    """The process of an incident in words."""
    if incident.actor.rank is not None:
        return say("who.rank", rank=incident.actor.rank)
    if incident.actor.pid is not None:
        return say("who.process", pid=incident.actor.pid)
    return say("who.writer")
