"""`read_steps`: which step of a five-step run failed first, and whether the run is complete enough to be believed.

No log line is interpreted here beyond "does an error block begin at all": the order of the steps is the evidence.
"""

from __future__ import annotations

import re

from plogscope.model.source import Bundle
from plogscope.model.steps import Missing, Step, StepFacts, StepStatus
from plogscope.model.vocabulary import Text
from plogscope.triage import asks, checks
from plogscope.triage.files import holds
from plogscope.triage.rundir import RunDir, StepDir, look_at

SIGNAL_EXIT = 128
"""A shell reports a process ended by signal n as 128 + n; such a process may leave no text at all."""

_ERROR_START = re.compile(
    rb"^(?:\[rank\d+\]: ?)?(?:Traceback \(most recent call last\)|Fatal Python error)", re.MULTILINE
)


def read_steps(bundle: Bundle) -> StepFacts | None:
    """Reads the state of the chosen run.

    Args:
        bundle: What discover found.

    Returns:
        None if the bundle holds no five-step run. `blocked_by` names the checks that forbid a route (C1, C4, C6,
        R35); `notes` are in the order of the rules; `missing` carries the command that brings each thing.
    """
    if bundle.layout != "five-step":
        return None
    run = look_at(bundle)
    failed = run.failure.number if run.failure else None
    steps = tuple(_step(run, step, failed) for step in run.steps)
    blocked, evidence = _blocked(run, steps, failed)
    missing = [
        *asks.missing_logs(run, failed, bundle.run),
        *asks.missing_steps(run, steps, failed, bundle.run),
    ]
    missing += asks.missing_marker(run, blocked, bundle.run)
    missing += asks.missing_beyond_the_route(run, failed, bundle.run)
    return StepFacts(
        steps=steps,
        first_failed=run.step(failed).name if failed else None,
        exit_code=run.failure.exit_code if run.failure else None,
        complete=_complete(run, steps, blocked),
        blocked_by=blocked,
        missing=_distinct(missing),
        notes=_notes(run, steps, failed, bundle),
        first_failure_file=run.failure.source.path if run.failure else None,
        first_failure_line=run.failure.line if run.failure else 1,
        evidence=evidence,
    )


def _notes(run: RunDir, steps: tuple[Step, ...], failed: int | None, bundle: Bundle) -> tuple[Text, ...]:
    return (
        *checks.integrity_notes(run, steps, failed),
        *checks.other_runs_note(bundle),
        *checks.content_notes(run, steps, failed),
        *checks.echoed_warnings(run),
    )


def _step(run: RunDir, step: StepDir, failed: int | None) -> Step:
    return Step(
        name=step.name,
        status=_status(run, step, failed),
        exit_code=run.failure.exit_code if run.failure and step.number == failed else 0 if step.success else None,
        stdout=step.stdout.path if step.stdout else None,
    )


def _status(run: RunDir, step: StepDir, failed: int | None) -> StepStatus:
    """R5–R7, R10, R11: first_failure.txt decides, then the SUCCESS file, then whether later steps ran."""
    last = max([other.number for other in run.steps if other.exists] + [failed or 0])
    if step.number == failed:
        return "failed"
    if not step.exists:
        return "gap" if step.number < last else "not-run"
    if step.success:
        return "passed"
    if step.stdout is None or (failed is not None and step.number > failed):
        return "incomplete"
    if step.number < last or _unmarked_run_passed(run, step):
        return "assumed-passed"
    return "incomplete"


def _unmarked_run_passed(run: RunDir, step: StepDir) -> bool:
    """R7 for step 5, which has no later step: the collector wrote no SUCCESS anywhere and no failure.

    It passed unless its log shows an error block.
    """
    unmarked = not any(other.success for other in run.steps) and all(other.exists for other in run.steps)
    return unmarked and run.failure is None and not step.stdout_empty and not holds(step.stdout, _ERROR_START)


def _blocked(
    run: RunDir, steps: tuple[Step, ...], failed: int | None
) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Ids of the blocking checks, and (path, line) that they rest on."""
    if not any(step.exists for step in run.steps) and failed is None:
        return ("C1",), ()
    if run.failure is not None and failed is None:
        return ("C6",), ((run.failure.source.path, 1),)
    if failed is not None:
        readable = _failed_step_is_readable(run, run.step(failed))
        return ((), ()) if readable else (("C4",), _failed_step_evidence(run, run.step(failed)))
    if all(step.status in ("passed", "assumed-passed") for step in steps):
        return (), ()
    return (("C6",) if all(step.exists for step in run.steps) else ("R35",)), ()


def _failed_step_is_readable(run: RunDir, step: StepDir) -> bool:
    """C4 for the failed step: its log with at least one byte, and its ascend_plog (which may be empty, R17).

    An empty log is taken for a lost one, unless the exit code says that a signal ended the process (R18).
    """
    code = run.failure.exit_code if run.failure else None
    silent_death = code is not None and (code >= SIGNAL_EXIT or code < 0)
    return step.stdout is not None and step.plog_dir and (not step.stdout_empty or silent_death)


def _failed_step_evidence(run: RunDir, step: StepDir) -> tuple[tuple[str, int], ...]:
    log_is_bad = step.stdout is None or step.stdout_empty
    line = step.stdout_warned if log_is_bad else 0
    if line and run.warnings_path:
        return ((run.warnings_path, line),)
    return ((run.failure.source.path, run.failure.line),) if run.failure else ()


def _complete(run: RunDir, steps: tuple[Step, ...], blocked: tuple[str, ...]) -> bool:
    executed = [step for step in run.steps if step.exists]
    whole = all(step.stdout is not None and step.plog_dir for step in executed)
    return not blocked and whole and not any(step.status in ("gap", "incomplete") for step in steps)


def _distinct(missing: list[Missing]) -> tuple[Missing, ...]:
    seen: dict[str, Missing] = {}
    for entry in missing:
        seen.setdefault(entry.what.en, entry)
    return tuple(seen.values())
