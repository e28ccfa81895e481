"""The rank of the first cause when its own lines do not say it: from what launcher, driver and peers say of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.reading import number
from plogscope.chain.checkers.seats import find_seats
from plogscope.chain.checkers.tasks import task_reports
from plogscope.model.chain import Chain, Incident
from plogscope.model.record import Finding

SUMMARY_RANK = "launcher/summary-rank"
SUMMARY_EXIT = "launcher/summary-exit"
SUMMARY_ROWS = 4
"""Rank and pid of one worker stand this close together in torchrun's summary."""

CRASH_FORMATS = ("native-crash", "faulthandler")
"""What a process, or the shell above it, prints while a signal of its own ends it."""

STOPPED_BY_OTHERS = ("-9", "-15")
"""Exit codes of SIGKILL and SIGTERM: a process never raises them itself."""


def name_root(chain: Chain, view: JobView) -> Chain:
    """The chain with the root's rank filled in, where exactly one rank fits what is said of it.

    By loss: only one process of the machine tells of the same fault of its device. By device: failed links name rank,
    server and device of both ends, and processes their device. A process of no known node is on the only server there
    is. By pid: torchrun's summary names rank and pid of the workers that ended, also of those that wrote nothing. By a
    peer: the rank that the root names waits for one rank only. By death: the kernel numbers a process of a container
    otherwise than the container does, but SIGKILL ended only one. By absence: all ranks but one wait for what the root
    holds up. By office: the store of torch is served where rank 0 runs, and nowhere else.
    """
    root = chain.incident(chain.root)
    if root is None or root.actor.rank is not None:
        return chain
    rank = _by_loss(root, chain)
    rank = rank if rank is not None else _by_device(root, view)
    rank = rank if rank is not None else _by_summary(root, view)
    rank = rank if rank is not None else _by_peer(root, view)
    rank = rank if rank is not None else _by_death(root, view)
    rank = rank if rank is not None else _by_absence(root, chain)
    rank = rank if rank is not None else _by_store(root)
    if rank is None:
        return chain
    named = msgspec.structs.replace(root, actor=msgspec.structs.replace(root.actor, rank=rank))
    return msgspec.structs.replace(
        chain, incidents=tuple(named if one.id == root.id else one for one in chain.incidents)
    )


def _by_device(root: Incident, view: JobView) -> int | None:
    device = _device_of(root, view)
    if device is None:
        return None
    seats = find_seats(view)
    servers = {place for place, _ in seats.by_device}
    rank = seats.by_device.get((root.actor.node or "", device))
    if rank is None and root.actor.node is None and len(servers) == 1:
        rank = seats.by_device.get((next(iter(servers)), device))
    if rank is None:
        near = [one for one in view.cluster.processes if one.node == root.actor.node and one.device == device]
        ranks = {one.rank for one in near} - {None}
        rank = ranks.pop() if len(ranks) == 1 else None
    return rank


def _device_of(root: Incident, view: JobView) -> int | None:
    if root.actor.device is not None:
        return root.actor.device
    stated = {number(finding, "device") for finding in root.findings} - {None}
    if len(stated) == 1:
        return stated.pop()
    known = {one.device for one in view.cluster.processes if one.key is not None and one.key == root.actor.process}
    return known.pop() if len(known) == 1 else None


def _by_summary(root: Incident, view: JobView) -> int | None:
    """The rank of the pid that the root names; of a crash that names none, the only worker that a signal ended."""
    rows = _summary(view.findings)
    pids = {str(root.actor.pid), *(finding.fields.get("pid", "") for finding in root.findings)}
    ranks = {rank for rank, pid, _ in rows if pid in pids}
    if not ranks and root.lead.format in CRASH_FORMATS and root.actor.pid is None:
        ranks = {rank for rank, _, code in rows if code.startswith("-") and code not in STOPPED_BY_OTHERS}
    return ranks.pop() if len(ranks) == 1 else None


def _summary(findings: Sequence[Finding]) -> list[tuple[int, str, str]]:
    """Rank, pid and exit code of each worker in torchrun's summary."""
    exits = {(one.source, one.line): one for one in findings if one.signature == SUMMARY_EXIT}
    rows = []
    for one in findings:
        rank = number(one, "rank") if one.signature == SUMMARY_RANK else None
        below = (exits.get((one.source, one.line + gap)) for gap in range(1, SUMMARY_ROWS))
        end = next((row for row in below if row is not None), None)
        if rank is not None and end is not None:
            rows.append((rank, end.fields.get("pid", ""), end.fields.get("code", "")))
    return rows


def _by_peer(root: Incident, view: JobView) -> int | None:
    """The rank that the root's peer waits for: two ends of one failed copy name each other."""
    peers = {number(finding, "remote_rank") for finding in root.findings} - {None}
    if len(peers) != 1:
        return None
    seats = find_seats(view)
    (peer,) = peers
    awaited = {
        seats.world(one.communicator, one.remote)
        for one in task_reports(view, seats)
        if one.remote is not None and peer in (one.inside, one.rank) and one.finding.writer != root.lead.writer
    }
    return awaited.pop() if len(awaited) == 1 else None


def _by_death(root: Incident, view: JobView) -> int | None:
    """The only worker on the machine of which a launcher says that SIGKILL ended it, where the kernel killed one."""
    if root.subcategory != KILLED_FOR_MEMORY or root.actor.pid is not None:
        return None
    dead = [one for one in view.findings if one.signature in DEATHS and one.fields.get("code", "-9") in BY_SIGKILL]
    ranks = set()
    for finding in dead:
        told = number(finding, "rank")
        ranks |= {told} - {None}
        places = {root.actor.node, finding.actor.node} - {None}
        pid = number(finding, "pid")
        named = [one for one in view.cluster.processes if one.pid == pid and one.rank is not None]
        ranks |= {one.rank for one in named if not places or places == {one.node}}
    return ranks.pop() if len(ranks) == 1 else None


KILLED_FOR_MEMORY = "host-oom"
"""Subcategory of what a kernel says when it ends a process because memory is used up."""

DEATHS = ("launcher/worker-exit", SUMMARY_EXIT, "python/ray-actor-died", "python/worker-died")
BY_SIGKILL = ("-9", "137")


def _by_loss(root: Incident, chain: Chain) -> int | None:
    """The only rank, on the machine as far as it is known, whose own log tells of the same fault of its device."""
    if root.category != "device":
        return None
    effects = {edge.effect for edge in chain.edges if edge.cause == root.id}
    same = [one for one in chain.incidents if one.id in effects or one.subcategory == root.subcategory]
    losers = [one for one in same if one.category == "device" and not one.waits and one.id != root.id]
    places = {one.actor.rank: one.actor.node for one in losers if one.actor.rank is not None}
    here = {rank for rank, node in places.items() if node == root.actor.node}
    ranks = here or (set(places) if root.actor.node is None else set())
    return ranks.pop() if len(ranks) == 1 else None


def _by_absence(root: Incident, chain: Chain) -> int | None:
    """The one rank of 0 to n that does not wait, when all the others wait for what the root holds up."""
    effects = {edge.effect for edge in chain.edges if edge.cause == root.id}
    waiting = {one.actor.rank for one in chain.incidents if one.waits and one.id in effects} - {None}
    if root.actor.pid is not None or len(waiting) < MIN_WAITING:
        return None
    absent = set(range(max(rank for rank in waiting if rank is not None))) - waiting
    return absent.pop() if len(absent) == 1 else None


MIN_WAITING = 3


def _by_store(root: Incident) -> int | None:
    serves = root.signature == PORT_IN_USE and root.lead.format == "glog" and STORE_SERVER in root.lead.quote
    return 0 if serves else None


PORT_IN_USE = "host/port-in-use"
STORE_SERVER = "[c10d] The server socket"
