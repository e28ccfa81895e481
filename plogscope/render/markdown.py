"""The report as Markdown for a ticket: at most 60,000 characters and 200,000 bytes, whatever the report holds.

Over budget it loses, in this order: context lines, secondary findings, rows per rank, variables, then the tail of every
list. The verdict, the first evidence, the next action and the run id always stay, and the last line says what was cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from plogscope.model.report import ChainEntry, Evidence, NextAction, Report, RootCause, SuspectEntry
from plogscope.model.vocabulary import Text, TimeQuality
from plogscope.render import facts
from plogscope.render.issue_forms import Form, collect_env, four_lines, load_forms
from plogscope.render.markup import code, fenced, prose, table
from plogscope.render.visible import clip, one_line
from plogscope.render.words import load_words, pick
from plogscope.wording import spans

MAX_CHARACTERS = 60_000
MAX_BYTES = 200_000
_PROSE_LIMIT = 1_000
_LINE_LIMIT = 1_000
_NAME_LIMIT = 300
_VERSIONS = ("torch", "torch_npu", "torchair", "cann", "driver", "soc", "python", "os")
_DASH = "–"
_PROOF = 3
"""Evidence that stands before the root cause and the next action; the rest follows the chain."""
_Entry = TypeVar("_Entry")
_PARTS = (
    "head", "category", "evidence", "cause", "action", "chain", "further",
    "ranks", "findings", "missing", "present", "environment", "provenance",
)  # fmt: skip


class _Limits(msgspec.Struct, frozen=True):
    """How many entries of each kind are kept."""

    context: int = 5
    evidence: int = 50
    findings: int = 60
    chain: int = 60
    ranks: int = 64
    variables: int = 200
    rows: int = 100
    line: int = _LINE_LIMIT


_STEPS = (
    _Limits(),
    _Limits(context=1),
    _Limits(context=0),
    _Limits(context=0, findings=10, evidence=30, chain=40),
    _Limits(context=0, findings=0, evidence=20, chain=30, ranks=16),
    _Limits(context=0, findings=0, evidence=12, chain=20, ranks=16, variables=0, rows=20, line=600),
    _Limits(context=0, findings=0, evidence=4, chain=8, ranks=8, variables=0, rows=5, line=400),
    _Limits(context=0, findings=0, evidence=1, chain=1, ranks=1, variables=0, rows=1, line=240),
)


def render_markdown(
    report: Report, lang: str = "en", template: str = "generic", max_characters: int = MAX_CHARACTERS
) -> str:
    """The report in `lang` ("en" or "zh"), within `max_characters` and `MAX_BYTES`.

    `template` names an issue form, whose fields are filled; `generic` is the report as it is.
    """
    text = ""
    for limits in _STEPS:
        text = _Page(report, lang, limits).render(load_forms().get(template))
        if len(text) <= max_characters and len(text.encode("utf-8", "replace")) <= MAX_BYTES:
            break
    return text


class _Page:
    """One rendering with one set of limits; counts what it leaves out."""

    def __init__(self, report: Report, lang: str, limits: _Limits) -> None:
        self.report = report
        self.lang = lang
        self.limits = limits
        self.words = load_words()
        self.cut: dict[str, int] = {}

    def render(self, form: Form | None) -> str:
        parts: dict[str, Callable[[], list[str]]] = {
            "head": self.head, "category": self.category, "evidence": self.evidence, "cause": self.cause,
            "action": self.action, "chain": self.chain, "further": self.further, "ranks": self.ranks,
            "findings": self.findings, "missing": self.missing, "present": self.present,
            "environment": self.environment, "provenance": self.provenance,
            "hardware": self.hardware, "steps": self.steps,
            "expected": lambda: [self.say("form.expected")],
            "collect_env": lambda: collect_env(self.report, self.lang),
            "four_lines": lambda: four_lines(self.report, self.lang),
        }  # fmt: skip
        blocks = []
        if form is None:
            blocks = [block for part in _PARTS for block in parts[part]()]
        else:
            statement = one_line(pick(self.report.verdict.statement, self.lang))
            blocks.append(f"{self.say('form.title')} {self.code(form.title + clip(statement, 160))}")
            for field in form.fields:
                blocks.append(f"### {field.label}")
                # Headings of the form stand above those of the report.
                found = [block for part in field.parts for block in parts[part]()]
                blocks += [f"##{block}" if block.startswith(("## ", "### ", "#### ")) else block for block in found]
        blocks.append(self.last_line())
        return "\n\n".join(block for block in blocks if block) + "\n"

    def say(self, key: str, **values: object) -> str:
        """Our own words, which hold no markup; values must be escaped by the caller."""
        return pick(self.words(key, **values), self.lang)

    def text(self, text: Text) -> str:
        return prose(clip(pick(text, self.lang), min(_PROSE_LIMIT, self.limits.line)))

    def code(self, text: object) -> str:
        return code(clip(str(text), min(_NAME_LIMIT, self.limits.line)))

    def keep(self, kind: str, entries: Sequence[_Entry], limit: int) -> Sequence[_Entry]:
        if len(entries) > limit:
            self.cut[kind] = self.cut.get(kind, 0) + len(entries) - limit
        return entries[:limit]

    def heading(self, name: str) -> str:
        return f"### {self.say(name)}"

    def place(self, file: str, line: int) -> str:
        return self.code(f"{file}:{line}") if len(file) < _NAME_LIMIT - 12 else f"{self.code(file)}:{line}"

    def actor(self, who: facts.Actor | ChainEntry | RootCause | SuspectEntry) -> str:
        names = ("rank", "node", "device", "pid")
        known = [(name, getattr(who, name)) for name in names if getattr(who, name) is not None]
        return " · ".join(self.say(f"actor.{name}", n=prose(clip(str(value), _NAME_LIMIT))) for name, value in known)

    def moment(self, stated: facts.Actor | ChainEntry | RootCause) -> str:
        return self.stamp(stated.time, stated.time_quality)

    def stamp(self, time: str | None, quality: TimeQuality) -> str:
        shown = facts.moment(time, quality)
        if shown is None:
            return ""
        return prose(pick(shown, self.lang)) if quality == "inherited" else self.code(time)

    def quote(self, text: str) -> str:
        return clip(one_line(facts.quoted(text)), self.limits.line)

    def head(self) -> list[str]:
        verdict, environment = self.report.verdict, self.report.environment
        first = facts.first_failure(self.report)
        where = " · ".join(self.where(first)) if first else ""
        versions = [("CANN", environment.cann), ("torch_npu", environment.torch_npu)]
        known = [f"{name} {self.code(value) if value else self.say('head.unknown')}" for name, value in versions]
        about, level = facts.sureness(self.report)
        category = self.say("category." + verdict.category) if facts.category_told(self.report) else ""
        steps = self.step_states()
        actions = facts.actions(self.report)
        rows = [
            ("head.verdict", " · ".join(filter(None, [f"**{self.say('status.' + verdict.status)}**", category]))),
            (about, self.say(level)),
            ("head.first_" + verdict.status, where or self.say("head.none")),
            *([("head.steps", steps)] if steps else []),
            *([("head.action", self.do(actions[0]))] if actions else []),
            ("head.versions", " · ".join(known)),
            ("head.run", f"{self.code(facts.run_id(self.report))} · {self.code(self.report.bundle.path)}"),
        ]
        listed = "\n".join("- " + self.say("terminal.pair", name=self.say(key), value=value) for key, value in rows)
        return [f"## {self.text(verdict.statement)}", listed]

    def where(self, first: facts.Actor) -> list[str]:
        place = self.place(first.file, first.line) if first.file else ""
        return [part for part in (self.actor(first), self.moment(first), place) if part]

    def step_states(self) -> str:
        lone = facts.lone_steps(self.report)
        if lone:
            return self.say("head.lone_steps", names=", ".join(map(self.code, lone)))
        states = facts.step_states(self.report)
        words = self.words
        return " · ".join(
            f"{self.code(names)} {pick(words.find('step.' + status, status), self.lang)}" for status, names in states
        )

    def category(self) -> list[str]:
        verdict, triage = self.report.verdict, self.report.triage
        line = f"**{self.say('category.' + verdict.category)}** ({self.code(verdict.category)})"
        if verdict.subcategory:
            line += f" · {self.code(verdict.subcategory)}"
        route = f"{self.say('route.' + triage.route)} · {self.say('category.rule')} {self.code(triage.rule)}"
        why = "\n".join(
            f"- {self.text(reason)}" for reason in self.keep("rows", verdict.confidence.why, self.limits.rows)
        )
        steps = [
            f"- {self.code(step.name)}: {pick(self.words.find('step.' + step.status, step.status), self.lang)}"
            for step in triage.steps
        ]
        return [self.heading("section.category"), line, route, why, "\n".join(steps)]

    def evidence(self) -> list[str]:
        blocks = [self.heading("section.evidence")]
        if not self.report.evidence:
            blocks.append(self.say("evidence.none"))
        kept = self.keep("evidence", self.report.evidence, self.limits.evidence)
        return blocks + self.quotes(kept[:_PROOF], 1)

    def further(self) -> list[str]:
        """The evidence beyond the lines that prove the answer, for whoever reads on after the next action."""
        rest = self.report.evidence[_PROOF : self.limits.evidence]
        return [f"### {self.say('evidence.rest', n=len(rest))}", *self.quotes(rest, _PROOF + 1)] if rest else []

    def quotes(self, items: Sequence[Evidence], start: int) -> list[str]:
        blocks = []
        for number, item in enumerate(items, start=start):
            blocks.append(f"{number}. {self.text(item.why)} {self.place(item.file, item.line)}")
            blocks.append(fenced(self.context(item), indent="   "))
        return blocks

    def context(self, item: Evidence) -> list[str]:
        keep = self.limits.context
        lines = []
        for number, line, stated in facts.context(item):
            if stated:
                lines.append(f"{number} > {self.quote(line)}")
            elif abs(number - item.line) <= keep:
                lines.append(f"{number}   {clip(one_line(line), self.limits.line)}")
            else:
                self.cut["context"] = self.cut.get("context", 0) + 1
        return lines

    def cause(self) -> list[str]:
        verdict = self.report.verdict
        blocks = [self.heading(f"section.cause_{verdict.status}")]
        root = facts.cause(self.report)
        if root is None:
            blocks.append(self.say(f"cause.none_{verdict.status}"))
        else:
            blocks.extend(self.stated(root))
            fields = self.keep("rows", list(root.fields.items()), self.limits.rows)
            blocks.append("\n".join(f"- {self.code(name)}: {self.code(value)}" for name, value in fields))
        rivals = self.keep("rows", facts.alternatives(self.report), self.limits.rows)
        if rivals:
            blocks.append(f"#### {self.say('cause.rivals')}")
        for rival in rivals:
            blocks.extend([*self.stated(rival), f"{self.say('cause.why_not')} {self.text(rival.why_not)}"])
        return [*blocks, *self.suspects()]

    def stated(self, root: RootCause) -> list[str]:
        title = f"**{self.text(root.title)}**" + (f" {self.code(root.code_name or root.code)}" if root.code else "")
        parts = [self.moment(root), self.actor(root), self.place(root.file, root.line)]
        return [f"{title}\\\n{' · '.join(filter(None, parts))}", fenced([self.quote(root.quote)])]

    def suspects(self) -> list[str]:
        suspects = self.keep("rows", self.report.verdict.suspects, self.limits.rows)
        if not suspects:
            return []
        rows = [[self.actor(who) or _DASH, self.text(who.why), self.text(who.need)] for who in suspects]
        header = [self.say("table.who"), self.say("table.why"), self.say("table.need")]
        return [f"#### {self.say('cause.suspects')}", table(header, rows)]

    def action(self) -> list[str]:
        chosen = facts.actions(self.report)
        blocks = [self.heading("section.action")]
        if not chosen:
            blocks.append(self.say("action.none"))
        for number, action in enumerate(self.keep("rows", chosen, max(self.limits.rows, 1)), start=1):
            blocks.extend(self.one_action(number, action))
        return blocks

    def do(self, action: NextAction) -> str:
        return f"**{self.say('kind.' + action.kind)}** {self.text(action.action)}"

    def one_action(self, number: int, action: NextAction) -> list[str]:
        why = f" {self.text(action.why)}" if action.why else ""
        blocks = [f"{number}. {self.do(action)}{why}"]
        exports = [f"export {name}={value}" for name, value in action.env.items()]
        commands = [*exports, *(action.command.split("\n") if action.command else [])]
        for lines in (commands, action.repro.split("\n") if action.repro else []):
            if lines:
                kept = self.keep("rows", lines, max(self.limits.rows, 1))
                blocks.append(fenced([clip(one_line(line), self.limits.line) for line in kept], "   ", "sh"))
        return blocks

    def chain(self) -> list[str]:
        causal = facts.causal(self.report)
        self.keep("causal", causal, self.limits.chain)
        entries = facts.foremost(causal, self.limits.chain)
        blocks = [self.heading("section.chain"), "" if entries else self.say("chain.none")]
        return [*blocks, "\n".join(self.entry(number, entry) for number, entry in enumerate(entries, start=1))]

    def entry(self, number: int, entry: ChainEntry) -> str:
        parts = [self.moment(entry), self.actor(entry), self.place(entry.file, entry.line)]
        line = f"{number}. **{self.say('role.' + entry.role)}** {self.text(entry.title)}"
        line = " · ".join([line, *filter(None, parts)])
        if entry.count > 1:
            line += f" · {self.say('chain.count', n=entry.count)}"
        return line + (f" · {self.text(entry.reason)}" if entry.reason else "")

    def ranks(self) -> list[str]:
        ranks = sorted(self.report.cluster.ranks, key=lambda rank: (rank.first_error is None, rank.first_error or ""))
        if not ranks:
            return []
        header = [self.say(f"table.{name}") for name in ("rank", "node", "device", "pid", "first_error", "last_seen")]
        rows = [
            [
                *(
                    self.code(_DASH if value is None else value)
                    for value in (rank.rank, rank.node, rank.device, rank.pid)
                ),
                self.stamp(rank.first_error, rank.first_error_quality) or self.code(_DASH),
                self.code(rank.last_seen or _DASH),
            ]
            for rank in self.keep("ranks", ranks, self.limits.ranks)
        ]
        return [self.heading("section.time"), table(header, rows)]

    def findings(self) -> list[str]:
        entries = self.keep("findings", facts.others(self.report), self.limits.findings)
        if not entries:
            return []
        listed = "\n".join(self.entry(number, entry) for number, entry in enumerate(entries, start=1))
        return [self.heading("section.findings"), listed]

    def missing(self) -> list[str]:
        coverage = self.report.coverage
        numbers = [("read", coverage.read), ("parsed", coverage.parsed), ("unparsed", coverage.unparsed)]
        numbers += [("folded", coverage.folded), ("skipped", len(coverage.skipped))]
        items = [" · ".join(f"{self.say('coverage.' + name)}: {count}" for name, count in numbers)]
        for entry in self.keep("rows", facts.missing(self.report), self.limits.rows):
            how = f" {self.code(entry.how)}" if entry.how else ""
            items.append(f"- **{self.text(entry.what)}** {self.text(entry.why)}{how}")
        for error in self.keep("unknown", coverage.unknown_errors, min(self.limits.rows, 20)):
            counted = self.say("chain.count", n=error.count)
            template = self.code(self.quote(error.template))
            items.append(
                f"- {self.say('missing.unknown_one')} {template} · {counted} · {self.place(error.file, error.line)}"
            )
        for skipped in self.keep("rows", coverage.skipped, self.limits.rows):
            values = " · ".join(self.code(value) for value in skipped.values())
            items += [f"- {self.say('missing.skipped_one')} {values}"]
        items += [f"- {self.text(note)}" for note in self.keep("rows", coverage.notes, self.limits.rows)]
        return [self.heading("section.missing"), items[0], "\n".join(items[1:])]

    def present(self) -> list[str]:
        """Which ranks and files were there and at which level they were written: what maintainers ask for first."""
        ranks = spans(rank.rank for rank in self.report.cluster.ranks if rank.rank is not None)
        kinds = Counter(file.kind for file in self.report.bundle.files if file.skipped is None)
        counted = ", ".join(f"{prose(kind)} {count}" for kind, count in sorted(kinds.items()))
        level = self.report.environment.env.get("ASCEND_GLOBAL_LOG_LEVEL")
        said = self.code(f"ASCEND_GLOBAL_LOG_LEVEL={level}") if level else self.say("head.unknown")
        return [self.say("form.present", ranks=ranks or _DASH, files=counted or _DASH, level=said)]

    def hardware(self) -> list[str]:
        soc = self.report.environment.soc
        return [f"- {self.say('form.hardware')}: {self.code(soc) if soc else self.say('head.unknown')}"]

    def steps(self) -> list[str]:
        """What the logs prove about the way it was started; the rest is for the writer of the ticket."""
        actions = facts.actions(self.report)
        repro = next((action.repro for action in actions if action.repro), None)
        blocks = [self.say("form.steps")]
        if repro:
            blocks.append(fenced([clip(one_line(line), self.limits.line) for line in repro.split("\n")], info="python"))
        variables = self.keep("variables", list(self.report.environment.env.items()), self.limits.variables)
        exports = [f"export {name}={value}" for name, value in variables]
        return (
            [*blocks, fenced([clip(one_line(line), self.limits.line) for line in exports], info="sh")]
            if exports
            else blocks
        )

    def environment(self) -> list[str]:
        environment = self.report.environment
        values = [(name, getattr(environment, name)) for name in _VERSIONS]
        lines = [f"- {name}: {self.code(value)}" for name, value in values if value]
        absent = ", ".join(name for name, value in values if not value)
        lines += [f"- {self.say('environment.absent', names=absent)}"] if absent else []
        variables = self.keep("variables", list(environment.env.items()), self.limits.variables)
        lines += [f"- {self.code(f'{name}={value}')}" for name, value in variables]
        return [self.heading("section.environment"), "\n".join(lines)]

    def provenance(self) -> list[str]:
        report = self.report
        tool = f"{report.tool.name} {report.tool.version}"
        line = f"{self.code(tool)} · {self.say('provenance.rules')} {self.code(report.tool.grammar_digest)}"
        shown = self.keep("files", report.bundle.files, self.limits.rows)
        told = [(one.path, self.say("provenance.file", kind=prose(one.kind), lines=one.lines)) for one in shown]
        files = [f"- {self.code(path)} · {text}" for path, text in told]
        count = self.say("provenance.files", n=len(report.bundle.files))
        return [self.heading("section.provenance"), line, count, "\n".join(files)]

    def last_line(self) -> str:
        if not self.cut:
            return ""
        listed = ", ".join(self.say(f"left_out.{kind}", n=count) for kind, count in self.cut.items())
        return f"_{self.say('provenance.cut', what=listed)}_"
