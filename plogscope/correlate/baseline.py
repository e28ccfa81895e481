"""What also happened where everything went well is not the cause: passed steps are a baseline, not evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from plogscope.correlate.incidents import Judged
from plogscope.formats.prefixes import clean, peel
from plogscope.model.record import Finding
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts


def without_baseline(
    judged: Sequence[Judged], steps: StepFacts | None, step_of: Mapping[int, str | None]
) -> list[Judged]:
    """Findings that can be evidence.

    In a five-step run these are the findings of the first failed step and of files beside the steps. An unknown error
    whose fingerprint also stands in a passed step is dropped. When no step failed, only what makes a run wrong or
    slow is kept, of the last step that ran.
    """
    if steps is None:
        return list(judged)
    healthy = {
        one.finding.template
        for one in judged
        if one.signature is None and steps.passed(step_of.get(one.finding.source))
    }
    wanted = steps.first_failed
    if wanted is None:
        ran = [step.name for step in steps.steps if step.status in ("passed", "assumed-passed")]
        wanted = ran[-1] if ran else None
        return [
            one
            for one in judged
            if step_of.get(one.finding.source) in (None, wanted)
            and (one.category in ("accuracy", "performance") or one.role in ("context", "progress"))
        ]
    return [
        one
        for one in judged
        if step_of.get(one.finding.source) in (None, wanted)
        and not (one.signature is None and one.finding.template in healthy)
    ]


def without_echoes(findings: Sequence[Finding], bundle: Bundle) -> list[Finding]:
    """Findings without the prints of records that npugraph_ex also writes to its own debug.log.

    What is printed can carry a launcher's prefix, colours or a collector's frame; what is logged cannot.
    """
    own = {source.id for source in bundle.sources if source.kind == "npugraph-debug"}
    logged = {(one.signature, _bare(one.quote)) for one in findings if one.source in own}
    if not logged:
        return list(findings)
    return [one for one in findings if one.source in own or (one.signature, _bare(one.quote)) not in logged]


def _bare(quote: str) -> str:
    return peel(clean(quote.encode("utf-8", "replace")))[1]


def without_ignored(findings: Sequence[Finding]) -> list[Finding]:
    """Findings without the exceptions that Python printed and ignored (`Exception ignored in: …`, in a destructor)."""
    raised: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for finding in findings:
        if finding.format in ("exception", "traceback") and finding.signature != IGNORED:
            raised[finding.source, finding.actor.pid, finding.actor.rank].append(finding.line)
    dropped: set[tuple[int, int]] = set()
    for note in findings:
        if note.signature == IGNORED:
            lines = raised.get((note.source, note.actor.pid, note.actor.rank), [])
            below = [line for line in lines if 0 < line - note.line <= IGNORED_LINES]
            if below:
                dropped.add((note.source, min(below)))
    return [one for one in findings if (one.source, one.line) not in dropped]


IGNORED = "noise/exception-ignored"
IGNORED_LINES = 40
"""How far below its announcement the ignored exception itself stands: its traceback is between."""
