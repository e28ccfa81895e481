"""`route`: the state of the steps and the first cause become one route, with what the next diagnosis needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plogscope.model.chain import Chain
from plogscope.model.record import Finding
from plogscope.model.report import InputEntry, MissingEntry, StepEntry, Triage
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import STEP_NAMES, Route, Status, Symptom, Text
from plogscope.triage.commands import rerun
from plogscope.triage.handoff import handoff_of
from plogscope.triage.inputs import asked, closed_loop
from plogscope.triage.rules import Decision, Scene, five_step, other_layout
from plogscope.triage.values import Difference, difference_text
from plogscope.wording import say

SYMPTOM_OF: dict[Route, Symptom] = {"accuracy": "mismatch", "performance": "slow"}
STACK = "stack"


def _quote(finding: Finding) -> str:
    return finding.quote


def route(
    steps: StepFacts | None,
    chain: Chain,
    *,
    symptom: Symptom | None,
    bundle: Bundle,
    verdict_status: Status,
    text_of: Callable[[Finding], str] = _quote,
    progress: Sequence[Finding] = (),
    difference: Difference | None = None,
) -> Triage:
    """Chooses the route; it names no root cause and no remedy.

    Args:
        steps: State of a five-step run, None for every other layout.
        chain: Incidents, their places and the choice of the first cause.
        symptom: What the user says is wrong, if anything.
        bundle: What was analysed.
        verdict_status: Status of the verdict.
        text_of: Gives the whole text of the record that a finding stands in (a finding of a traceback carries only
            its exception line, the phase is in the frames).
        progress: Findings of role `progress` of the whole bundle.
        difference: The first printed value that differs between steps that all passed.

    Returns:
        Route, rule and what it rests on, with the handoff for a five-step run that has a route to a diagnosis.
    """
    scene = Scene(
        chain=chain, bundle=bundle, symptom=symptom, status=verdict_status, text_of=text_of, progress=progress
    )
    decision = five_step(steps, scene) if steps is not None else other_layout(scene)
    known = symptom if symptom is not None else SYMPTOM_OF.get(decision.route)
    inputs = closed_loop(steps, bundle, bundle.run_base, known) if steps else []
    missing = _missing(steps, decision, symptom, bundle, inputs)
    if difference is not None and decision.route == "none":
        missing.insert(0, _differing(difference, bundle))
    return Triage(
        route=decision.route,
        rule=decision.rule,
        rests_on=decision.rests_on,
        first_failed_step=steps.first_failed if steps else None,
        steps=[StepEntry(s.name, s.status, s.exit_code) for s in steps.steps] if steps else [],
        complete=steps.complete if steps else False,
        missing=missing,
        handoff=handoff_of(steps, decision, scene, missing, inputs) if steps else None,
        inputs=inputs,
    )


def _missing(
    steps: StepFacts | None,
    decision: Decision,
    symptom: Symptom | None,
    bundle: Bundle,
    inputs: list[InputEntry],
) -> list[MissingEntry]:
    entries = [MissingEntry(m.what, m.why, m.how) for m in steps.missing] if steps else []
    if decision.rule == "R49" and steps is not None:
        entries.insert(0, _full_stack(steps.first_failed or STEP_NAMES[-1], bundle))
    if steps is None:
        if decision.route == "none" and symptom in (None, "crash"):
            entries.insert(0, _symptom(bundle))
        return entries
    stack_asked = any(STACK in entry.what.en for entry in entries)
    wanted = [item for item in inputs if not (item.item == "stack" and stack_asked)]
    asks = asked(wanted, steps, bundle)
    if decision.route == "none":  # C12: the symptom is what is wanted first
        asks.sort(key=lambda entry: not entry.what.en.startswith("symptom"))
        return [*asks, *entries]
    return [*entries, *asks]


def _symptom(bundle: Bundle) -> MissingEntry:
    """C12: nothing failed, so the logs cannot say what is wrong."""
    return MissingEntry(
        say("input.no_symptom"), say("input_why.symptom"), f"plogscope analyze {bundle.path} --symptom mismatch|slow"
    )


def _differing(difference: Difference, bundle: Bundle) -> MissingEntry:
    """Values differ, but nobody says that they should not: they may be no result, or the program is not seeded."""
    return MissingEntry(
        difference_text(difference), say("input_why.symptom"), f"plogscope analyze {bundle.path} --symptom mismatch"
    )


def _full_stack(step: str, bundle: Bundle) -> MissingEntry:
    """R49: the step failed and nothing in its logs matches a rule."""
    return MissingEntry(
        Text(en=f"the full stack and the CANN log of {step}", zh=f"{step} 的完整报错栈和 CANN 日志"),
        Text(
            en="The step failed, but no line says in which phase.", zh="该 step 失败，但没有任何一行说明处于哪个阶段。"
        ),
        rerun(step, bundle.run, "PYTHONFAULTHANDLER=1 TORCHDYNAMO_VERBOSE=1"),
    )
