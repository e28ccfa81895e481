"""The order of the stages. This is the only file that knows it.

discover → scan → merge → steps → correlate → chain → verdict → route → Report. `steps` comes before correlate because
passed steps are a healthy baseline and no evidence; `route` comes after chain because it rests on the cause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from plogscope.chain.affected import name_affected
from plogscope.chain.category import name_category
from plogscope.chain.caught import caught, hush_handled
from plogscope.chain.cause import blame_speed, find_cause
from plogscope.chain.checkers import run_checkers
from plogscope.chain.checkers.base import JobView
from plogscope.chain.clear import FINISHED, recovered
from plogscope.chain.device_waits import mark_device_waits
from plogscope.chain.naming import name_root
from plogscope.chain.outlived import beside_the_job, outlived
from plogscope.chain.progress import Progress, Writing
from plogscope.chain.said import goes_without, tells_of_end
from plogscope.chain.suspects import suspects_of
from plogscope.compose import Case, assemble_report
from plogscope.correlate.baseline import without_baseline, without_echoes, without_ignored
from plogscope.correlate.carriers import mark_carriers
from plogscope.correlate.clocks import Clocks, find_clocks, on_reference
from plogscope.correlate.cluster import build_cluster, last_words
from plogscope.correlate.homes import Homes, at_home, find_homes
from plogscope.correlate.identity import complete_actors, identify, sole_processes
from plogscope.correlate.incidents import Judged, build_incidents, judge
from plogscope.correlate.runs import other_runs
from plogscope.correlate.timeline import build_timeline
from plogscope.correlate.victims import name_victims
from plogscope.discover import Scratch, discover
from plogscope.evidence.around import traceback_text
from plogscope.evidence.breaks_off import first_broken
from plogscope.evidence.frames import raised_at, start_at
from plogscope.evidence.raised import name_raised
from plogscope.evidence.sequel import read_sequel
from plogscope.evidence.sessions import passed_sessions
from plogscope.grammar.codes import load_codes
from plogscope.grammar.load import load_grammar
from plogscope.model.chain import Chain, Cluster, Incident
from plogscope.model.record import Finding, Sequel
from plogscope.model.report import Report, Tool, Triage
from plogscope.model.signature import Code, Grammar, Signature
from plogscope.model.source import Bundle, tells_of_failures
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Symptom, Text
from plogscope.redact import redact_report
from plogscope.scan.engine import scan_bundle
from plogscope.scan.merge import Observations, merge
from plogscope.triage.collect import collection_script
from plogscope.triage.route import route
from plogscope.triage.steps import read_steps
from plogscope.triage.values import blames, first_difference, with_difference
from plogscope.verdict import Heard, Judgement, judge_chain, settle
from plogscope.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

    from plogscope.table.place import Placement

ACTIVE_ROLES = ("cause", "either", "symptom", "teardown")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller can choose. `jobs` None = one process per core; `keep_table`: file for the kept records."""

    grammar_folders: tuple[Path, ...] = ()
    jobs: int | None = None
    symptom: Symptom | None = None
    keep_table: Path | None = None


class Correlated(msgspec.Struct, frozen=True):
    """Findings placed on the reference clock with complete actors, and who takes part."""

    findings: tuple[Finding, ...]
    clocks: Clocks
    cluster: Cluster
    homes: Homes = Homes()


def analyze(paths: Sequence[Path], options: Options | None = None) -> Report:
    """Reads everything below the paths and returns the report.

    Raises:
        UsageError: The table of kept records has no format, or a file of the job stands in its place.
        InputError: A path is missing, or nothing below the paths can be read as a log.
        GrammarError: A grammar folder does not prove itself.
    """
    chosen = options or Options()
    if chosen.keep_table is not None:
        _check_table(chosen.keep_table, paths)
    grammar = load_grammar(chosen.grammar_folders)
    with closing(Scratch()) as scratch:
        return _analyze(discover(paths, scratch=scratch), grammar, chosen)


def _analyze(bundle: Bundle, grammar: Grammar, chosen: Options) -> Report:
    scanned = scan_bundle(bundle, grammar, grammar_folders=chosen.grammar_folders, jobs=chosen.jobs)
    seen = merge(bundle, scanned)
    steps = read_steps(bundle)
    signatures = grammar.by_id()
    aside = other_runs(bundle, seen.findings, seen.ends(), signatures, seen.spoke())
    seen = seen.without(aside.sources, aside.lines)
    seen = msgspec.structs.replace(seen, findings=name_raised(bundle, passed_sessions(bundle, seen.findings)))
    correlated = _correlate(bundle, seen, signatures)
    if chosen.keep_table is not None:
        _keep_records(bundle, seen, correlated, chosen.keep_table)
    judged = _judge(correlated, signatures, aside.doubtful)
    chain = _chain(bundle, seen, steps, correlated, judged, signatures)
    return _report(bundle, seen, steps, correlated, judged, chain, grammar, chosen)


def write_rows(paths: Sequence[Path], output: Path, options: Options | None = None) -> None:
    """Writes all records below the paths as a table, with clocks and processes as `analyze` knows them.

    Raises:
        UsageError: The suffix of the output names no format, or a file of the job stands there.
        InputError: A path cannot be read as a log, or the output cannot be written.
        GrammarError: A grammar folder does not prove itself.
    """
    from plogscope.table.write import write_table  # noqa: PLC0415 - analyze does not pay for pyarrow

    _check_table(output, paths)
    with closing(Scratch()) as scratch:
        write_table(_observe(paths, options or Options(), scratch), output)


def read_rows(paths: Sequence[Path], options: Options | None = None) -> pa.Table:
    """The same in memory.

    Raises:
        InputError: A path cannot be read as a log.
        GrammarError: A grammar folder does not prove itself.
    """
    from plogscope.table.write import table_of  # noqa: PLC0415 - analyze does not pay for pyarrow

    with closing(Scratch()) as scratch:
        return table_of(_observe(paths, options or Options(), scratch))


def _check_table(output: Path, paths: Sequence[Path]) -> None:
    """Refuses a place for a table before anything is read."""
    from plogscope.table.sinks import sink_of  # noqa: PLC0415 - analyze does not pay for pyarrow
    from plogscope.table.targets import check_target  # noqa: PLC0415

    sink_of(output)
    check_target(output, paths)


def _observe(paths: Sequence[Path], chosen: Options, scratch: Scratch) -> Placement:
    """The stages up to correlate: what the rows of a table need to know."""
    grammar = load_grammar(chosen.grammar_folders)
    bundle = discover(paths, scratch=scratch)
    seen = merge(bundle, scan_bundle(bundle, grammar, grammar_folders=chosen.grammar_folders, jobs=chosen.jobs))
    return _placement(bundle, seen, _correlate(bundle, seen, grammar.by_id()))


def _placement(bundle: Bundle, seen: Observations, correlated: Correlated) -> Placement:
    from plogscope.table.place import Placement  # noqa: PLC0415 - analyze does not pay for pyarrow

    processes = correlated.cluster.processes
    return Placement(
        bundle=bundle,
        clocks=correlated.clocks.clocks,
        clock_of=correlated.clocks.of_source,
        processes={one.key: one for one in processes if one.key is not None},
        sole=sole_processes(seen.findings, bundle),
        homes=correlated.homes,
        year_reference_ns={source: stats.first_ns for source, stats in seen.stats.items() if stats.first_ns},
        skipped=(*bundle.skipped, *seen.skipped),
        utc_offset_ns=correlated.clocks.utc_offset_ns,
    )


def _keep_records(bundle: Bundle, seen: Observations, correlated: Correlated, output: Path) -> None:
    """Writes the records in which the findings stand."""
    from plogscope.table.write import write_table  # noqa: PLC0415 - only with the option

    kept: dict[int, dict[int, int]] = {}
    for finding in correlated.findings:
        ends = kept.setdefault(finding.source, {})
        ends[finding.record_line] = max(finding.record_end_line, ends.get(finding.record_line, 0))
    write_table(_placement(bundle, seen, correlated), output, kept)


def _correlate(bundle: Bundle, seen: Observations, signatures: dict[str, Signature]) -> Correlated:
    homes = find_homes(seen.findings, bundle)
    at_work = at_home(without_ignored(without_echoes(seen.findings, bundle)), homes)
    identities = identify(at_work, signatures)
    named = complete_actors(at_work, identities, sole_processes(at_work, bundle))
    clocks = find_clocks(bundle, named, seen.ends())
    findings = on_reference(named, clocks)
    spans = {
        source: {pid: (span.first_ns, span.last_ns) for pid, span in stats.spans.items()}
        for source, stats in seen.stats.items()
    }
    return Correlated(tuple(findings), clocks, build_cluster(bundle, identities, clocks, spans, homes), homes)


def _judge(
    correlated: Correlated, signatures: dict[str, Signature], doubtful: frozenset[tuple[int, int]]
) -> list[Judged]:
    judged = mark_carriers([judge(finding, signatures, _lookup) for finding in correlated.findings])
    return [
        msgspec.structs.replace(one, hushed=True) if (one.finding.source, one.finding.line) in doubtful else one
        for one in judged
    ]


def _lookup(family: str, code: str) -> Code | None:
    return load_codes(family).get(code)


def _chain(
    bundle: Bundle,
    seen: Observations,
    steps: StepFacts | None,
    correlated: Correlated,
    judged: list[Judged],
    signatures: dict[str, Signature],
) -> Chain:
    step_of = {source.id: source.step for source in bundle.sources}
    evidence = without_baseline(judged, steps, step_of)
    active = [one for one in evidence if one.role in ACTIVE_ROLES]
    incidents = build_incidents(active, step_of)
    incidents = name_victims(incidents, (one.finding for one in evidence), signatures, correlated.cluster)
    incidents = mark_device_waits(incidents)
    incidents, cleared = _clear(bundle, seen, correlated, evidence, signatures, incidents)
    alive = tuple(one for one in incidents if one.id not in cleared)
    view = JobView(alive, tuple(one.finding for one in evidence), correlated.cluster)
    checked = run_checkers(view)
    chain = find_cause(incidents, cleared, signatures, correlated.clocks.clocks, checked)
    chain = name_affected(name_root(chain, view), view, signatures, checked)
    chain = name_category(chain, correlated.clocks.clocks, _lookup)
    if chain.root is None and not chain.suspects:
        witnesses = [one for one in alive if chain.places[one.id] != "teardown"]
        paths = {source.id: source.path for source in bundle.sources}
        found = suspects_of(witnesses, signatures, correlated.cluster, paths, [one.finding for one in evidence])
        chain = msgspec.structs.replace(chain, suspects=found)
    return chain


def _clear(
    bundle: Bundle,
    seen: Observations,
    correlated: Correlated,
    evidence: Sequence[Judged],
    signatures: Mapping[str, Signature],
    incidents: list[Incident],
) -> tuple[list[Incident], frozenset[str]]:
    """The incidents, some of them hushed now, and the ids of those that the job got over."""
    progress = Progress(
        tuple(one.finding for one in evidence if one.role == "progress"),
        signatures,
        _writing(seen),
        correlated.clocks.clocks,
        correlated.cluster.processes,
    )
    sequels: dict[tuple[int, int], Sequel] = {}

    def sequel_of(finding: Finding) -> Sequel:
        place = (finding.source, finding.offset)
        if place not in sequels:
            sequels[place] = read_sequel(bundle.sources[finding.source], finding)
        return sequels[place]

    cleared = recovered(incidents, progress)
    incidents = hush_handled(incidents, sequel_of)
    cleared |= caught(
        [one for one in incidents if one.id not in cleared],
        sequel_of,
        last_words(bundle, correlated.cluster, correlated.clocks, seen.ends()),
        correlated.clocks.clocks,
        goes_without(signatures),
        tells_of_end(signatures),
    )
    cleared |= outlived([one for one in incidents if one.id not in cleared], progress)
    if correlated.cluster.processes or any(source.kind == "stdout" for source in bundle.sources):
        cleared |= beside_the_job([one for one in incidents if one.id not in cleared])
    return incidents, cleared


def _writing(seen: Observations) -> dict[tuple[int, int], Writing]:
    """Last line and stamp by (source, pid), and of the whole source under pid 0."""
    writing: dict[tuple[int, int], Writing] = {}
    for source, stats in seen.stats.items():
        for pid, span in stats.spans.items():
            writing[source, pid] = Writing(span.last_line, span.last_ns, stats.mostly_errors)
        writing.setdefault((source, 0), Writing(stats.lines, stats.last_ns, stats.mostly_errors))
    return writing


def _report(
    bundle: Bundle,
    seen: Observations,
    steps: StepFacts | None,
    correlated: Correlated,
    judged: list[Judged],
    chain: Chain,
    grammar: Grammar,
    chosen: Options,
) -> Report:
    signatures = grammar.by_id()
    chain = blame_speed(chain) if chosen.symptom == "slow" else chain
    difference = first_difference(bundle, steps, bundle.run_base) if steps is not None else None
    if difference is not None and blames(difference, chain, chosen.symptom):
        chain = with_difference(chain, difference)
    judgement = judge_chain(
        chain,
        steps=steps,
        symptom=chosen.symptom,
        signatures=signatures,
        codes=_root_code(chain, signatures),
        where={one.id: f"{bundle.sources[one.lead.source].path}:{one.lead.line}" for one in chain.incidents},
        clocks=correlated.clocks.clocks,
        start=_start(bundle, chain),
        heard=Heard(
            understood=bool(judged) or steps is not None or seen.known_form,
            progressed=any(one.role == "progress" for one in judged),
            of_job=any(map(tells_of_failures, bundle.sources)),
            broken=lambda: None if _is_finished(judged) else first_broken(bundle.sources),
        ),
    )
    triage = route(
        steps, chain, symptom=chosen.symptom, bundle=bundle, verdict_status=judgement.status,
        text_of=lambda finding: traceback_text(bundle.sources[finding.source], finding.offset),
        progress=[one.finding for one in judged if one.role == "progress"], difference=difference,
    )  # fmt: skip
    insufficient = "insufficient" in (judgement.status, triage.route)
    script = collection_script(bundle, steps) if steps is not None and insufficient else None
    judgement = settle(judgement, triage, script)
    return redact_report(assemble_report(_case(bundle, seen, steps, correlated, chain, judgement, triage, grammar)))


def _is_finished(judged: Sequence[Judged]) -> bool:
    return any(one.signature is not None and one.signature.subcategory == FINISHED for one in judged)


def _start(bundle: Bundle, chain: Chain) -> Text | None:
    root = chain.incident(chain.root)
    return start_at(raised_at(bundle.sources[root.lead.source], root.lead)) if root is not None else None


def _root_code(chain: Chain, signatures: dict[str, Signature]) -> dict[str, Code]:
    """The code table's row for the code that the root states, by the root's id."""
    root = chain.incident(chain.root)
    signature = signatures.get(root.signature or "") if root is not None else None
    if root is None or signature is None or not signature.chain.codes or "code" not in root.lead.fields:
        return {}
    code = load_codes(signature.chain.codes).get(root.lead.fields["code"])
    return {root.id: code} if code is not None else {}


def _case(
    bundle: Bundle,
    seen: Observations,
    steps: StepFacts | None,
    correlated: Correlated,
    chain: Chain,
    judgement: Judgement,
    triage: Triage,
    grammar: Grammar,
) -> Case:
    bins = {source: (stats.shift, stats.bins) for source, stats in seen.stats.items()}
    t0, timeline = build_timeline(bundle, correlated.clocks, correlated.cluster, chain, bins)
    return Case(
        bundle=bundle,
        chain=chain,
        cluster=correlated.cluster,
        judgement=judgement,
        triage=triage,
        timeline=timeline,
        timeline_start_ns=t0,
        findings=correlated.findings,
        signatures=grammar.by_id(),
        stats=seen.stats,
        skipped=(*bundle.skipped, *seen.skipped),
        timeouts=seen.timeouts,
        set_aside=seen.set_aside,
        notes=steps.notes if steps is not None else (),
        tool=Tool("plogscope", __version__, grammar.digest),
    )
