"""The rules that choose a route: R30–R49 for a five-step run, the contract's table for every other layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from plogscope.model.chain import Chain, Incident
from plogscope.model.record import Finding
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Route, Status, Symptom
from plogscope.triage import keywords
from plogscope.triage.phase import COMPILE_PHASES, Phase, phase_of_traceback
from plogscope.triage.progress import progressed_before, ran_before

TextOf = Callable[[Finding], str]
LAST_STEP = 5
SIGNAL_EXIT = 128

_TRACEBACK = ("Traceback (most recent call last)", "(most recent call first)")
_DEVICE_KINDS = ("plog", "device-log", "device-system")
_CRASH_FORMATS = ("faulthandler", "native-crash")
_HOST_LIKE = ("host", "unknown", "compile")


class Decision(msgspec.Struct, frozen=True):
    """A route, the rule that chose it, and the line or symptom that it rests on. `thin`: R48's note applies."""

    route: Route
    rule: str
    rests_on: str
    thin: bool = False


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a rule may look at."""

    chain: Chain
    bundle: Bundle
    symptom: Symptom | None
    status: Status
    text_of: TextOf
    progress: Sequence[Finding]

    def place(self, finding: Finding) -> str:
        """`file:line` of a finding."""
        sources = self.bundle.sources
        path = sources[finding.source].path if 0 <= finding.source < len(sources) else "?"
        return f"{path}:{finding.line}"

    def lead(self) -> Incident | None:
        """The first cause; without one, the witness or the terminal failure that stands in for it.

        A remark that something is slow or not accurate stands for a failure only if nothing tells of one.
        """
        root = self.chain.incident(self.chain.root)
        if root:
            return root
        witnesses = [i for i in self.chain.incidents if self.chain.places.get(i.id) == "witness"]
        speaking = [i for i in witnesses if not self.only_an_exit_code(i)]
        failing = [i for i in speaking if i.category not in ("accuracy", "performance")]
        return next(iter(failing or speaking or witnesses), None) or self.chain.incident(self.chain.terminal)

    def only_an_exit_code(self, incident: Incident) -> bool:
        """The stated failure is the line of first_failure.txt itself."""
        number = incident.lead.source
        sources = self.bundle.sources
        return 0 <= number < len(sources) and sources[number].path.endswith("first_failure.txt")


def step_number(name: str | None) -> int:
    """1–5 from the name of a step directory; 0 without one."""
    return int(name[4]) if name and name.startswith("step") and name[4:5].isdigit() else 0


def five_step(steps: StepFacts, scene: Scene) -> Decision:
    """R30–R49 in their order: blocking checks, the step rule, then the keyword rules for step 5."""
    if steps.blocked_by:
        return Decision("insufficient", steps.blocked_by[0], _blocked_place(steps))
    number = step_number(steps.first_failed)
    if number == 0:
        return _all_passed(scene)
    failure_file = f"{steps.first_failure_file}:{steps.first_failure_line}"
    if number < LAST_STEP:
        return Decision("compile-error", "R30", failure_file)
    return _last_step(steps, scene, failure_file)


def _blocked_place(steps: StepFacts) -> str:
    if steps.evidence:
        path, line = steps.evidence[0]
        return f"{path}:{line}"
    absent = [step.name for step in steps.steps if step.status in ("not-run", "gap", "incomplete")]
    return ", ".join(absent) + " not run to its end" if absent else "no step directory"


def _all_passed(scene: Scene) -> Decision:
    """R34, R46, R47. A failure record in a run whose five steps passed is an observation and routes nothing."""
    root = scene.chain.incident(scene.chain.root)
    if scene.symptom == "mismatch":
        return Decision("accuracy", "R46", "symptom: mismatch")
    if scene.symptom == "slow":
        return Decision("performance", "R47", "symptom: slow")
    if root is not None and root.category == "accuracy":
        return Decision("accuracy", "R46", scene.place(root.lead))
    if root is not None and root.category == "performance":
        return Decision("performance", "R47", scene.place(root.lead))
    return Decision("none", "R34", "all five steps passed, no symptom stated")


def _last_step(steps: StepFacts, scene: Scene, failure_file: str) -> Decision:
    """R40–R49, first hit stops."""
    lead = scene.lead()
    step = steps.first_failed or ""
    if lead is None or scene.only_an_exit_code(lead):
        return _silent_death(steps, scene, failure_file)
    finding = lead.lead
    place = scene.place(finding)
    phase = _phase(lead, scene)
    kind, message = keywords.error_words(_words(finding, scene))
    compiled = _compile_rule(lead, phase, kind, message)
    if compiled:
        return Decision("compile-error", compiled, place)
    runtime = keywords.names_runtime(kind, message) or _from_device(finding, scene)
    ran = ran_before(finding, step, scene.bundle, scene.progress)
    replayed = phase == "replay" or lead.phase == "replay"
    if runtime:
        return Decision("runtime-error", "R44", place, thin=replayed or ran)
    if replayed:
        return Decision("runtime-error", "R48", place, thin=True)
    if ran:
        return Decision("runtime-error", "R45", place, thin=True)
    return _first_call(lead, phase, place)


def _first_call(lead: Incident, phase: Phase | None, place: str) -> Decision:
    """R43 needs a program that died: an exception or a crash. Anything else matches no rule (R49)."""
    died = phase is not None or lead.lead.format in ("exception", "traceback", *_CRASH_FORMATS)
    return Decision("compile-error", "R43", place) if died else Decision("insufficient", "R49", place)


def _silent_death(steps: StepFacts, scene: Scene, failure_file: str) -> Decision:
    """A8: the exit code is the only evidence. After a completed call it is a runtime failure, else the first call."""
    code = steps.exit_code
    if code is None or 0 <= code < SIGNAL_EXIT:
        return Decision("insufficient", "R49", failure_file)
    if ran_before(None, steps.first_failed or "", scene.bundle, scene.progress):
        return Decision("runtime-error", "R45", failure_file, thin=True)
    return Decision("compile-error", "R43", failure_file)


def _compile_rule(lead: Incident, phase: Phase | None, kind: str, message: str) -> str | None:
    """The first of R40, R41, R42 that hits. What a plog or signature says about the phase counts like a frame."""
    if phase in ("backend-lookup", "dynamo") or keywords.names_dynamo(kind, message):
        return "R40"
    at_replay = phase in ("replay", "eager")
    if phase in ("fake", "aot") or (not at_replay and keywords.names_fake(kind, message)):
        return "R41"
    if phase in ("fx", "codegen", "capture") or lead.phase == "capture":
        return "R42"
    if not at_replay and keywords.names_capture(kind, message):
        return "R42"
    return "R40" if lead.phase == "compile" or lead.category == "compile" else None


def _phase(lead: Incident, scene: Scene) -> Phase | None:
    """Phase by the frames of the record that states the failure; None if it has no frames."""
    text = scene.text_of(lead.lead)
    return phase_of_traceback(text) if any(mark in text for mark in _TRACEBACK) else None


def _words(finding: Finding, scene: Scene) -> str:
    """The record from the stated line on: what stands before it are frames.

    The quote is the line as it stands in the file, the record's text has no prefixes: the ends agree.
    """
    quote = finding.quote.rstrip("…").strip()
    lines = scene.text_of(finding).split("\n")
    stated = [line.strip() for line in lines]
    agreeing = [
        n for n, line in enumerate(stated) if line and quote and (quote.endswith(line) or line.startswith(quote))
    ]
    if not agreeing:
        return finding.quote or "\n".join(lines)
    return "\n".join(lines[max(agreeing, key=lambda n: len(stated[n])) :])


def _from_device(finding: Finding, scene: Scene) -> bool:
    """R44: an error record of CANN, or the report of a fatal signal."""
    sources = scene.bundle.sources
    kind = sources[finding.source].kind if 0 <= finding.source < len(sources) else "stdout"
    return kind in _DEVICE_KINDS or finding.format in ("plog", "error-manager", *_CRASH_FORMATS)


def other_layout(scene: Scene) -> Decision:
    """The contract's table for logs that are no five-step run."""
    if scene.symptom == "mismatch" and scene.status == "no-failure":
        return Decision("accuracy", "symptom-stated", "symptom: mismatch")
    if scene.symptom == "slow" and scene.status == "no-failure":
        return Decision("performance", "symptom-stated", "symptom: slow")
    lead = scene.lead()
    place = scene.place(lead.lead) if lead else "no failure found"
    if lead is not None and lead.category in ("accuracy", "performance"):
        route: Route = "accuracy" if lead.category == "accuracy" else "performance"
        return Decision(route, "symptom-in-log", place)
    if scene.status == "no-failure":
        return Decision("none", "no-failure", place)
    if lead is None:
        return Decision("runtime-error", "program-was-executing", place)
    return _failed_elsewhere(lead, scene, place)


def _failed_elsewhere(lead: Incident, scene: Scene, place: str) -> Decision:
    phase = _phase(lead, scene) if lead.category in _HOST_LIKE else None
    if lead.category == "compile" or lead.phase == "compile" or phase in COMPILE_PHASES:
        return Decision("compile-error", "first-cause-in-compilation", place)
    if lead.phase == "setup":
        # It was wrong before the first step, whenever a line shows it; steps above it can be of an earlier start.
        return Decision("environment", "setup-was-wrong", place)
    early = lead.phase == "bring-up" and not lead.waits and not progressed_before(lead.lead, scene.progress)
    if early:
        return Decision("environment", "bring-up-before-first-step", place)
    return Decision("runtime-error", "program-was-executing", place)
