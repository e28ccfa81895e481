"""What every view shows and what none may show: selections from one report, without any layout.

The rules of the contract are enforced here a second time, whatever the report holds: while the status is not
`explained` there is no root cause, no rival, and only actions that collect.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec

from plogscope.model.report import (
    Alternative,
    ChainEntry,
    Evidence,
    MissingEntry,
    NextAction,
    Report,
    RootCause,
)
from plogscope.model.vocabulary import STEP_NAMES, Text, TimeQuality
from plogscope.render.words import load_words
from plogscope.wording import spans

QUOTE_LIMIT = 500
_CAUSAL = ("root", "cascade", "witness")
ROLE_ORDER: tuple[str, ...] = ("root", "witness", "cascade", "teardown", "recovered")
"""Roles from the one that a cut keeps longest to the one that goes first."""
_RUN_ID_LENGTH = 12
_SHORTEST_WAIT_S = 0.001
_SECONDS = len("2026-01-31T23:59:59")
_ANCHOR_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class Actor(msgspec.Struct, frozen=True):
    """Who wrote a line, as far as the report knows."""

    rank: int | None = None
    node: str | None = None
    device: int | None = None
    pid: int | None = None
    time: str | None = None
    file: str | None = None
    line: int = 0
    time_quality: TimeQuality = "exact"

    @property
    def known(self) -> bool:
        """Whether anything but the time is known."""
        return any(value is not None for value in (self.rank, self.node, self.device, self.pid))


def run_id(report: Report) -> str:
    """A name for what was analysed and with which rules: equal input gives an equal name on every machine.

    A code host replaces the name of an attached file by a hash, so the report carries its own.
    """
    if report.run_id:
        return report.run_id
    digest = hashlib.sha256()
    parts = [(file.path, file.bytes, file.lines, file.first_time, file.last_time) for file in report.bundle.files]
    digest.update(
        msgspec.json.encode([report.tool.version, report.tool.grammar_digest, repr(sorted(map(repr, parts)))])
    )
    return digest.hexdigest()[:_RUN_ID_LENGTH]


def anchor(prefix: str, identifier: str) -> str:
    """The fragment of a chain or evidence id: safe in an `id` attribute and stable between runs."""
    name = identifier if identifier.startswith(prefix + "-") else f"{prefix}-{identifier}"
    safe = _ANCHOR_UNSAFE.sub("-", name)
    if safe == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe[:40]}-{digest}"


def cause(report: Report) -> RootCause | None:
    """The root cause, only of an explained failure."""
    return report.verdict.root_cause if report.verdict.status == "explained" else None


def alternatives(report: Report) -> list[Alternative]:
    """The rivals, only of an explained failure."""
    return report.verdict.alternatives if report.verdict.status == "explained" else []


def actions(report: Report) -> list[NextAction]:
    """The next actions; while the failure is not explained only those that collect."""
    if report.verdict.status == "explained":
        return report.next_actions
    return [action for action in report.next_actions if action.kind == "collect"]


def missing(report: Report) -> list[MissingEntry]:
    """What is missing, from the triage and its handoff, each once."""
    handed = report.triage.handoff.missing if report.triage.handoff else []
    seen: dict[str, MissingEntry] = {}
    for entry in [*report.triage.missing, *handed]:
        seen.setdefault(entry.what.en + entry.how, entry)
    return list(seen.values())


def category_told(report: Report) -> bool:
    """Whether the category says anything to a reader of the first lines: `unknown` beside a status does not."""
    return report.verdict.category != "unknown" or report.verdict.status == "explained"


def sureness(report: Report) -> tuple[str, str]:
    """The keys of the words for what the confidence is about, and for how high it is.

    While the cause is not known it tells how sure it is where to look, which "high" beside that status does not say.
    """
    level = report.verdict.confidence.level
    if report.verdict.status == "insufficient":
        return "head.where", f"sure.{level}"
    return "head.confidence", f"confidence.{level}"


def sure_because(report: Report) -> Text | None:
    """The first reason of the confidence that the statement does not already say."""
    verdict = report.verdict
    return next((why for why in verdict.confidence.why if why.en not in verdict.statement.en), None)


def suspects_told(report: Report) -> list[str]:
    """Whom the evidence points at in few words: all ranks as one, then at most two others."""
    suspects = report.verdict.suspects
    ranks = [one.rank for one in suspects if one.rank is not None]
    others = [
        one.node or f"pid {one.pid}" for one in suspects if one.rank is None and (one.node or one.pid is not None)
    ]
    return ([f"rank {spans(ranks)}"] if ranks else []) + list(dict.fromkeys(others))[:2]


def step_states(report: Report) -> list[tuple[str, str]]:
    """The five steps as (status, steps that have it), neighbours of equal status together: `step1 … step4`."""
    groups: list[tuple[str, list[str]]] = []
    for step in report.triage.steps:
        if not groups or groups[-1][0] != step.status:
            groups.append((step.status, []))
        groups[-1][1].append(step.name.partition("-")[0])
    return [(status, names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}") for status, names in groups]


def lone_steps(report: Report) -> list[str]:
    """Steps of a five-step run of which the input holds folders without the rest of the run."""
    if report.triage.steps:
        return []
    parts = {part for file in report.bundle.files for part in file.path.split("/")[:-1]}
    parts.add(report.bundle.path.rstrip("/").rpartition("/")[2])
    found = [name for name in STEP_NAMES if name in parts]
    return found if len(found) < len(STEP_NAMES) else []


def causal(report: Report) -> list[ChainEntry]:
    """The chain from the first failure to the last consequence, in the order of the report."""
    return [entry for entry in report.chain if entry.role in _CAUSAL]


def others(report: Report) -> list[ChainEntry]:
    """What was found beside the chain: recovered errors and teardown."""
    return [entry for entry in report.chain if entry.role not in _CAUSAL]


def foremost(entries: Sequence[ChainEntry], limit: int) -> list[ChainEntry]:
    """At most `limit` entries in their order; what goes is the least important role, from its end."""
    ranked = sorted(range(len(entries)), key=lambda at: (ROLE_ORDER.index(entries[at].role), at))
    return [entries[at] for at in sorted(ranked[:limit])]


def first_failure(report: Report) -> Actor | None:
    """Where and when the failure first shows: the root cause, else the earliest entry of the chain, else a suspect."""
    root = cause(report)
    if root is not None:
        return _actor(root)
    entries = causal(report)
    if entries:
        return _actor(min(_first_of_each(entries), key=lambda entry: (entry.time is None, entry.time or "")))
    if report.verdict.suspects:
        suspect = report.verdict.suspects[0]
        return Actor(suspect.rank, suspect.node, suspect.device, suspect.pid)
    return None


def _actor(stated: RootCause | ChainEntry) -> Actor:
    return Actor(
        stated.rank, stated.node, stated.device, stated.pid, stated.time, stated.file, stated.line, stated.time_quality
    )


def _first_of_each(entries: Iterable[ChainEntry]) -> list[ChainEntry]:
    """The first entry of every process, one with a stamp before one whose time is inherited."""
    first: dict[tuple[object, ...], tuple[tuple[bool, bool, str], ChainEntry]] = {}
    for entry in entries:
        who = (entry.rank, entry.node, entry.device, entry.pid)
        order = (entry.time is None, entry.time_quality == "inherited", entry.time or "")
        if who not in first or order < first[who][0]:
            first[who] = (order, entry)
    return [entry for _, entry in first.values()]


def moment(time: str | None, quality: TimeQuality) -> Text | None:
    """A time as it may be shown: an inherited one says only that the line came after that second."""
    if time is None:
        return None
    if quality != "inherited":
        return Text(time, time)
    return load_words()("time.after", time=time[:_SECONDS])


def began(entry: ChainEntry) -> str | None:
    """When a wait began, if that is not simply when it was written."""
    if not entry.start_time or not entry.time:
        return entry.start_time
    try:
        written = datetime.fromisoformat(entry.time) + timedelta(seconds=entry.offset_s)
        waited = (written - datetime.fromisoformat(entry.start_time)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return entry.start_time if entry.start_time != entry.time else None
    return entry.start_time if waited > _SHORTEST_WAIT_S else None


def evidence_anchors(evidence: Sequence[Evidence]) -> dict[tuple[str, int], str]:
    """The fragment of the evidence that quotes a line, by file and line."""
    return {(item.file, item.line): anchor("e", item.id) for item in reversed(evidence)}


def evidence_roles(report: Report) -> dict[tuple[str, int], ChainEntry]:
    """The chain entry that stands on a line, by file and line."""
    return {(entry.file, entry.line): entry for entry in reversed(report.chain)}


def quoted(text: str) -> str:
    """A quote as the contract cuts it."""
    return text if len(text) <= QUOTE_LIMIT else text[:QUOTE_LIMIT] + "…"


def context(item: Evidence) -> Iterable[tuple[int, str, bool]]:
    """The lines around a quote as (line number, text, whether it is the quote)."""
    start = item.line - len(item.context_before)
    for offset, line in enumerate(item.context_before):
        yield start + offset, line, False
    yield item.line, item.quote, True
    for offset, line in enumerate(item.context_after, start=1):
        yield item.line + offset, line, False
