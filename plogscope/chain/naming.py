"""The rank of the first cause when its own lines do not say it: from the place that other ranks give it."""

from __future__ import annotations

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.seats import find_seats
from plogscope.model.chain import Chain, Incident


def name_root(chain: Chain, view: JobView) -> Chain:
    """The chain with the root's rank filled in, where its device has exactly one rank.

    Failed links name rank, server and device of both ends. A process of no known node is on the only server there is.
    """
    root = chain.incident(chain.root)
    if root is None or root.actor.rank is not None:
        return chain
    device = _device_of(root, view)
    if device is None:
        return chain
    seats = find_seats(view)
    servers = {place for place, _ in seats.by_device}
    rank = seats.by_device.get((root.actor.node or "", device))
    if rank is None and root.actor.node is None and len(servers) == 1:
        rank = seats.by_device.get((next(iter(servers)), device))
    if rank is None:
        return chain
    named = msgspec.structs.replace(root, actor=msgspec.structs.replace(root.actor, rank=rank))
    return msgspec.structs.replace(
        chain, incidents=tuple(named if one.id == root.id else one for one in chain.incidents)
    )


def _device_of(root: Incident, view: JobView) -> int | None:
    if root.actor.device is not None:
        return root.actor.device
    known = {one.device for one in view.cluster.processes if one.key is not None and one.key == root.actor.process}
    return known.pop() if len(known) == 1 else None
