"""The category of a first cause that has none of its own: that of the code which it, or the layer above it, states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from plogscope.chain.order import lag_s
from plogscope.model.chain import Chain, Clock, Incident
from plogscope.model.signature import Code
from plogscope.model.vocabulary import Category

PUBLIC_CODES = "acl"
OF_MODULE: Mapping[str, Category] = {
    "HCCL": "communication",
    "HCCP": "communication",
    "HCCL_ADPT": "communication",
    "DISTRIBUTED": "communication",
    "DVPP": "operator",
    "ATB": "operator",
    "atb": "operator",
    "OP": "operator",
    "AICPU": "operator",
    "CCE": "operator",
    "FE": "compile",
    "TBE": "compile",
    "TEFUSION": "compile",
    "DRV": "device",
    "DRIVER": "device",
    "HDC": "device",
}
"""Modules that do one kind of work. An unknown error of RUNTIME, GE or ASCENDCL can be of any kind."""

WITHIN_S = 1.0
"""The layers of one failed call report one after another at once."""


def name_category(chain: Chain, clocks: Sequence[Clock], lookup: Callable[[str, str], Code | None]) -> Chain:
    """The chain with the root's category filled in from the public code of the failed call, where it is unknown.

    A wrapper is of a kind only if its code is a cause by itself; an unknown error is at least of the kind that the
    layer above it reports.
    The choice is over: how strong a candidate the root was does not change.

    Args:
        chain: With its root.
        clocks: By position.
        lookup: (family, code) → row of the code table.
    """
    root = chain.incident(chain.root)
    if root is None or root.category != "unknown":
        return chain
    rows = (lookup(PUBLIC_CODES, code) for one in (root, *_layers(root, chain, clocks)) for code in _codes(one))
    telling = ("cause",) if root.signature is not None else ("cause", "either")
    category = next((row.category for row in rows if row is not None and row.role in telling), "unknown")
    if category == "unknown" and root.signature is None:
        category = OF_MODULE.get(root.lead.module or "", "unknown")
    if category == "unknown":
        return chain
    named = msgspec.structs.replace(root, category=category)
    return msgspec.structs.replace(
        chain, incidents=tuple(named if one.id == root.id else one for one in chain.incidents)
    )


def _layers(root: Incident, chain: Chain, clocks: Sequence[Clock]) -> Iterator[Incident]:
    """What the root explains in its own process at once, in order."""
    effects = {edge.effect for edge in chain.edges if edge.cause == root.id}
    for one in chain.incidents:
        lag = lag_s(root.lead, one.lead, clocks)
        if one.id in effects and root.same_process(one) and lag is not None and 0 <= lag <= WITHIN_S:
            yield one


def _codes(incident: Incident) -> Iterator[str]:
    for finding in incident.findings:
        if "code" in finding.fields:
            yield finding.fields["code"]
