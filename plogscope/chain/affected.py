"""Which ranks share the fault of the first cause, when it is not one rank's alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.chain.checkers.accuse import at_fault, suspects
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import ENDS_THE_HOST, Chain, Incident, Suspect
from plogscope.model.signature import Signature
from plogscope.wording import say

VERSIONS = "version"
"""Subcategory of causes that name the versions of both ends of a link."""

TOGETHER_NS = 600 * SECOND_NS
"""Who states the same much later than the first cause may repeat what became of it."""

OF_ONE_MACHINE = ("host", "memory")
HOST_HARDWARE = "hardware-error"
"""Category and subcategory of what happens to a machine as a whole."""


def name_affected(
    chain: Chain, view: JobView, signatures: Mapping[str, Signature], checked: Sequence[CheckerResult]
) -> Chain:
    """The chain with the ranks that share the root's fault as suspects; as it is when a rule has named them.

    1. Versions differ: the ranks whose version is not that of most (of the lowest rank, if both sides are equal).
    2. Several ranks state the same cause, each for itself: all of them.
    3. A cause that is no rank's: the ranks that were counted and are missing (with those whose machine went down), else
       those that a launcher names with it, else those on the machine of the cause.

    Args:
        chain: With its root.
        view: The failing job.
        signatures: By id.
        checked: What the rules say.
    """
    root = chain.incident(chain.root)
    if root is None or chain.suspects or root.waits or _is_odd_alone(root, checked):
        return chain
    odd = _odd_side(root, view)
    shared = at_fault(view, odd or _same(root, chain, signatures), say("suspect.states_same"))
    if len(odd) == 1 and odd != [root.actor.rank]:
        shared = suspects(view, odd, say("suspect.states_same"))
    if not shared and root.actor.rank is None:
        there = suspects(view, _on_machine(root, view), say("suspect.on_machine"))
        absent = _absent(checked)
        if absent and root.subcategory in ENDS_THE_HOST:
            gone = {one.rank for one in absent}
            shared = (*absent, *(one for one in there if one.rank not in gone))
        else:
            shared = absent or suspects(view, _killed(root), say("suspect.killed")) or there
    return msgspec.structs.replace(chain, suspects=shared) if shared else chain


def _is_odd_alone(root: Incident, checked: Sequence[CheckerResult]) -> bool:
    """True when a rule compared what the ranks say and found one of them wrong: the others say the same about it."""
    first = next((one for one in checked if one.kind == "root"), None)
    compared = first is not None and first.incident == root.id and len(first.covers) > 1
    return compared and first is not None and first.proven and root.actor.rank is not None


def _odd_side(root: Incident, view: JobView) -> list[int]:
    if root.subcategory != VERSIONS:
        return []
    own: dict[int, str] = {}
    for one in view.incidents:
        for finding in one.findings if one.subcategory == VERSIONS else ():
            if finding.actor.rank is not None and finding.fields.get("value"):
                own.setdefault(finding.actor.rank, finding.fields["value"])
    votes = Counter(own[rank] for rank in sorted(own))
    usual = votes.most_common(1)[0][0] if len(votes) > 1 else None
    return [rank for rank, value in own.items() if usual is not None and value != usual]


def _same(root: Incident, chain: Chain, signatures: Mapping[str, Signature]) -> Iterable[int]:
    """Ranks that state the cause in the same words about themselves: not where a statement is about a peer."""
    signature = signatures.get(root.signature or "")
    if root.role not in ("cause", "either") or signature is None or root.lead.signature != root.signature:
        return ()
    if any(field.meaning in ("remote_rank", "missing_ranks") for field in signature.extract.values()):
        return ()
    own = [one for one in chain.incidents if chain.places.get(one.id) != "recovered" and _states(one, root)]
    ranks = (one.actor.rank if one.actor.rank is not None else one.lead.actor.rank for one in own)
    return {rank for rank in ranks if rank is not None}


def _states(one: Incident, root: Incident) -> bool:
    if one.signature != root.signature or _words(one) != _words(root):
        return False
    if one.start_ns is None or root.start_ns is None:
        return True
    return abs(one.start_ns - root.start_ns) <= TOGETHER_NS


def _words(one: Incident) -> dict[str, str]:
    """What it says without the numbers in it, which can be those of each process."""
    return {name: _NUMBERS.sub("", value) for name, value in one.lead.fields.items()}


_NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")


def _absent(checked: Sequence[CheckerResult]) -> tuple[Suspect, ...]:
    counted = (one.suspects for one in checked if one.kind == "suspects" and one.proven and one.suspects)
    return next(counted, ())


def _killed(root: Incident) -> Iterable[int]:
    """Ranks that a launcher says were killed by what the cause states of their machine or of the job."""
    named = (one.fields.get("rank", "") for one in root.findings if root.category in OF_ONE_MACHINE)
    return {int(rank) for rank in named if rank.isdecimal()}


def _named_node(root: Incident, view: JobView) -> str | None:
    """The only node of the job whose name stands in the line: clusters and schedulers write of all nodes in one log."""
    nodes = {one.node for one in view.cluster.processes if one.node}
    named = {node for node in nodes if re.search(rf"(?<![\w.-]){re.escape(node)}(?![\w.-])", root.lead.quote)}
    return named.pop() if len(named) == 1 else None


def _on_machine(root: Incident, view: JobView) -> Iterable[int]:
    """Ranks of the node of a cause that no process states, if the job has other nodes."""
    node = root.actor.node or _named_node(root, view)
    of_one = root.category in OF_ONE_MACHINE or root.subcategory == HOST_HARDWARE
    stated_by_a_process = root.actor.pid is not None and root.subcategory not in ENDS_THE_HOST
    if node is None or stated_by_a_process or not of_one:
        return ()
    everybody = {one.rank for one in view.cluster.processes if one.rank is not None}
    here = {one.rank for one in view.cluster.processes if one.node == node and one.rank is not None}
    here |= {one.actor.rank for one in view.findings if one.actor.node == node and one.actor.rank is not None}
    return here if everybody - here else ()
