"""Names the process of incidents whose own lines do not: kernel and launcher name the pid that they speak of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.correlate.identity import integer
from plogscope.model.chain import Cluster, Incident, Process
from plogscope.model.record import Finding
from plogscope.model.signature import Signature

KERNEL_FORMATS = ("dmesg", "syslog", "hwlog")
FIRST_EXIT = "launcher/first-observed-failure"
SUMMARY_RANK = "launcher/summary-rank"
SUMMARY_EXIT = "launcher/summary-exit"
SUMMARY_LINES = 8
SOFTWARE_FORMATS = ("traceback", "exception", "text", "faulthandler", "native-crash", "error-manager")
"""Formats of text that a process prints without saying which process it is."""


def name_victims(
    incidents: Sequence[Incident], findings: Iterable[Finding], signatures: Mapping[str, Signature], cluster: Cluster
) -> list[Incident]:
    """Incidents with the process that they happened to.

    1. A line of the kernel, or of nobody, that names the pid of a process of the job is about that process, so it is no
       longer a remark beside the job.
    2. In the output of a node whose processes do not name themselves, the first failure is that of the only process of
       the node that waits for nobody; if there are several, that of the worker that the launcher saw exit first, by
       itself (a positive exit code), when nobody in that output waited before.
    """
    by_pid: dict[int, list[Process]] = defaultdict(list)
    for one in cluster.processes:
        if one.pid is not None:
            by_pid[one.pid].append(one)
    exits = _first_exits(findings)
    waiting = {one.actor.rank for one in incidents if one.waits and one.actor.rank is not None}
    waited = {source: _first_wait(source, incidents) for source in exits}
    named: list[Incident] = []
    claimed: set[int] = set()
    for incident in incidents:
        process = _spoken_of(incident, signatures, by_pid)
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
    return named


def _first_wait(source: int, incidents: Sequence[Incident]) -> int:
    return min((one.lead.line for one in incidents if one.waits and one.lead.source == source), default=1 << 62)


def _spoken_of(
    incident: Incident, signatures: Mapping[str, Signature], by_pid: Mapping[int, Sequence[Process]]
) -> Process | None:
    actor = incident.actor
    if actor.rank is not None or (actor.pid is not None and incident.lead.format not in KERNEL_FORMATS):
        return None
    for finding in (incident.lead, *incident.findings):
        signature = signatures.get(finding.signature or "")
        for name, value in finding.fields.items() if signature is not None else ():
            if signature is None or signature.extract[name].meaning != "pid":
                continue
            known = [one for one in by_pid.get(integer(value) or 0, ()) if actor.node in (None, one.node)]
            if len(known) == 1 and known[0].rank is not None:
                return known[0]
    return None


def _is_nameless_failure(incident: Incident) -> bool:
    actor = incident.actor
    nameless = actor.pid is None and actor.rank is None and actor.local_rank is None
    own = incident.role in ("cause", "either") and not incident.waits
    return nameless and own and incident.lead.format in SOFTWARE_FORMATS


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
