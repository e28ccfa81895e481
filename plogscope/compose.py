"""Results of the stages → the Report. Nothing is decided here; every statement gets its file and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha1

import msgspec

from plogscope.chain.edges import reason_of
from plogscope.compose_cluster import cluster_entry
from plogscope.evidence.around import lines_around
from plogscope.evidence.environment import read_environment
from plogscope.explain.names import public
from plogscope.explain.query import read as read_query
from plogscope.model.chain import Chain, Cluster, Edge, Incident
from plogscope.model.record import Finding
from plogscope.model.report import (
    SCHEMA,
    Alternative,
    BundleEntry,
    ChainEntry,
    Coverage,
    Evidence,
    FileEntry,
    LineSpan,
    Report,
    RootCause,
    SuspectEntry,
    Timeline,
    Tool,
    Triage,
    UnknownError,
    Verdict,
)
from plogscope.model.signature import Signature, names
from plogscope.model.source import Bundle, Skipped
from plogscope.model.vocabulary import Place, Text
from plogscope.moment import iso_local, utc_now
from plogscope.scan.merge import SourceStats
from plogscope.scan.read import MAX_LINE_BYTES
from plogscope.statement import state_verdict
from plogscope.verdict import Judgement
from plogscope.wording import say

MAX_CHAIN_ENTRIES = 400
MAX_LAYERS = 6
MAX_EVIDENCE = 24
MAX_UNKNOWN = 50
CODE_MEANINGS = ("code", "errcode")
CLEAR_CODE = 5
"""A number of so many digits is a code of one kind; a shorter one means something else in every layer."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the stages found out."""

    bundle: Bundle
    chain: Chain
    cluster: Cluster
    judgement: Judgement
    triage: Triage
    timeline: Timeline
    timeline_start_ns: int | None
    findings: tuple[Finding, ...]
    signatures: Mapping[str, Signature]
    stats: Mapping[int, SourceStats]
    skipped: tuple[Skipped, ...]
    timeouts: int
    set_aside: int
    notes: tuple[Text, ...]
    tool: Tool


def assemble_report(case: Case) -> Report:
    """The report of a case."""
    entries = _chain_entries(case)
    start = case.timeline_start_ns
    return Report(
        schema=SCHEMA,
        tool=case.tool,
        bundle=BundleEntry(case.bundle.path, case.bundle.layout, _files(case)),
        triage=case.triage,
        verdict=_verdict(case),
        chain=entries,
        evidence=_evidence(case, entries),
        next_actions=list(case.judgement.actions),
        timeline=msgspec.structs.replace(case.timeline, t0=None if start is None else iso_local(start)),
        cluster=cluster_entry(case.bundle, case.chain, case.cluster),
        environment=read_environment(case.bundle, case.findings, case.signatures),
        coverage=_coverage(case),
        generated=utc_now(),
    )


def _files(case: Case) -> list[FileEntry]:
    reasons = {skipped.path: skipped.reason for skipped in case.skipped}
    known = {p.key: p for p in case.cluster.processes if p.key is not None}
    entries = []
    for source in case.bundle.sources:
        stats = case.stats.get(source.id)
        process = known.get((source.node, source.pid)) if source.pid is not None else None
        entries.append(
            FileEntry(
                path=source.path,
                kind=source.kind,
                node=source.node,
                pid=source.pid,
                rank=source.rank if source.rank is not None or process is None else process.rank,
                device=source.device if source.device is not None or process is None else process.device,
                bytes=source.size,
                lines=stats.lines if stats else 0,
                records=stats.records if stats else 0,
                unparsed=stats.unparsed if stats else 0,
                first_time=iso_local(stats.first_ns) if stats else None,
                last_time=iso_local(stats.last_ns) if stats else None,
                skipped=reasons.pop(source.path, None),
            )
        )
    entries += [FileEntry(path=path, kind="skipped", skipped=reason) for path, reason in sorted(reasons.items())]
    return entries


def _verdict(case: Case) -> Verdict:
    judgement, chain = case.judgement, case.chain
    explained = judgement.status == "explained"
    root = chain.incident(chain.root) if explained else None
    alternatives = []
    for rival in chain.rivals if explained else ():
        incident = chain.incident(rival.incident)
        if incident is not None:
            fields = msgspec.structs.asdict(_stated(case, incident))
            alternatives.append(Alternative(**fields, why_not=rival.why_not))
    suspects = [
        SuspectEntry(rank=one.rank, node=one.node, device=one.device, pid=one.pid, why=one.why, need=one.need)
        for one in chain.suspects
    ]  # fmt: skip
    return Verdict(
        status=judgement.status,
        category=judgement.category,
        subcategory=judgement.subcategory,
        confidence=judgement.confidence,
        statement=state_verdict(chain, judgement, case.signatures),
        root_cause=_stated(case, root) if root else None,
        suspects=suspects if judgement.status != "no-failure" else [],
        alternatives=alternatives,
    )


def _stated(case: Case, incident: Incident) -> RootCause:
    lead, actor = incident.lead, incident.actor
    code, code_name = _code(case, incident)
    reason = case.chain.root_reason if incident.id == case.chain.root else None
    return RootCause(
        signature=incident.signature,
        title=reason or incident.title,
        code=code,
        code_name=code_name,
        file=case.bundle.sources[lead.source].path,
        line=lead.line,
        quote=lead.quote,
        record=LineSpan(lead.record_line, lead.record_end_line),
        time=None if lead.before else iso_local(lead.time_ns),
        node=actor.node,
        pid=actor.pid,
        device=actor.device,
        rank=actor.rank if actor.rank is not None else _named_rank(case, incident),
        fields=lead.fields,
        time_quality=lead.time_quality,
    )


def _named_rank(case: Case, incident: Incident) -> int | None:
    """The rank that the lead line itself names, when nothing tells which rank wrote it."""
    signature = case.signatures.get(incident.signature or "")
    for name, value in incident.lead.fields.items() if signature else ():
        if signature is not None and signature.extract[name].meaning == "rank" and value.isdecimal():
            return int(value)
    return None


def _code(case: Case, incident: Incident) -> tuple[str | None, str | None]:
    """The code that the lead line states, else one that another line of the incident states, and its name."""
    for finding in (incident.lead, *incident.findings):
        signature = case.signatures.get(finding.signature or "")
        for name, value in finding.fields.items() if signature else ():
            if signature is not None and signature.extract[name].meaning in CODE_MEANINGS:
                return value, _code_name(value, finding.quote)
    return None, None


def _code_name(code: str, quote: str) -> str | None:
    """`drv:6` for a short number whose line tells which kind of code it is; None when it is clear or not known."""
    if not code.isdecimal() or len(code) >= CLEAR_CODE:
        return None
    hits = {hit.key for hit in read_query(quote).hits if hit.row.code == code}
    return public(hits.pop()) if len(hits) == 1 else None


def _chain_entries(case: Case) -> list[ChainEntry]:
    """Root first, then by time; recovered ones last. Beyond the limit the coverage says how many."""
    chain = case.chain
    explained: dict[str, list[str]] = {}
    first: dict[str, Edge] = {}
    for link in chain.edges:
        explained.setdefault(link.effect, []).append(link.cause)
        first.setdefault(link.effect, link)
    by_id = {one.id: one for one in chain.incidents}
    show_causes = case.judgement.status == "explained"
    rank = {"root": 0, "cascade": 1, "witness": 1, "teardown": 2, "recovered": 3}
    ordered = sorted(chain.incidents, key=lambda one: rank[chain.places[one.id]])
    entries: list[ChainEntry] = []
    for one in ordered[:MAX_CHAIN_ENTRIES]:
        place = chain.places[one.id]
        if not show_causes and place in ("root", "cascade"):
            place = "witness"
        alive = place != "recovered"
        causes = explained.get(one.id, [])[:8] if alive else []
        edge = first.get(one.id) if causes else None
        if edge is not None:
            edge = msgspec.structs.replace(edge, reason=reason_of(edge, by_id[edge.cause], one))
        entries.append(_entry(case, one, one.lead, one.id, place, causes, edge))
        if alive:
            entries += _layers(case, one, place)
    return entries


def _layers(case: Case, incident: Incident, place: Place) -> list[ChainEntry]:
    """The other lines of an incident that a reader may take for the failure itself: one of each signature."""
    seen = {incident.lead.signature}
    layers: list[ChainEntry] = []
    for finding in incident.findings:
        if finding.signature in seen or finding.signature is None or len(layers) >= MAX_LAYERS:
            continue
        seen.add(finding.signature)
        layer = case.signatures[finding.signature]
        lead = case.signatures.get(incident.signature or "")
        named = lead is not None and any(names(rule, finding.signature) for rule in lead.chain.explains)
        reason = say("edge.signature" if named else "edge.layer", cause=incident.title, effect=layer.title)
        layer_id = f"{incident.id}.{len(layers) + 1}"
        edge = Edge(cause=incident.id, effect=layer_id, kind="signature" if named else "wraps", reason=reason)
        entry = _entry(case, incident, finding, layer_id, "cascade", [incident.id], edge)
        shown = "witness" if place == "witness" else "cascade"
        layers.append(msgspec.structs.replace(entry, title=layer.title, role=shown, count=finding.count))
    return layers


def _entry(
    case: Case,
    incident: Incident,
    finding: Finding,
    entry_id: str,
    place: Place,
    explained_by: list[str],
    edge: Edge | None,
) -> ChainEntry:
    actor = incident.actor
    return ChainEntry(
        id=entry_id,
        role=place,
        signature=finding.signature,
        title=incident.title,
        file=case.bundle.sources[finding.source].path,
        line=finding.line,
        quote=finding.quote,
        record=LineSpan(finding.record_line, finding.record_end_line),
        time=iso_local(finding.time_ns),
        start_time=iso_local(incident.start_ns),
        node=actor.node,
        pid=actor.pid,
        device=actor.device,
        rank=actor.rank,
        count=incident.count,
        explained_by=explained_by,
        reason=edge.reason if edge else None,
        offset_s=finding.offset_s,
        relation=edge.kind if edge else None,
        time_quality=finding.time_quality,
    )


def _evidence(case: Case, entries: Sequence[ChainEntry]) -> list[Evidence]:
    offsets = {(f.source, f.line): f.offset for one in case.chain.incidents for f in (one.lead, *one.findings)}
    ids = {source.path: source.id for source in case.bundle.sources}
    evidence: list[Evidence] = []
    for entry in entries:
        if entry.role == "recovered" or len(evidence) >= MAX_EVIDENCE:
            continue
        source = ids[entry.file]
        before, after = lines_around(case.bundle.sources[source], offsets[source, entry.line])
        if entry.role == "root":
            why = say("evidence.root")
        elif entry.role == "cascade" and entry.reason is not None:
            why = say("evidence.cascade", reason=entry.reason)
        else:
            why = say("evidence.witness")
        evidence.append(
            Evidence(
                id=_evidence_id(entry.file, entry.line),
                file=entry.file,
                line=entry.line,
                quote=entry.quote,
                why=why,
                context_before=before,
                context_after=after,
            )
        )
    return evidence


def _evidence_id(file: str, line: int) -> str:
    """The same line has the same link in every report."""
    return "e-" + sha1(f"{file}\0{line}".encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:8]


MAX_NAMED = 20
"""Files that a note of the coverage names one by one."""


def _incomplete(case: Case) -> list[Text]:
    """What was not read to its end, and what was another size when it was read than when it was found."""
    partial = case.bundle.partial
    notes = [say("coverage.partial", file=one.path, reason=one.reason) for one in partial[:MAX_NAMED]]
    if len(partial) > MAX_NAMED:
        notes.append(say("coverage.more_partial", count=len(partial) - MAX_NAMED))
    unread = {one.path for one in case.skipped}
    changed = [
        (source, stats)
        for source in case.bundle.sources
        if (stats := case.stats.get(source.id)) and stats.bytes != source.size and source.path not in unread
    ]
    notes += [
        say("coverage.changed", file=source.path, before=source.size, after=stats.bytes)
        for source, stats in changed[:MAX_NAMED]
    ]
    if len(changed) > MAX_NAMED:
        notes.append(say("coverage.more_changed", count=len(changed) - MAX_NAMED))
    return notes


def _coverage(case: Case) -> Coverage:
    stats = case.stats.values()
    unknown = [finding for finding in case.findings if finding.signature is None]
    unknown.sort(key=lambda finding: -finding.count)
    read, unparsed = sum(one.lines for one in stats), sum(one.unparsed for one in stats)
    notes = list(case.notes)
    notes += [
        say("coverage.assumed_clock", clock=clock.name) for clock in case.cluster.clocks if clock.basis == "assumed"
    ]
    cut = sum(one.cut_lines for one in stats)
    if cut:
        notes.append(say("coverage.cut_lines", count=cut, limit=MAX_LINE_BYTES))
    dropped = sum(one.dropped for one in stats)
    if dropped:
        notes.append(say("coverage.dropped", count=dropped))
    if case.timeouts:
        notes.append(say("coverage.timeouts", count=case.timeouts))
    if case.set_aside:
        notes.append(say("coverage.set_aside", count=case.set_aside))
    notes += _incomplete(case)
    if case.bundle.other_runs:
        notes.append(say("coverage.other_runs", runs=", ".join(case.bundle.other_runs[:10])))
    return Coverage(
        read=read,
        parsed=read - unparsed,
        unparsed=unparsed,
        skipped=[{"path": one.path, "reason": one.reason} for one in case.skipped],
        folded=sum(one.folded for one in stats),
        unknown_errors=[
            UnknownError(
                template=finding.template,
                count=finding.count,
                file=case.bundle.sources[finding.source].path,
                line=finding.line,
            )
            for finding in unknown[:MAX_UNKNOWN]
        ],
        notes=notes,
    )
