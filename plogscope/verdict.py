"""Chain and coverage → verdict and next actions. The last stage that decides anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from plogscope.model.chain import Chain, Clock, Incident, Suspect
from plogscope.model.report import Confidence, NextAction, Triage
from plogscope.model.signature import NPU, Advice, Code, Signature
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import Category, ConfidenceLevel, Status, Symptom, Text
from plogscope.wording import fill, say

SHOWN_SUSPECTS = 8


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the report says first: status, category, how sure, in one sentence, and what to do."""

    status: Status
    category: Category
    subcategory: str | None
    confidence: Confidence
    statement: Text
    actions: tuple[NextAction, ...]


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What the logs tell of the run as a whole: it decides whether silence means that nothing failed.

    Attributes:
        understood: Some line has a form or a message that the program knows.
        progressed: Something tells of steps done or of a good end.
        of_job: An output of the job or a plog of its errors was read.
        broken: Looks for an output that stops within a line; its path, if the run is not known to have ended well.
    """

    understood: bool = True
    progressed: bool = True
    of_job: bool = True
    broken: Callable[[], str | None] = lambda: None


def judge_chain(
    chain: Chain,
    *,
    steps: StepFacts | None,
    symptom: Symptom | None,
    signatures: Mapping[str, Signature],
    codes: Mapping[str, Code],
    where: Mapping[str, str],
    clocks: Sequence[Clock],
    start: Text | None = None,
    heard: Heard,
) -> Judgement:
    """The verdict on a chain.

    Args:
        chain: With the chosen root, or with suspects.
        steps: Facts of a five-step run; a blocked run allows no cause (R2, R3).
        symptom: What the user says is wrong.
        signatures: By id.
        codes: Code table row by incident id, where the root's role comes from one.
        where: `file:line` by incident id.
        clocks: By position.
        start: The sentence that names the frame in which the root's exception came up, if it has a traceback.
        heard: What the logs tell of the run as a whole.
    """
    if steps is not None and steps.blocked_by:
        return _blocked(steps)
    root = chain.incident(chain.root)
    if root is not None:
        judgement = _explained(root, chain, signatures.get(root.signature or ""), codes.get(root.id), where[root.id])
        return judgement if start is None or chain.root_reason is not None else _starting(judgement, start)
    witnesses = [one for one in chain.incidents if chain.places.get(one.id) in ("witness", "cascade")]
    if witnesses or chain.suspects:
        return _insufficient(chain, witnesses, signatures, clocks, where)
    return _nothing_failed(chain, symptom, heard, stepwise=steps is not None)


def _explained(root: Incident, chain: Chain, signature: Signature | None, code: Code | None, where: str) -> Judgement:
    level: ConfidenceLevel
    if chain.root_reason is not None:
        level, why = ("high" if chain.root_proven else "medium"), [chain.root_reason]
    elif root.signature is None:
        level, why = "low", [say("confidence.unknown")]
    elif root.role == "cause":
        level, why = "high", [say("confidence.first_hand")]
    else:
        level, why = "medium", [say("confidence.inferred")]
    if chain.rivals:
        why.append(say("confidence.rivals"))
        if level == "high" and any(chain.incident(rival.incident) is not None for rival in chain.rivals):
            strong = [chain.incident(rival.incident) for rival in chain.rivals]
            if any(one is not None and one.role == "cause" and one.category != root.category for one in strong):
                level = "medium"
    if any(rival.unordered for rival in chain.rivals):
        level = LOWER[level]
        why.append(say("confidence.unordered"))
    key = "statement.explained_unknown" if root.signature is None else "statement.explained"
    if chain.root_reason is not None:
        key = "statement.explained_checker"
    return Judgement(
        status="explained",
        category=root.category,
        subcategory=root.subcategory,
        confidence=Confidence(level, why),
        statement=say(key, title=root.title, where=where, reason=chain.root_reason),
        actions=_remedy(root, signature, code, where, chain.root_reason),
    )


STATES_THE_REMEDY = ("rank-table", "tls", "terminated")
"""Subcategories of causes that are no behaviour of a rank: the advice of their signatures comes first."""

LOWER: dict[ConfidenceLevel, ConfidenceLevel] = {"high": "medium", "medium": "low", "low": "low"}


def _starting(judgement: Judgement, start: Text) -> Judgement:
    """The judgement with the place to start at before its first action."""
    first, *rest = judgement.actions
    action = Text(f"{start.en} {first.action.en}", f"{start.zh}{first.action.zh}")
    return msgspec.structs.replace(judgement, actions=(msgspec.structs.replace(first, action=action), *rest))


def _remedy(
    root: Incident, signature: Signature | None, code: Code | None, where: str, reason: Text | None
) -> tuple[NextAction, ...]:
    actions = []
    layer = LAYER_ACTIONS.get(root.subcategory or "") if reason is not None else None
    if layer is not None:
        actions.append(NextAction(kind="check", action=say(layer), why=reason))
    elif reason is not None and root.subcategory not in STATES_THE_REMEDY:
        file, _, line = where.rpartition(":")
        actions.append(NextAction(kind="check", action=say("action.check_rank", file=file, line=line), why=reason))
    if signature is not None and signature.advice is not None:
        actions.append(_advised(signature.advice, root, where))
    if code is not None:
        actions.append(NextAction(kind="check", action=code.next_action, why=code.meaning))
    if not actions:
        file, _, line = where.rpartition(":")
        actions.append(NextAction(kind="check", action=say("action.check_line", file=file, line=line)))
    return tuple(actions)


def _advised(advice: Advice, root: Incident, where: str) -> NextAction:
    values = {name: value for finding in reversed(root.findings) for name, value in finding.fields.items()}
    values.update(root.lead.fields)
    told = values.get("device", "")
    device = str(root.actor.device) if root.actor.device is not None else told
    values[NPU] = device if device.isdecimal() else "<device>"
    command = fill(Text(advice.command, advice.command), values).en if advice.command else None
    return NextAction(
        kind=advice.kind,
        action=fill(advice.next_action, values),
        command=command,
        env=advice.env,
        why=say("statement.explained", title=root.title, where=where),
    )


def _insufficient(
    chain: Chain,
    witnesses: list[Incident],
    signatures: Mapping[str, Signature],
    clocks: Sequence[Clock],
    where: Mapping[str, str],
) -> Judgement:
    waits = [one for one in witnesses if one.waits]
    peers = [one for one in waits if one.category == "communication"]  # a collective says more than its stream's wait
    ended = _ended_from_outside(witnesses, clocks) or _killed(witnesses)
    lead = next(iter(ended or peers or waits or witnesses), None)
    if chain.proven_absence:
        confidence = Confidence("high", [say("confidence.counted")])
    elif len(chain.suspects) == 1 and len(witnesses) > 1:
        confidence = Confidence("medium", [say("confidence.named")])
    else:
        confidence = Confidence("low", [say("confidence.single_witness")])
    if chain.suspects:
        statement = say("statement.insufficient_suspects", suspects=_names(chain.suspects))
        key = "action.collect_doing" if all(one.logged for one in chain.suspects) else "action.collect_peer"
        action = say(key, who=_names(chain.suspects))
        actions = [NextAction(kind="collect", action=action, why=chain.suspects[0].why)]
    elif lead is not None and lead.lead.is_bare_traceback:
        statement = say("statement.cut_off", where=where[lead.id])
        file, _, line = where[lead.id].rpartition(":")
        actions = [NextAction(kind="collect", action=say("action.collect_end", file=file, line=line))]
    else:
        statement = say("statement.insufficient", title=lead.title if lead else Text("?", "?"))
        actions = [NextAction(kind="collect", action=say("action.collect_plog"), env=dict(COLLECT_ENV))]
        advice = _advice_of(signatures.get(lead.signature or "")) if lead is not None else None
        if lead is not None and advice is not None and advice.kind == "collect":
            actions.insert(0, _advised(advice, lead, where[lead.id]))
    return Judgement(
        status="insufficient",
        category="host" if ended else _witnessed_category(lead),
        subcategory=lead.subcategory if lead else None,
        confidence=confidence,
        statement=statement,
        actions=tuple(actions),
    )


def _advice_of(signature: Signature | None) -> Advice | None:
    return signature.advice if signature is not None else None


def _ended_from_outside(witnesses: list[Incident], clocks: Sequence[Clock]) -> list[Incident]:
    """The SIGTERM that launchers received, if nobody complained before: what follows is only the end of the job."""
    signals = [one for one in witnesses if one.subcategory == "terminated" and one.time_ns is not None]

    def complained_before(other: Incident) -> bool:
        own = clocks[other.lead.clock]
        related = [one.time_ns or 0 for one in signals if clocks[one.lead.clock].doubt_s(own) is not None]
        return other.start_ns is not None and (not related or other.start_ns < min(related))

    others = [one for one in witnesses if one.subcategory != "terminated"]
    return [] if any(map(complained_before, others)) else signals


def _killed(witnesses: list[Incident]) -> list[Incident]:
    """What launchers say of a process that SIGKILL ended first: no process does that to itself."""
    return [
        one
        for one in witnesses
        if one.subcategory == "launcher"
        and any((name, value) in KILLED for finding in one.findings for name, value in finding.fields.items())
    ]


KILLED = (("code", "-9"), ("signal", "9"), ("signal", "Killed"))
"""Fields of launchers' remarks on the first process that ended."""


COLLECT_ENV = {"ASCEND_GLOBAL_LOG_LEVEL": "1", "ASCEND_PROCESS_LOG_PATH": "./ascend_plog"}


def _witnessed_category(lead: Incident | None) -> Category:
    """A wait names its kind of failure; a bare wrapper of software says nothing about what lies below it."""
    if lead is None or (not lead.waits and lead.category in SOFTWARE):
        return "unknown"
    return lead.category


SOFTWARE = ("host", "compile")


def _names(suspects: tuple[Suspect, ...]) -> str:
    ranks = sorted({one.rank for one in suspects if one.rank is not None})
    names = [f"rank {_spans(ranks)}"] if ranks else []
    names += sorted({one.node for one in suspects if one.rank is None and one.node})
    names += sorted(
        {f"device {one.device}" for one in suspects if one.rank is None and not one.node and one.device is not None}
    )
    return ", ".join(names[:SHOWN_SUSPECTS]) or "?"


def _spans(ranks: list[int]) -> str:
    """`0-3, 7` for [0, 1, 2, 3, 7]."""
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)


def _blocked(steps: StepFacts) -> Judgement:
    actions = [
        NextAction(
            kind="collect", action=say("action.collect_missing", what=one.what), command=one.how or None, why=one.why
        )
        for one in steps.missing
    ]
    what = steps.missing[0].what if steps.missing else say("confidence.layout")
    return Judgement(
        status="insufficient",
        category="unknown",
        subcategory=None,
        confidence=Confidence("high", [say("confidence.layout")]),
        statement=say("statement.insufficient_steps", what=what),
        actions=tuple(actions) or (NextAction(kind="collect", action=say("action.collect_plog")),),
    )


LAYER_ACTIONS = {f"differs-in-step{number}": f"action.differs_step{number}" for number in range(2, 6)}
"""What to try next by the first step whose printed values differ from eager."""

BLOCKS_A_FIX = ("script", "stack")
SYMPTOM_ACTIONS = {"accuracy": "action.collect_values", "performance": "action.collect_timing"}


def settle(judgement: Judgement, triage: Triage, script: str | None) -> Judgement:
    """The verdict after the route is known.

    A run that cannot be routed has no cause (R2, R3, R49); an incomplete run gets the script that completes it; what
    passed but shows a symptom has the category of its route; without script or stack no fix is proposed (C13).

    Args:
        judgement: What the chain says.
        triage: Route and the six inputs.
        script: Completes a five-step run; None elsewhere.
    """
    status, actions = judgement.status, judgement.actions
    if triage.route == "insufficient" and status == "explained":
        judgement = _unrouted(triage)
        status, actions = judgement.status, judgement.actions
    if status == "insufficient" and script is not None:
        first = NextAction(kind="collect", action=say("action.collect_script"), command=script)
        return msgspec.structs.replace(judgement, actions=(first, *actions))
    wanted = SYMPTOM_ACTIONS.get(triage.route) if status == "no-failure" else None
    if wanted is not None:
        category: Category = "accuracy" if triage.route == "accuracy" else "performance"
        return msgspec.structs.replace(
            judgement, category=category, actions=(NextAction(kind="collect", action=say(wanted)), *actions)
        )
    lacking = [item.detail for item in triage.inputs if item.item in BLOCKS_A_FIX and item.state == "missing"]
    if status == "explained" and lacking and any(one.kind == "fix" for one in actions):
        checks = [msgspec.structs.replace(one, kind="check") if one.kind == "fix" else one for one in actions]
        wanted_first = NextAction(kind="collect", action=say("action.collect_missing", what=lacking[0]))
        return msgspec.structs.replace(judgement, actions=(wanted_first, *checks))
    return judgement


def _unrouted(triage: Triage) -> Judgement:
    what = triage.missing[0].what if triage.missing else say("confidence.layout")
    return Judgement(
        status="insufficient",
        category="unknown",
        subcategory=None,
        confidence=Confidence("low", [say("confidence.unrouted")]),
        statement=say("statement.insufficient_route", what=what),
        actions=(NextAction(kind="collect", action=say("action.collect_plog"), env=dict(COLLECT_ENV)),),
    )


def _nothing_failed(chain: Chain, symptom: Symptom | None, heard: Heard, *, stepwise: bool) -> Judgement:
    """No failure, or why the absence of one says nothing."""
    if not heard.understood:
        return _cannot_tell("not_understood", say("statement.not_understood"), say("action.collect_plog"), COLLECT_ENV)
    if not heard.of_job and not stepwise:
        return _cannot_tell("no_job_log", say("statement.no_job_log"), say("action.collect_all"))
    if symptom == "crash":
        return _cannot_tell("no_word", say("statement.no_word"), say("action.collect_all"))
    broken = heard.broken()
    if broken is not None:
        return _cannot_tell("no_end", say("statement.breaks_off", file=broken), say("action.collect_all"))
    return _no_failure(chain, symptom, sure=heard.progressed or stepwise)


def _cannot_tell(why: str, statement: Text, action: Text, env: Mapping[str, str] | None = None) -> Judgement:
    return Judgement(
        status="insufficient",
        category="unknown",
        subcategory=None,
        confidence=Confidence("low", [say(f"confidence.{why}")]),
        statement=statement,
        actions=(NextAction(kind="collect", action=action, env=dict(env or {})),),
    )


def _no_failure(chain: Chain, symptom: Symptom | None, *, sure: bool) -> Judgement:
    cleared = sum(1 for place in chain.places.values() if place == "recovered")
    sure = sure or bool(cleared)
    return Judgement(
        status="no-failure",
        category="unknown",
        subcategory=None,
        confidence=Confidence(
            "high" if sure else "medium", [say("confidence.clean" if sure else "confidence.no_progress")]
        ),
        statement=say("statement.no_failure_cleared", count=cleared) if cleared else say("statement.no_failure"),
        actions=() if symptom else (NextAction(kind="collect", action=say("action.collect_symptom")),),
    )
