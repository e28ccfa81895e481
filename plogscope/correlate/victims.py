"""Names the process of incidents whose own lines do not: kernel and launcher name the pid that they speak of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.correlate.identity import integer
from plogscope.model.chain import KERNEL_FORMATS, Cluster, Incident, Process
from plogscope.model.record import Actor, Finding
from plogscope.model.signature import Signature

NAMING_FORMATS = KERNEL_FORMATS | {"hwlog"}
"""Logs in which the system speaks of processes by their pid."""

FIRST_EXIT = "launcher/first-observed-failure"
SUMMARY_RANK = "launcher/summary-rank"
SUMMARY_EXIT = "launcher/summary-exit"
SUMMARY_LINES = 8
SOFTWARE_FORMATS = ("traceback", "exception", "text", "faulthandler", "native-crash", "error-manager")
"""Formats of text that a process prints without saying which process it is."""

LOGGED = "py-logging"
"""Anybody logs what can be an error; what is one is logged by the process that it ends. C code prints in this form."""


def name_victims(
    incidents: Sequence[Incident], findings: Iterable[Finding], signatures: Mapping[str, Signature], cluster: Cluster
) -> list[Incident]:
    """Incidents with the process that they happened to.

    1. A line of the kernel, or of nobody, that names the pid of a process of the job is about that process. So is one
       that names the pid of a child of which the process itself says that it ended.
    2. In the output of a node whose processes do not name themselves, the first failure is that of the only process of
       the node that waits for nobody; if there are several, that of the worker that the launcher saw exit first, by
       itself (a positive exit code), when nobody in that output waited before.
    """
    by_pid: dict[int, list[Process]] = defaultdict(list)
    for one in cluster.processes:
        if one.pid is not None:
            by_pid[one.pid].append(one)
    children = _children(incidents, signatures)
    exits = _first_exits(findings)
    waiting = {one.actor.rank for one in incidents if one.waits and one.actor.rank is not None}
    waited = {source: _first_wait(source, incidents) for source in exits}
    named: list[Incident] = []
    claimed: set[int] = set()
    for incident in incidents:
        process = _spoken_of(incident, signatures, by_pid) or _parent_of(incident, signatures, children)
        source = incident.lead.source
        if process is None and source not in claimed and _is_nameless_failure(incident):
            claimed.add(source)
            here = [one for one in cluster.processes if one.node == incident.actor.node and one.rank is not None]
            free = [one for one in here if one.rank not in waiting]
            line, rank = exits.get(source, (0, None))
            if len(here) > 1 and len(free) == 1:
                process = free[0]
            elif incident.lead.line < line <= waited.get(source, line):
                process = next((one for one in free if one.rank == rank), None)
        named.append(incident if process is None else _happened_to(incident, process))
    return [_first_hand(one, named) if one.lead.format in KERNEL_FORMATS else one for one in named]


CRASH = "native-crash"
"""Subcategory of what the kernel notes when a program crashes."""


def _first_hand(incident: Incident, incidents: Sequence[Incident]) -> Incident:
    """What the kernel says of a process of the job is no mere condition of its host.

    A crash is a cause, unless the process itself complained before: many crash while they end.
    """
    if incident.actor.rank is None:
        return incident
    complained = any(
        other.actor.rank == incident.actor.rank and other.lead.format not in KERNEL_FORMATS and _is_failure(other)
        for other in incidents
    )
    role = "cause" if incident.subcategory == CRASH and not complained else incident.role
    return msgspec.structs.replace(incident, hushed=False, role=role)


def _is_failure(incident: Incident) -> bool:
    return incident.signature is not None and incident.role in ("cause", "symptom") and not incident.hushed


def _first_wait(source: int, incidents: Sequence[Incident]) -> int:
    return min((one.lead.line for one in incidents if one.waits and one.lead.source == source), default=1 << 62)


def _spoken_of(
    incident: Incident, signatures: Mapping[str, Signature], by_pid: Mapping[int, Sequence[Process]]
) -> Process | None:
    actor = incident.actor
    if actor.rank is not None or (actor.pid is not None and incident.lead.format not in NAMING_FORMATS):
        return None
    for finding in (incident.lead, *incident.findings):
        for pid in _pids(finding, signatures):
            known = [one for one in by_pid.get(pid, ()) if actor.node in (None, one.node)]
            if len(known) == 1 and known[0].rank is not None:
                return known[0]
    return None


def _children(incidents: Sequence[Incident], signatures: Mapping[str, Signature]) -> dict[int, Actor]:
    """Pid of a child whose end a process reports → that process."""
    return {
        pid: one.actor
        for one in incidents
        if one.lead.format not in NAMING_FORMATS and one.role != "teardown" and one.actor.rank is not None
        for pid in _pids(one.lead, signatures)
        if pid != one.actor.pid
    }


def _parent_of(
    incident: Incident, signatures: Mapping[str, Signature], children: Mapping[int, Actor]
) -> Process | None:
    if incident.lead.format not in NAMING_FORMATS:
        return None
    parents = [children[pid] for one in incident.findings for pid in _pids(one, signatures) if pid in children]
    node = incident.actor.node
    known = next((one for one in parents if node is None or one.node in (None, node)), None)
    return None if known is None else Process(node=node, pid=None, rank=known.rank, device=known.device)


def _pids(finding: Finding, signatures: Mapping[str, Signature]) -> list[int]:
    signature = signatures.get(finding.signature or "")
    if signature is None:
        return []
    named = [value for name, value in finding.fields.items() if signature.extract[name].meaning == "pid"]
    return [pid for pid in map(integer, named) if pid is not None]


def _is_nameless_failure(incident: Incident) -> bool:
    actor = incident.actor
    nameless = actor.pid is None and actor.rank is None and actor.local_rank is None
    own = incident.role in ("cause", "either") and not incident.waits
    logged = incident.lead.format == LOGGED and incident.role == "cause" and not incident.hushed
    return nameless and own and (logged or incident.lead.format in SOFTWARE_FORMATS)


def _first_exits(findings: Iterable[Finding]) -> dict[int, tuple[int, int]]:
    """Source → (line of the summary, rank), where exactly one summary names a worker that exited by itself."""
    heads: dict[int, list[int]] = defaultdict(list)
    ranks: dict[int, list[tuple[int, int]]] = defaultdict(list)
    codes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for finding in findings:
        if finding.signature == FIRST_EXIT:
            heads[finding.source].append(finding.line)
        elif finding.signature == SUMMARY_RANK and (rank := integer(finding.fields.get("rank"))) is not None:
            ranks[finding.source].append((finding.line, rank))
        elif finding.signature == SUMMARY_EXIT and (code := integer(finding.fields.get("code"))):
            codes[finding.source].append((finding.line, code))
    exits: dict[int, tuple[int, int]] = {}
    for source, lines in heads.items():
        rank = _below(ranks[source], lines[0])
        if len(lines) == 1 and rank is not None and _below(codes[source], lines[0]) is not None:
            exits[source] = (lines[0], rank)
    return exits


def _below(rows: Iterable[tuple[int, int]], line: int) -> int | None:
    return next((value for at, value in rows if 0 < at - line <= SUMMARY_LINES), None)


def _happened_to(incident: Incident, process: Process) -> Incident:
    actor = msgspec.structs.replace(
        incident.actor, node=process.node, pid=process.pid, rank=process.rank, device=process.device
    )
    return msgspec.structs.replace(incident, actor=actor, hushed=False)
