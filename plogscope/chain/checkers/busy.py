"""Rule `busy`: a rank whose own work took longer than the others wait is the first cause of their timeouts.

It saved a checkpoint, compiled, prepared data or evaluated alone; its own output says so.
- The work went on while the first of the others gave up. Where no clock tells that, it took as long as the others wait
  and is the last thing that the rank got done.
- A bar that stands still counts only for work that ranks do alone, of the only rank that does not wait.
"""

from __future__ import annotations

import re

import msgspec

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import exec_limit_ns, number, these, uncertainty_ns
from plogscope.chain.checkers.signatures import LONG_ACTION, PROGRESS_BAR
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Incident
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 54
SLACK_NS = 30 * SECOND_NS
"""Output is buffered, and a wait is polled: both can be told this much later."""

LONG_NS = 60 * SECOND_NS
"""No wait for a collective can be set shorter."""

AS_LONG = 0.9
"""Of the limit: bars and logs tell of work some time before it ends."""

STAMPED = ("exact", "no_year", "no_date")
"""Qualities of times that the line itself prints."""

_ALONE = re.compile(
    r"eval|valid|test|predict|generat|infer|token|preprocess|map\b|sav|load|download|convert|compil", re.IGNORECASE
)
"""What bars are called that a rank works through without the others. The bar of training stands still for victims."""


class _Action(msgspec.Struct, frozen=True):
    finding: Finding
    rank: int
    took_ns: int


def check(view: JobView) -> list[CheckerResult]:
    """The longest work of a rank that outlasted the patience of the others."""
    found = [one for one in _actions(view) if _outlasted(view, one)]
    if not found:
        return []
    longest = max(found, key=lambda one: one.took_ns)
    reason = say("checker.busy", rank=longest.rank, took=round(longest.took_ns / SECOND_NS))
    actor = msgspec.structs.replace(longest.finding.actor, rank=longest.rank)
    return [CheckerResult(rule="busy", kind="root", reason=reason, proven=True, finding=longest.finding, actor=actor)]


def _actions(view: JobView) -> list[_Action]:
    actions = []
    single_node = len({one.node for one in view.cluster.processes}) <= 1
    for finding in these(view, LONG_ACTION, PROGRESS_BAR):
        took = _took_s(finding)
        known = (finding.actor.rank, number(finding, "rank"), finding.actor.local_rank if single_node else None)
        rank = next((one for one in known if one is not None), None)
        if took is not None and rank is not None:
            actions.append(_Action(finding, rank, int(took * SECOND_NS)))
    return actions


def _took_s(finding: Finding) -> float | None:
    """How long the work took, or, of a bar that did not reach its end, had gone on."""
    if finding.signature == LONG_ACTION:
        text = finding.fields.get("elapsed") or finding.fields.get("long") or ""
        return float(text) if text.replace(".", "", 1).isdecimal() else None
    if number(finding, "step") == number(finding, "count") or not _ALONE.search(finding.quote.partition("%|")[0]):
        return None
    parts = finding.fields.get("elapsed", "").split(":")
    if not all(part.isdecimal() for part in parts):
        return None
    return float(sum(int(part) * 60**power for power, part in enumerate(reversed(parts))))


def _outlasted(view: JobView, action: _Action) -> bool:
    others = [one for one in view.incidents if one.waits and one.actor.rank not in (None, action.rank)]
    if not others or action.took_ns < LONG_NS or not _is_last(view, action.finding):
        return False
    if action.finding.signature == PROGRESS_BAR and not _is_only_one(view, action.rank, others):
        return False
    meanwhile = _gave_up_meanwhile(view, action, others)
    return meanwhile if meanwhile is not None else action.took_ns >= AS_LONG * _limit_ns(view, others) > 0


def _gave_up_meanwhile(view: JobView, action: _Action, others: list[Incident]) -> bool | None:
    """Whether the first of the others gave up while the work went on; None where no clock tells."""
    end = action.finding.order_ns
    stamped = [one for one in others if one.time_ns is not None and one.lead.time_quality in STAMPED]
    first = min(stamped, key=lambda one: one.time_ns or 0, default=None)
    if first is None or end is None or action.finding.time_quality not in STAMPED:
        return None
    doubt = uncertainty_ns((action.finding, first.lead), view.cluster.clocks)
    if doubt > action.took_ns:
        return None
    slack = doubt + SLACK_NS
    return end - action.took_ns - slack <= (first.time_ns or 0) <= end + slack


def _limit_ns(view: JobView, others: list[Incident]) -> int:
    """How long the others wait: the shortest that any of them says, else the limit of collectives."""
    spans = [one.time_ns - one.start_ns for one in others if one.time_ns and one.start_ns]
    return min((span for span in spans if span > 0), default=exec_limit_ns(view))


def _is_only_one(view: JobView, rank: int, others: list[Incident]) -> bool:
    """True when all ranks of the job but this one wait."""
    waiting = {one.actor.rank for one in view.incidents if one.waits} - {None}
    size = view.cluster.expected_ranks or max(*(one.actor.rank or 0 for one in others), rank) + 1
    return rank not in waiting and len(waiting) == size - 1


def _is_last(view: JobView, finding: Finding) -> bool:
    """True when no step follows in the same output."""
    return not any(
        (one.signature or "").startswith("progress/")
        and one.source == finding.source
        and one.line > finding.line
        and one.actor.rank in (None, finding.actor.rank)
        for one in view.findings
    )
