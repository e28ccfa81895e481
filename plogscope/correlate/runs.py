"""Which plogs are left from other runs: the log folder of a machine keeps those of every process that ran there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from plogscope.formats.stamps import SECOND_NS
from plogscope.model.record import Finding
from plogscope.model.signature import Signature
from plogscope.model.source import Bundle

GAP_NS = 6 * 3600 * SECOND_NS
"""Between two runs. Inside one, a process that failed is silent while its peers wait for it: two hours at most."""

ZONES_NS = 14 * 3600 * SECOND_NS
"""How far the clock of printed output can be from that of the plogs."""

_OF_PROCESSES = ("plog", "device-log")
_FAILING = ("cause", "either", "symptom")


class _Run(msgspec.Struct):
    """Processes of one machine that lived at the same time, or shortly one after another; local time, ns."""

    first_ns: int
    last_ns: int
    sources: set[int]


def other_runs(
    bundle: Bundle,
    findings: Iterable[Finding],
    ends: Mapping[int, tuple[int, int]],
    signatures: Mapping[str, Signature],
) -> frozenset[int]:
    """Ids of sources that have nothing to do with the failure of this job.

    Of each machine the last run that failed stays; where output was printed, the last one at that time. If none failed,
    all stay: the caller must see the whole picture then. The steps of a five-step run have folders of their own.

    Args:
        bundle: The sources.
        findings: Of all of them.
        ends: (first, last) local stamp by source id.
        signatures: By id.
    """
    if bundle.layout == "five-step":
        return frozenset()
    failing_signatures = {name for name, signature in signatures.items() if signature.role in _FAILING}
    failed = {finding.source for finding in findings if finding.signature in failing_signatures}
    printed = [ends[source.id] for source in bundle.sources if source.kind == "stdout" and source.id in ends]
    other: set[int] = set()
    for runs in _runs(bundle, ends):
        failing = [run for run in runs if run.sources & failed]
        told = [run for run in failing if any(_at_once(run, first, last) for first, last in printed)]
        chosen = (told or failing)[-1:]
        other.update(source for run in runs if chosen and run is not chosen[0] for source in run.sources)
    return frozenset(other)


def _at_once(run: _Run, first_ns: int, last_ns: int) -> bool:
    return run.first_ns - ZONES_NS <= last_ns and first_ns <= run.last_ns + ZONES_NS


def _runs(bundle: Bundle, ends: Mapping[int, tuple[int, int]]) -> list[list[_Run]]:
    """The runs of each machine, in order."""
    processes: dict[str | None, dict[int, _Run]] = defaultdict(dict)
    for source in bundle.sources:
        span = ends.get(source.id) or ((source.stamp_ns, source.stamp_ns) if source.stamp_ns else None)
        if source.kind not in _OF_PROCESSES or source.pid is None or span is None:
            continue
        known = processes[source.node].setdefault(source.pid, _Run(*span, set()))
        known.first_ns, known.last_ns = min(known.first_ns, span[0]), max(known.last_ns, span[1])
        known.sources.add(source.id)
    return [_apart(list(of_node.values())) for of_node in processes.values()]


def _apart(processes: Sequence[_Run]) -> list[_Run]:
    runs: list[_Run] = []
    for one in sorted(processes, key=lambda one: one.first_ns):
        if runs and one.first_ns - runs[-1].last_ns <= GAP_NS:
            runs[-1].last_ns = max(runs[-1].last_ns, one.last_ns)
            runs[-1].sources |= one.sources
        else:
            runs.append(_Run(one.first_ns, one.last_ns, set(one.sources)))
    return runs
