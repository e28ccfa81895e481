"""Facts about a five-step run: which step failed, what is complete, what is missing."""

from __future__ import annotations

from typing import Literal

import msgspec

from plogscope.model.vocabulary import Text

StepStatus = Literal["passed", "assumed-passed", "failed", "not-run", "incomplete", "gap"]
"""`assumed-passed`: no SUCCESS file but later steps ran; `gap`: its directory is missing below a later step;
`incomplete`: its directory lacks stdout_stderr.log or ascend_plog."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One of the five steps."""

    name: str
    status: StepStatus
    exit_code: int | None = None
    stdout: str | None = None
    """Path of its stdout_stderr.log, if it is there."""


class Missing(msgspec.Struct, frozen=True):
    """What is missing, why it matters, and the exact way to get it."""

    what: Text
    why: Text
    how: str


class StepFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the run directory says, before any log line is believed.

    Attributes:
        first_failed: Step named by first_failure.txt; None if none failed.
        blocked_by: Ids of the checks that make the run unusable for a route (C1, C4, C6, R35); empty if it is usable.
        notes: Integrity warnings in the order of the rules that raise them.
        first_failure_file: Path of first_failure.txt if it exists; `first_failure_line` names the failed step.
        evidence: (path, line) that `blocked_by` rests on.
    """

    steps: tuple[Step, ...]
    first_failed: str | None
    exit_code: int | None
    complete: bool
    blocked_by: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    notes: tuple[Text, ...] = ()
    first_failure_file: str | None = None
    first_failure_line: int = 1
    evidence: tuple[tuple[str, int], ...] = ()

    def passed(self, step: str | None) -> bool:
        """True for a step that passed: what it logged is a healthy baseline, not evidence."""
        return any(s.name == step and s.status in ("passed", "assumed-passed") for s in self.steps)
