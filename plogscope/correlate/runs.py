"""Which logs are left from other runs: the log folder of a machine keeps those of every process that ran there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from plogscope.formats.stamps import FIRST_DATED_NS, SECOND_NS
from plogscope.model.record import Finding
from plogscope.model.signature import Signature
from plogscope.model.source import Bundle

GAP_NS = 3 * 3600 * SECOND_NS
"""Between two runs. Inside one, a process that failed is silent while its peers wait for it: two hours at most. A
shorter silence, but more than `BEFORE_NS`, parts two runs when a new process uses a device that an old one used."""

BEFORE_NS = 35 * 60 * SECOND_NS
"""What ended so long before the first output of the job is not of it. Output may begin late, when peers of a process
that failed give up: half an hour after it where nobody changed the limit."""

ZONES_NS = 14 * 3600 * SECOND_NS
"""How far the clock of printed output, or of the system log, can be from that of the plogs."""

APPENDED_NS = 12 * 3600 * SECOND_NS
"""Output that goes on after so long a silence is that of another start, appended to the same file."""

USUAL_ZONES_NS = tuple(hours * 3600 * SECOND_NS for hours in (0, -8, 8))
"""How far they usually are: one zone, or one of them in UTC and the other in that of China."""

_OF_PROCESSES = ("plog", "device-log")
_OF_MACHINE = "host-system"
_NO_FAILURE = ("noise", "context", "progress", "teardown")

Span = tuple[int, int]
"""First and last stamp, local time as printed, ns."""


class _Run(msgspec.Struct):
    """Processes of one machine that lived at the same time, or shortly one after another."""

    first_ns: int
    last_ns: int
    sources: set[int]
    pids: set[int]
    devices: set[int]

    def take(self, other: _Run) -> None:
        self.first_ns, self.last_ns = min(self.first_ns, other.first_ns), max(self.last_ns, other.last_ns)
        self.sources |= other.sources
        self.pids |= other.pids
        self.devices |= other.devices


class _Printed(msgspec.Struct, frozen=True):
    """What the output of the job says of its time and of its processes."""

    spans: tuple[Span, ...]
    pids: frozenset[int]

    def at(self, run: _Run, slack_ns: int) -> tuple[Span, ...]:
        """The outputs that a run can have printed, if the two clocks are apart by no more than this."""
        return tuple(
            span for span in self.spans if run.first_ns - slack_ns <= span[1] and span[0] <= run.last_ns + slack_ns
        )

    def is_long_after(self, run: _Run) -> bool:
        """True when the output names none of the processes of a run and began long after it, whatever their zones."""
        dated = [first for first, _ in self.spans if first >= FIRST_DATED_NS]
        return bool(dated) and not run.pids & self.pids and run.last_ns + BEFORE_NS + ZONES_NS < min(dated)


def _read_output(findings: Iterable[Finding], output: set[int], ends: Mapping[int, Span]) -> _Printed:
    return _Printed(
        tuple(ends[source] for source in sorted(output) if source in ends),
        frozenset(one.actor.pid for one in findings if one.source in output and one.actor.pid is not None),
    )


class Aside(msgspec.Struct, frozen=True):
    """What is not of the job: all of some sources (by id), and single findings (by source and line).

    `doubtful` are findings of system logs that were noted at the time of the job only if its zone is an unusual one.
    """

    sources: frozenset[int] = frozenset()
    lines: frozenset[tuple[int, int]] = frozenset()
    doubtful: frozenset[tuple[int, int]] = frozenset()


def other_runs(
    bundle: Bundle,
    findings: Sequence[Finding],
    ends: Mapping[int, Span],
    signatures: Mapping[str, Signature],
    spoke: Mapping[int, Sequence[int]],
) -> Aside:
    """What has nothing to do with the failure of this job.

    Of each machine one run stays: the last one whose processes the output of the job names; else the last one at the
    time of that output; else the last one, if the output tells of a failure; else the last one that failed. None stays
    where all had ended days before the first output of a job that tells of its failure itself. If nothing tells, all
    stay. The steps of a five-step run have folders of their own. Of a system log, what it noted days away
    from the run that stays is not looked at.

    Args:
        bundle: The sources.
        findings: Of all of them.
        ends: (first, last) local stamp by source id.
        signatures: By id.
        spoke: When something was written, roughly, ascending, local time in ns, by source id.
    """
    if bundle.layout == "five-step":
        return Aside()
    output = {source.id for source in bundle.sources if source.kind == "stdout"}
    before = _appended_to(findings, {source: spoke.get(source, ()) for source in output}, signatures)
    findings = [one for one in findings if (one.source, one.line) not in before]
    failed = {one.source for one in findings if _fails(one, signatures)}
    printed = _read_output(findings, output, ends)
    processes = _processes(bundle, ends, _devices(findings, signatures))
    other, windows = _other_processes(processes, printed, failed, output)
    noted = _noted(bundle, findings, windows, printed.spans)
    far, doubtful = (frozenset(place for place, near in noted.items() if near == kind) for kind in (FAR, DOUBTFUL))
    return Aside(frozenset(other), far | before, doubtful)


def _other_processes(
    by_node: Mapping[str | None, Iterable[_Run]], printed: _Printed, failed: set[int], output: set[int]
) -> tuple[set[int], dict[str | None, list[Span]]]:
    """The sources of the runs that do not stay, and when the run that stays on each machine was under way."""
    other: set[int] = set()
    windows: dict[str | None, list[Span]] = defaultdict(list)
    for node, processes in by_node.items():
        runs = _apart(list(processes))
        if failed & output and all(printed.is_long_after(run) for run in runs):
            other.update(source for run in runs for source in run.sources)
            continue
        chosen = _chosen(runs, printed, failed, latest=bool(failed & output))
        if chosen is None:
            continue
        stay = [one for one in processes if one.sources <= chosen.sources and not _is_before(one, chosen, printed)]
        kept = {source for one in stay for source in one.sources}
        other.update(source for one in processes for source in one.sources if source not in kept)
        if stay:
            windows[node].append((min(one.first_ns for one in stay), max(one.last_ns for one in stay)))
    return other, windows


def _noted(
    bundle: Bundle, findings: Iterable[Finding], windows: Mapping[str | None, Sequence[Span]], printed: Sequence[Span]
) -> dict[tuple[int, int], int]:
    """How near to the job each finding of a system log is: to the run of its machine, else to any."""
    everywhere = [span for spans in windows.values() for span in spans] or list(printed)
    return {
        (one.source, one.line): _nearness(one, windows.get(bundle.sources[one.source].node) or everywhere)
        for one in findings
        if bundle.sources[one.source].kind == _OF_MACHINE and one.time_ns is not None and one.time_quality != "none"
    }


def _appended_to(
    findings: Iterable[Finding], spoke: Mapping[int, Sequence[int]], signatures: Mapping[str, Signature]
) -> frozenset[tuple[int, int]]:
    """What stands in the output of an earlier start, where the last start failed as well."""
    starts = {
        source: max(later for earlier, later in pairwise(times) if later - earlier > APPENDED_NS)
        for source, times in spoke.items()
        if any(later - earlier > APPENDED_NS for earlier, later in pairwise(times))
    }
    timed = [one for one in findings if one.source in starts and one.time_ns is not None]
    failed = {one.source for one in timed if (one.time_ns or 0) >= starts[one.source] and _fails(one, signatures)}
    return frozenset(
        (one.source, one.line)
        for one in timed
        if one.source in failed and (one.last_time_ns or one.time_ns or 0) < starts[one.source]
    )


def _fails(finding: Finding, signatures: Mapping[str, Signature]) -> bool:
    signature = signatures.get(finding.signature or "")
    return signature is None or signature.role not in _NO_FAILURE


def _devices(findings: Iterable[Finding], signatures: Mapping[str, Signature]) -> dict[int, set[int]]:
    """The devices that the lines of each source name as their own."""
    devices: dict[int, set[int]] = defaultdict(set)
    for one in findings:
        if one.actor.device is not None:
            devices[one.source].add(one.actor.device)
        signature = signatures.get(one.signature or "")
        for name, value in one.fields.items() if signature is not None else ():
            if signature is not None and signature.extract[name].meaning == "device" and value.isdecimal():
                devices[one.source].add(int(value))
    return devices


def _processes(
    bundle: Bundle, ends: Mapping[int, Span], devices: Mapping[int, set[int]]
) -> dict[str | None, Iterable[_Run]]:
    """Each process by itself, by machine."""
    found: dict[str | None, dict[int, _Run]] = defaultdict(dict)
    for source in bundle.sources:
        span = ends.get(source.id) or ((source.stamp_ns, source.stamp_ns) if source.stamp_ns else None)
        if source.kind not in _OF_PROCESSES or source.pid is None or span is None:
            continue
        process = _Run(*span, {source.id}, {source.pid}, set(devices.get(source.id, ())))
        found[source.node].setdefault(source.pid, process).take(process)
    return {node: of_node.values() for node, of_node in found.items()}


def _apart(processes: Sequence[_Run]) -> list[_Run]:
    """The runs of a machine, in order."""
    runs: list[_Run] = []
    for one in sorted(processes, key=lambda one: one.first_ns):
        again = bool(runs) and bool(one.devices & runs[-1].devices)
        if runs and one.first_ns - runs[-1].last_ns <= (BEFORE_NS if again else GAP_NS):
            runs[-1].take(one)
        else:
            runs.append(_Run(one.first_ns, one.last_ns, set(one.sources), set(one.pids), set(one.devices)))
    return runs


def _chosen(runs: Sequence[_Run], printed: _Printed, failed: set[int], *, latest: bool) -> _Run | None:
    named = [run for run in runs if run.pids & printed.pids]
    told = [run for run in runs if printed.at(run, BEFORE_NS)] or [run for run in runs if printed.at(run, ZONES_NS)]
    failing = [run for run in runs if latest or run.sources & failed]
    return next((some[-1] for some in (named, told, failing) if some), None)


def _is_before(one: _Run, chosen: _Run, printed: _Printed) -> bool:
    """True for a process of the chosen run that had ended long before the job printed its first line."""
    outputs = printed.at(chosen, 0)
    return bool(outputs) and not one.pids & printed.pids and one.last_ns < min(outputs)[0] - BEFORE_NS


NEAR, DOUBTFUL, FAR = range(3)


def _nearness(finding: Finding, spans: Sequence[Span]) -> int:
    """Whether a system log noted something near the job, for all that is known of the zones of their clocks."""
    at = finding.time_ns or 0
    if not spans or any(
        first - BEFORE_NS <= at + zone <= last + BEFORE_NS for first, last in spans for zone in USUAL_ZONES_NS
    ):
        return NEAR
    return DOUBTFUL if any(first - ZONES_NS <= at <= last + ZONES_NS for first, last in spans) else FAR
