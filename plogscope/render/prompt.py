"""Texts to hand on beside the Markdown: the evidence alone, and a prompt for a coding agent.

Both are bounded, and the prompt says that log text is data: a log can hold sentences that look like instructions.
"""

from __future__ import annotations

from collections.abc import Sequence

from plogscope.model.report import ChainEntry, Report, RootCause, SuspectEntry
from plogscope.render import facts
from plogscope.render.markup import fenced
from plogscope.render.visible import clip, one_line
from plogscope.render.words import load_words, pick

MAX_PROMPT = 24_000
MAX_EVIDENCE = 40_000
_EVIDENCE, _CHAIN, _SUSPECTS, _ROWS = 8, 20, 12, 12
_LINE = 500


def evidence_text(report: Report, lang: str = "en") -> str:
    """Every quoted line with its place, reason and surroundings, as plain text."""
    words = load_words()
    blocks: list[str] = []
    length = 0
    for number, item in enumerate(report.evidence, start=1):
        lines = [f"{one_line(item.file)}:{item.line}", "  " + one_line(pick(item.why, lang))]
        lines += [
            f"{'>' if stated else ' '} {place}  {clip(one_line(text), _LINE)}"
            for place, text, stated in facts.context(item)
        ]
        block = "\n".join(lines)
        length += len(block)
        if length > MAX_EVIDENCE:
            blocks.append(pick(words("page.more", n=len(report.evidence) - number + 1), lang))
            break
        blocks.append(block)
    return "\n\n".join(blocks) + "\n" if blocks else pick(words("evidence.none"), lang) + "\n"


def agent_prompt(report: Report, lang: str = "en") -> str:
    """What an agent needs to go on: the question, the facts with file and line, and what must not be concluded."""
    for evidence, chain in ((_EVIDENCE, _CHAIN), (4, 10), (1, 3)):
        text = _prompt(report, lang, evidence, chain)
        if len(text) <= MAX_PROMPT:
            return text
    return clip(text, MAX_PROMPT)


def _prompt(report: Report, lang: str, evidence: int, chain: int) -> str:
    words = load_words()

    def say(key: str, **values: object) -> str:
        return pick(words(key, **values), lang)

    verdict = report.verdict
    blocks = [say("prompt.task_" + verdict.status), say("prompt.data"), "## " + say("prompt.facts")]
    blocks.append("\n".join(_facts(report, lang)))
    blocks += _actions(report, lang)
    if report.evidence:
        blocks.append("## " + say("section.evidence"))
        for item in report.evidence[:evidence]:
            lines = [
                f"{'>' if stated else ' '} {number}  {clip(one_line(text), _LINE)}"
                for number, text, stated in facts.context(item)
            ]
            blocks += [f"{one_line(item.file)}:{item.line}", fenced(lines)]
    entries = facts.foremost(facts.causal(report), chain)
    if entries:
        blocks.append("## " + say("section.chain"))
        blocks.append("\n".join(_entry(entry, lang) for entry in entries))
    missing = facts.missing(report)[:_ROWS]
    if missing:
        blocks.append("## " + say("missing.title"))
        blocks.append("\n".join(f"- {one_line(pick(e.what, lang))} {one_line(e.how)}".rstrip() for e in missing))
    return "\n\n".join(blocks) + "\n"


def _facts(report: Report, lang: str) -> list[str]:
    verdict, environment = report.verdict, report.environment
    confidence, route = verdict.confidence.level, report.triage.route
    lines = [
        f"- statement: {one_line(pick(verdict.statement, lang))}",
        f"- status: {verdict.status}; category: {verdict.category}; confidence: {confidence}; route: {route}",
        f"- run: {one_line(facts.run_id(report))}; layout: {one_line(report.bundle.layout)}",
        f"- input: {one_line(report.bundle.path)}",
    ]
    lone = facts.lone_steps(report)
    lines += [f"- steps: {pick(load_words()('head.lone_steps', names=', '.join(lone)), lang)}"] if lone else []
    lines += [f"- step {names}: {status}" for status, names in facts.step_states(report)]
    root = facts.cause(report)
    if root is not None:
        lines.append(f"- root cause: {one_line(root.file)}:{root.line} ({_who(root)}) {_quote(root.quote)}")
        lines += [f"- field {one_line(name)}: {_quote(value)}" for name, value in list(root.fields.items())[:_ROWS]]
    for rival in facts.alternatives(report)[:3]:
        why = one_line(pick(rival.why_not, lang))
        lines.append(f"- rival: {one_line(rival.file)}:{rival.line} {_quote(rival.quote)} ({why})")
    for suspect in verdict.suspects[:_SUSPECTS]:
        why, need = one_line(pick(suspect.why, lang)), one_line(pick(suspect.need, lang))
        lines.append(f"- suspect: {_who(suspect)}: {why} {need}")
    names = ("torch", "torch_npu", "torchair", "cann", "driver", "soc", "python", "os")
    known = [f"{name} {one_line(value)}" for name in names if (value := getattr(environment, name))]
    lines += [f"- versions: {'; '.join(known)}"] if known else []
    variables = [f"{one_line(name)}={one_line(value)}" for name, value in list(environment.env.items())[:_ROWS]]
    return lines + ([f"- variables: {clip(' '.join(variables), _LINE)}"] if variables else [])


def _actions(report: Report, lang: str) -> Sequence[str]:
    blocks = []
    for action in facts.actions(report)[:3]:
        exports = [f"export {one_line(name)}={one_line(value)}" for name, value in action.env.items()]
        commands = [*exports, *([action.command] if action.command else [])]
        blocks.append(f"- {action.kind}: {one_line(pick(action.action, lang))}")
        blocks += [fenced(commands, info="sh")] if commands else []
    return ["## " + pick(load_words()("section.action"), lang), *blocks] if blocks else []


def _entry(entry: ChainEntry, lang: str) -> str:
    time = facts.moment(entry.time, entry.time_quality)
    parts = [
        one_line(entry.id),
        entry.role,
        one_line(pick(time, lang)) if time else "",
        _who(entry),
        f"{one_line(entry.file)}:{entry.line}",
    ]
    because = f" <- {one_line(', '.join(entry.explained_by[:3]))}" if entry.explained_by else ""
    return f"- {' | '.join(filter(None, parts))} | {one_line(pick(entry.title, lang))}{because}"


def _who(who: ChainEntry | RootCause | SuspectEntry) -> str:
    known = [(name, getattr(who, name)) for name in ("rank", "node", "device", "pid")]
    return " ".join(f"{name} {one_line(str(value))}" for name, value in known if value is not None)


def _quote(text: str) -> str:
    return clip(one_line(text).strip(), _LINE)
