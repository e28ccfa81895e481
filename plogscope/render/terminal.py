"""The report on a terminal: the answer in at most 23 lines, which leaves two of 25 for where the page was written.

Log text never reaches the terminal raw: escape sequences, control and bidirectional characters are shown, not obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence

from plogscope.model.report import ChainEntry, Report, RootCause, SuspectEntry
from plogscope.render import facts
from plogscope.render.visible import clip_columns, columns, one_line, wrap_columns
from plogscope.render.words import load_words, pick

MAX_LINES = 23
_MIN_WIDTH = 40
_INDENT = "  "
_RESET = "\x1b[0m"
_STYLES = {
    "explained": "\x1b[1;31m",
    "insufficient": "\x1b[1;33m",
    "no-failure": "\x1b[1;32m",
    "title": "\x1b[1m",
    "dim": "\x1b[2m",
}
_STATEMENT_LINES = 3
_ACTION_LINES = 4
_QUOTE_LINES = 1
_EVIDENCE, _SUSPECTS, _ACTIONS = 2, 2, 2


def render_terminal(
    report: Report,
    lang: str = "en",
    colour: bool = False,  # noqa: FBT001, FBT002 - the order is that of the other views, callers name it
    width: int = 100,
) -> str:
    """The summary in `lang`; `width` is in terminal columns, `colour` allows ANSI colours of our own."""
    screen = _Screen(report, lang, colour=colour, width=max(width, _MIN_WIDTH))
    lines = screen.render()
    return "\n".join(lines[:MAX_LINES]) + "\n"


class _Screen:
    def __init__(self, report: Report, lang: str, *, colour: bool, width: int) -> None:
        self.report = report
        self.lang = lang
        self.colour = colour
        self.width = width
        self.words = load_words()

    def render(self) -> list[str]:
        """Lines in the order of the report; each part has a fixed allowance, the sum of which is the limit."""
        return [*self.head(), *self.evidence(), *self.cause(), *self.action(), *self.foot()]

    def say(self, key: str, **values: object) -> str:
        return pick(self.words(key, **values), self.lang)

    def paint(self, text: str, style: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.colour else text

    def row(self, text: str, indent: int = 0) -> str:
        """One line of the screen, cut at the width."""
        return _INDENT * indent + clip_columns(one_line(text), self.width - len(_INDENT) * indent)

    def rows(self, text: str, indent: int, most: int) -> list[str]:
        """`text` wrapped to at most `most` lines; the last one shows that something was cut."""
        room = self.width - len(_INDENT) * indent
        lines = wrap_columns(one_line(text), room)
        if len(lines) > most:
            lines = [*lines[: most - 1], clip_columns(" ".join(lines[most - 1 : most + 1]), room)]
        return [_INDENT * indent + line for line in lines]

    def who(self, entry: facts.Actor | ChainEntry | RootCause | SuspectEntry) -> str:
        known = [(name, getattr(entry, name)) for name in ("rank", "node", "device", "pid")]
        return " · ".join(self.say(f"actor.{name}", n=value) for name, value in known if value is not None)

    def head(self) -> list[str]:
        """At most six lines: what was read, the verdict, the statement, where it began."""
        verdict = self.report.verdict
        tool = f"{self.report.tool.name} {self.report.tool.version}  {facts.run_id(self.report)}  "
        title = self.row(tool + self.report.bundle.path)
        state = self.say("status." + verdict.status)
        rest = f" · {self.say('category.' + verdict.category)}"
        rest += f" · {self.say('head.confidence')}: {self.say('confidence.' + verdict.confidence.level)}"
        shown = clip_columns(one_line(rest), self.width - columns(state))
        lines = [self.paint(title, "dim"), self.paint(state, verdict.status) + shown]
        lines += self.rows(pick(verdict.statement, self.lang), 0, _STATEMENT_LINES)
        first = facts.first_failure(self.report)
        if first:
            where = " · ".join(filter(None, [self.who(first), first.time]))
            lines.append(self.row(f"{self.say('head.first_' + verdict.status)}: {where}"))
        return lines

    def section(self, key: str, lines: Sequence[str], left_out: int = 0) -> list[str]:
        """A titled part; the title names how many entries are only in the other views."""
        title = self.say(key) + (f" (+{left_out})" if left_out > 0 else "")
        return [self.paint(self.row(title), "title"), *lines] if lines else []

    def evidence(self) -> list[str]:
        """At most five lines."""
        lines = []
        for item in self.report.evidence[:_EVIDENCE]:
            lines.append(self.row(f"{item.file}:{item.line}", 1))
            lines += self.rows(facts.quoted(item.quote).strip(), 2, _QUOTE_LINES)
        return self.section("section.evidence", lines, len(self.report.evidence) - _EVIDENCE)

    def cause(self) -> list[str]:
        """At most three lines: the root cause, or whom the evidence points at."""
        root = facts.cause(self.report)
        left_out = 0
        if root is not None:
            code = f" ({root.code})" if root.code else ""
            lines = self.rows(pick(root.title, self.lang) + code, 1, 2)
        else:
            suspects = self.report.verdict.suspects
            lines = [self.row(f"{self.who(entry)}: {pick(entry.why, self.lang)}", 1) for entry in suspects[:_SUSPECTS]]
            left_out = len(suspects) - _SUSPECTS
        return self.section(f"section.cause_{self.report.verdict.status}", lines, left_out)

    def action(self) -> list[str]:
        """At most seven lines: the smallest action with its command, and the next one."""
        lines: list[str] = []
        chosen = facts.actions(self.report)
        for number, action in enumerate(chosen[:_ACTIONS], start=1):
            text = f"{number}. {self.say('kind.' + action.kind)}: {pick(action.action, self.lang)}"
            lines += self.rows(text, 1, _ACTION_LINES if number == 1 else 1)
            exports = " ".join(f"{name}={value}" for name, value in action.env.items())
            command = action.command or (f"export {exports}" if exports else "")
            if number == 1 and command:
                lines.append(self.row(f"$ {command}", 2))
        return self.section("section.action", lines, len(chosen) - _ACTIONS)

    def foot(self) -> list[str]:
        """At most two lines: how far the reading got, and what is missing."""
        coverage = self.report.coverage
        line = self.say(
            "terminal.read",
            files=len(self.report.bundle.files),
            lines=coverage.read,
            unparsed=coverage.unparsed,
            skipped=len(coverage.skipped),
        )
        lines = [self.paint(self.row(line), "dim")]
        gaps = facts.missing(self.report)
        if gaps:
            text = self.say("terminal.missing", n=len(gaps), first=pick(gaps[0].what, self.lang))
            lines.append(self.paint(self.row(text), "dim"))
        return lines
