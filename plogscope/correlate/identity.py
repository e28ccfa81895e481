"""Who is who: process → node, pid, device, world rank; communicators and their members."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.model.chain import Communicator, Process
from plogscope.model.record import Actor, Finding
from plogscope.model.signature import Signature
from plogscope.model.source import Bundle

NO_RANK = 4_294_967_295
"""HCCL prints the largest u32 where there is no rank."""

ProcessKey = tuple[str | None, int]


class Identities(msgspec.Struct, frozen=True):
    """Processes by (node, pid), communicators by identifier, and how many ranks the job has as far as lines say."""

    processes: dict[ProcessKey, Process]
    communicators: tuple[Communicator, ...]
    expected_ranks: int | None


class _Votes(msgspec.Struct):
    """What lines say about one process, with how many say it."""

    ranks: Counter[int]
    devices: Counter[int]


def identify(findings: Sequence[Finding], signatures: Mapping[str, Signature]) -> Identities:
    """Reads rank, device and communicator of every process from what its own lines say.

    A rank inside a communicator is the world rank only for the largest communicator that the process joins; prefixes
    and file names state the world rank directly and win.
    """
    votes: dict[ProcessKey, _Votes] = defaultdict(lambda: _Votes(Counter(), Counter()))
    members: dict[str, dict[ProcessKey, int]] = defaultdict(dict)
    sizes: dict[str, int] = {}
    for finding in findings:
        actor = finding.actor
        if actor.pid is None:
            continue
        key = (actor.node, actor.pid)
        if actor.rank is not None and actor.rank >= 0:
            votes[key].ranks[actor.rank] += 1000
        if actor.device is not None and actor.device >= 0:
            votes[key].devices[actor.device] += 10
        signature = signatures.get(finding.signature or "")
        if signature is not None and signature.role != "noise":
            _note_membership(finding, signature, key, votes, members, sizes)
    world = max(sizes.values(), default=None)
    for name, ranks in members.items():
        if sizes.get(name) == world:
            for key, rank in ranks.items():
                votes[key].ranks[rank] += 1
    processes = {key: _process(key, vote) for key, vote in votes.items()}
    communicators = tuple(
        Communicator(identifier=name, size=sizes.get(name), ranks=tuple(sorted(set(ranks.values()))))
        for name, ranks in sorted(members.items())
    )
    return Identities(processes, communicators, world)


def _note_membership(
    finding: Finding,
    signature: Signature,
    key: ProcessKey,
    votes: dict[ProcessKey, _Votes],
    members: dict[str, dict[ProcessKey, int]],
    sizes: dict[str, int],
) -> None:
    found = {signature.extract[name].meaning: value for name, value in finding.fields.items()}
    device = integer(found.get("device"))
    if device is not None and device >= 0:
        votes[key].devices[device] += 1
    name, size = found.get("communicator"), integer(found.get("rank_size"))
    rank = integer(found.get("rank", found.get("group_rank")))
    if name and size:
        sizes[name] = max(size, sizes.get(name, 0))
    if name and rank is not None and rank != NO_RANK:
        members[name][key] = rank


def _process(key: ProcessKey, vote: _Votes) -> Process:
    rank = vote.ranks.most_common(1)[0][0] if vote.ranks else None
    device = vote.devices.most_common(1)[0][0] if vote.devices else None
    return Process(node=key[0], pid=key[1], rank=rank, device=device)


def integer(text: str | None) -> int | None:
    """The decimal number that the text is, else None."""
    return int(text) if text is not None and text.isdecimal() and len(text) <= 10 else None  # noqa: PLR2004 - u32


def complete_actors(findings: Iterable[Finding], identities: Identities, alone: Mapping[int, int]) -> list[Finding]:
    """Findings whose actors say all that is known about their process.

    Lines of a printed log in which only one process is ever named belong to that process. A line with a rank and no pid belongs to the one process of its node with that rank; a line with a local rank only
    belongs to the process of its node on the device of that number.
    """
    by_rank: dict[tuple[str | None, int], list[Process]] = defaultdict(list)
    by_device: dict[tuple[str | None, int], list[Process]] = defaultdict(list)
    for process in identities.processes.values():
        if process.rank is not None:
            by_rank[process.node, process.rank].append(process)
        if process.device is not None:
            by_device[process.node, process.device].append(process)

    def find(actor: Actor) -> Process | None:
        if actor.pid is not None:
            return identities.processes.get((actor.node, actor.pid))
        if actor.rank is not None:
            return _only(by_rank.get((actor.node, actor.rank), []))
        if actor.local_rank is not None:
            return _only(by_device.get((actor.node, actor.local_rank), []))
        return None

    named = [_named(finding, alone) for finding in findings]
    return [_completed(finding, find(finding.actor)) for finding in named]


def sole_processes(findings: Iterable[Finding], bundle: Bundle) -> dict[int, int]:
    """Source id → pid, for printed logs that hold the output of one process as far as anything tells.

    That is the only pid that its lines name; if they name none, the only pid that has plogs beside it (same node, same
    step of a five-step run).
    """
    named: dict[int, set[int]] = defaultdict(set)
    many: set[int] = set()
    for finding in findings:
        if finding.actor.pid is not None:
            named[finding.source].add(finding.actor.pid)
        elif finding.actor.rank is not None or finding.actor.local_rank is not None:
            many.add(finding.source)
    beside: dict[tuple[str | None, str | None], set[int]] = defaultdict(set)
    for source in bundle.sources:
        if source.kind == "plog" and source.pid is not None:
            beside[source.node, source.step].add(source.pid)
    sole: dict[int, int] = {}
    for source in bundle.sources:
        pids = named.get(source.id) or beside.get((source.node, source.step), set())
        if source.kind in ("stdout", "npugraph-debug") and source.id not in many and len(pids) == 1:
            sole[source.id] = next(iter(pids))
    return sole


def _named(finding: Finding, alone: Mapping[int, int]) -> Finding:
    pid = alone.get(finding.source)
    if pid is None or finding.actor.pid is not None:
        return finding
    return msgspec.structs.replace(finding, actor=msgspec.structs.replace(finding.actor, pid=pid))


def _only(processes: list[Process]) -> Process | None:
    return processes[0] if len(processes) == 1 else None


def _completed(finding: Finding, process: Process | None) -> Finding:
    if process is None:
        return finding
    actor = finding.actor
    return msgspec.structs.replace(
        finding,
        actor=msgspec.structs.replace(
            actor,
            pid=actor.pid if actor.pid is not None else process.pid,
            rank=actor.rank if actor.rank is not None and actor.rank >= 0 else process.rank,
            device=actor.device if actor.device is not None else process.device,
        ),
    )
