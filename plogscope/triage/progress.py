"""Did the program get past a first call, a first step or a first collective before it failed?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source
from plogscope.triage.files import blocks_of

_RETURNED = re.compile(rb"npu_fx_compiler\.py:\d+\]\d* ?runtime outputs")
"""npugraph_ex prints it when a call of the compiled model has returned: compilation and first capture are over then."""


def ran_before(failure: Finding | None, step: str, bundle: Bundle, progress: Sequence[Finding]) -> bool:
    """R45: a call of the compiled model completed in this step before the failure.

    Printed progress usually has no time. The step ended with its failure, so progress in another file of the same
    step, or of an unknown time, lies before it; in the same file the line decides.

    Args:
        failure: What the route rests on, or None if no line states the failure.
        step: Directory name of the step.
        bundle: To find the files of the step.
        progress: Progress findings of the whole bundle.
    """
    own = [finding for finding in progress if _step_of(finding, bundle) == step]
    if any(_not_after(finding, failure) for finding in own):
        return True
    logs = [s for s in bundle.sources if s.step == step and s.kind in ("stdout", "npugraph-debug")]
    return any(_returned_before(source, failure) for source in logs)


def progressed_before(failure: Finding, progress: Sequence[Finding]) -> bool:
    """True if some progress provably lies before the failure: an earlier line of the same file, or an earlier time."""
    return any(_provably_before(finding, failure) for finding in progress)


def _step_of(finding: Finding, bundle: Bundle) -> str | None:
    return bundle.sources[finding.source].step if 0 <= finding.source < len(bundle.sources) else None


def _not_after(finding: Finding, failure: Finding | None) -> bool:
    if failure is None or finding.source != failure.source:
        return True
    return finding.line < failure.line


def _provably_before(finding: Finding, failure: Finding) -> bool:
    if finding.source == failure.source:
        return finding.line < failure.line
    if finding.order_ns is not None and failure.order_ns is not None:
        return finding.order_ns < failure.order_ns
    return False


def _returned_before(source: Source, failure: Finding | None) -> bool:
    limit = failure.offset if failure is not None and failure.source == source.id else None
    for offset, block in blocks_of(source):
        found = _RETURNED.search(block)
        if found:
            return limit is None or offset + found.start() < limit
    return False
