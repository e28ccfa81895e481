"""Who is who: process → node, pid, device, world rank; communicators and their members."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.model.chain import Communicator, Process
from plogscope.model.record import Finding, ProcessKey
from plogscope.model.signature import Signature
from plogscope.model.source import Bundle

NO_RANK = 4_294_967_295
"""HCCL prints the largest u32 where there is no rank."""


class Identities(msgspec.Struct, frozen=True):
    """Processes by (node, pid), communicators by identifier, and how many ranks the job has as far as lines say."""

    processes: dict[ProcessKey, Process]
    local_ranks: dict[ProcessKey, int]
    communicators: tuple[Communicator, ...]
    expected_ranks: int | None


class _Votes(msgspec.Struct):
    """What lines say about one process, with how many say it."""

    ranks: Counter[int] = msgspec.field(default_factory=Counter)
    devices: Counter[int] = msgspec.field(default_factory=Counter)
    local_ranks: Counter[int] = msgspec.field(default_factory=Counter)


def identify(findings: Sequence[Finding], signatures: Mapping[str, Signature]) -> Identities:
    """Reads rank, device and communicator of every process from what its own lines say.

    A rank inside a communicator is the world rank only for the largest communicator that the process joins; prefixes
    and file names state the world rank directly and win.
    """
    votes: dict[ProcessKey, _Votes] = defaultdict(_Votes)
    members: dict[str, dict[ProcessKey, int]] = defaultdict(dict)
    sizes: dict[str, int] = {}
    for finding in findings:
        actor = finding.actor
        if actor.pid is None or actor.pid <= 0:
            continue
        key = (actor.node, actor.pid)
        mine = votes[key]
        if actor.rank is not None and actor.rank >= 0:
            mine.ranks[actor.rank] += 1000
        if actor.device is not None and actor.device >= 0:
            mine.devices[actor.device] += 10
        if actor.local_rank is not None and actor.local_rank >= 0:
            mine.local_ranks[actor.local_rank] += 10
        signature = signatures.get(finding.signature or "")
        if signature is not None and signature.role != "noise":
            _note_membership(finding, signature, key, votes, members, sizes)
    _note_launcher(findings, votes)
    _note_only_seats(findings, votes)
    world = _whole(sizes.values(), findings)
    for name, ranks in members.items():
        if sizes.get(name) == world:
            for key, rank in ranks.items():
                votes[key].ranks[rank] += 1
    processes = {key: _process(key, vote) for key, vote in votes.items()}
    communicators = tuple(
        Communicator(identifier=name, size=sizes.get(name), ranks=tuple(sorted(set(ranks.values()))))
        for name, ranks in sorted(members.items())
    )
    local_ranks = {key: vote.local_ranks.most_common(1)[0][0] for key, vote in votes.items() if vote.local_ranks}
    return Identities(processes, {**_seated_in_order(processes.values()), **local_ranks}, communicators, world)


def _whole(sizes: Iterable[int], findings: Iterable[Finding]) -> int | None:
    """The size of the largest communicator, unless a higher rank shows that it is only a part of the job."""
    size = max(sizes, default=None)
    highest = max((finding.actor.rank for finding in findings if finding.actor.rank is not None), default=0)
    return size if size is None or highest <= size else None  # names of files may count from 1


def _seated_in_order(processes: Iterable[Process]) -> dict[ProcessKey, int]:
    """Local ranks of nodes whose world ranks are a complete block, as launchers deal them out (16..23: 0..7)."""
    by_node: dict[str | None, list[Process]] = defaultdict(list)
    for process in processes:
        if process.rank is not None and process.pid is not None:
            by_node[process.node].append(process)
    seats: dict[ProcessKey, int] = {}
    for node, members in by_node.items():
        ranks = sorted(one.rank for one in members if one.rank is not None)
        if len(ranks) > 1 and ranks == list(range(ranks[0], ranks[0] + len(ranks))) and ranks[0] % len(ranks) == 0:
            seats |= {(node, one.pid): one.rank - ranks[0] for one in members if one.rank is not None and one.pid}
    return seats


def _note_only_seats(findings: Sequence[Finding], votes: dict[ProcessKey, _Votes]) -> None:
    """Ranks of processes of which nothing but their seat in one communicator is known, if no two of them collide."""
    stated: dict[ProcessKey, set[int]] = defaultdict(set)
    for finding in findings:
        rank = integer(finding.fields.get("group_rank"))
        key = (finding.actor.node, finding.actor.pid or 0)
        if finding.signature == LOCAL_RANK and rank is not None and key in votes:
            stated[key].add(rank)
    only = {key: next(iter(ranks)) for key, ranks in stated.items() if len(ranks) == 1 and not votes[key].ranks}
    if len(set(only.values())) == len(only) and all(len(ranks) == 1 for ranks in stated.values()):
        for key, rank in only.items():
            votes[key].ranks[rank] += 1


LOCAL_RANK = "hccl/local-rank-key-info"


def _note_launcher(findings: Sequence[Finding], votes: dict[ProcessKey, _Votes]) -> None:
    """Rank, local rank and pid of a worker as torchrun names them: in one line, or in rows of its summary.

    Only processes that wrote something themselves are given what the launcher says of them.
    """
    ranks = [one for one in findings if one.signature == SUMMARY_RANK]
    exits = {(one.source, one.line): one for one in findings if one.signature == SUMMARY_EXIT}
    for finding in findings:
        pid, local = integer(finding.fields.get("pid")), integer(finding.fields.get("local_rank"))
        key = (finding.actor.node, pid or 0)
        if finding.signature in (WORKER_EXIT, RANK_LINE) and key in votes and local is not None:
            votes[key].local_ranks[local] += 1
        if (
            finding.signature == RANK_LINE
            and key in votes
            and (rank := integer(finding.fields.get("rank"))) is not None
        ):
            votes[key].ranks[rank] += 100
    for row in ranks:
        below = (exits.get((row.source, row.line + gap)) for gap in range(1, SUMMARY_ROWS))
        exit_row = next((one for one in below if one is not None), None)
        key = (row.actor.node, integer(exit_row.fields.get("pid")) or 0) if exit_row is not None else (None, 0)
        if key in votes:
            votes[key].ranks[int(row.fields["rank"])] += 100
            votes[key].local_ranks[int(row.fields["local_rank"])] += 1


HCOM_INIT = "hccl/hcom-init"
WORKER_EXIT = "launcher/worker-exit"
IN_WORDS = 5000
"""What `rankNum[8], rank[2]` says weighs more than a number in brackets before the text, which was seen to be wrong."""

RANK_LINE = "env/rank-line"
SUMMARY_RANK = "launcher/summary-rank"
SUMMARY_EXIT = "launcher/summary-exit"
SUMMARY_ROWS = 4
"""Rank and pid of one worker stand this close together in torchrun's summary."""


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
    if finding.signature == HCOM_INIT and rank is not None and rank != NO_RANK:
        votes[key].ranks[rank] += IN_WORDS


def _process(key: ProcessKey, vote: _Votes) -> Process:
    rank = vote.ranks.most_common(1)[0][0] if vote.ranks else None
    device = vote.devices.most_common(1)[0][0] if vote.devices else None
    return Process(node=key[0], pid=key[1], rank=rank, device=device)


def integer(text: str | None) -> int | None:
    """The decimal number that the text is, else None."""
    return int(text) if text is not None and text.isdecimal() and len(text) <= 10 else None  # noqa: PLR2004 - u32


def complete_actors(findings: Iterable[Finding], identities: Identities, alone: Mapping[int, int]) -> list[Finding]:
    """Findings whose actors say all that is known about their process.

    Lines of a printed log in which only one process is ever named belong to that process. A line with a rank or local
    rank and no pid belongs to the one process that its own file names with it: steps of one run, and runs in one
    folder, have the same ranks. Where the file names none, a line with a rank belongs to the one process of its node
    with that rank (of the job, if the file is of no node), and a line with a local rank only to the process of its node
    with that local rank, else on the device of that number.
    """
    findings = list(findings)
    in_file = _named_in_file(findings, identities)
    by_rank: dict[tuple[str | None, int], list[Process]] = defaultdict(list)
    by_device: dict[tuple[str | None, int], list[Process]] = defaultdict(list)
    by_local: dict[tuple[str | None, int], list[Process]] = defaultdict(list)
    anywhere: dict[int, list[Process]] = defaultdict(list)
    for key, process in identities.processes.items():
        if key in identities.local_ranks:
            by_local[process.node, identities.local_ranks[key]].append(process)
        if process.rank is not None:
            by_rank[process.node, process.rank].append(process)
            anywhere[process.rank].append(process)
        if process.device is not None:
            by_device[process.node, process.device].append(process)

    def find(finding: Finding) -> Process | None:
        actor = finding.actor
        if actor.pid is not None:
            return identities.processes.get((actor.node, actor.pid))
        beside = in_file.get((finding.source, actor.rank, actor.local_rank))
        if beside is not None and len(beside) == 1:
            return next(iter(beside.values()))
        if actor.rank is not None:
            mine = by_rank.get((actor.node, actor.rank), [])
            return _only(mine if mine or actor.node is not None else anywhere.get(actor.rank, []))
        if actor.local_rank is not None:
            seat = (actor.node, actor.local_rank)
            return _only(by_local.get(seat) or by_device.get(seat, []))
        return None

    named = [_named(finding, alone) for finding in findings]
    return [_completed(finding, find(finding)) for finding in named]


def _named_in_file(
    findings: Iterable[Finding], identities: Identities
) -> dict[tuple[int, int | None, int | None], dict[ProcessKey, Process]]:
    """By (source, rank, local rank) as lines print them: the processes whose lines in that source carry both."""
    named: dict[tuple[int, int | None, int | None], dict[ProcessKey, Process]] = defaultdict(dict)
    for finding in findings:
        actor = finding.actor
        if actor.pid is None or (actor.rank is None and actor.local_rank is None):
            continue
        key = (actor.node, actor.pid)
        if key in identities.processes:
            named[finding.source, actor.rank, actor.local_rank][key] = identities.processes[key]
    return named


def sole_processes(findings: Iterable[Finding], bundle: Bundle) -> dict[int, int]:
    """Source id → pid, for printed logs that hold the output of one process as far as anything tells.

    That is the only pid that its lines name; if they name none, the only pid that has plogs beside it (same node, same
    step of a five-step run). A pid of no such process, where there are some, is the launcher's.
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
        near = beside.get((source.node, source.step), set())
        pids = named.get(source.id) or near
        if near and not pids & near:
            continue
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
            node=actor.node if actor.node is not None else process.node,
            pid=actor.pid if actor.pid is not None else process.pid,
            rank=actor.rank if actor.rank is not None and actor.rank >= 0 else process.rank,
            device=actor.device if actor.device is not None else process.device,
        ),
    )
