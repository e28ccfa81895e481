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
_QUOTE_LINES = 3
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
        """Lines in the order of the report; the evidence gets the room that the other parts leave."""
        head, cause, action, foot = self.head(), self.cause(), self.action(), self.foot()
        room = MAX_LINES - sum(map(len, (head, cause, action, foot)))
        return [*head, *self.evidence(room), *cause, *action, *foot]

    def say(self, key: str, **values: object) -> str:
        return pick(self.words(key, **values), self.lang)

    def pair(self, key: str, value: str) -> str:
        return self.say("terminal.pair", name=self.say(key), value=value)

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
        """At most seven lines: what was read, the verdict, the statement, where it began, the state of the steps."""
        verdict = self.report.verdict
        tool = f"{self.report.tool.name} {self.report.tool.version}  {facts.run_id(self.report)}  "
        title = self.row(tool + self.report.bundle.path)
        state = self.say("status." + verdict.status)
        rest = f" · {self.say('category.' + verdict.category)}" if facts.category_told(self.report) else ""
        about, level = facts.sureness(self.report)
        rest += f" · {self.pair(about, self.say(level))}"
        shown = clip_columns(one_line(rest), self.width - columns(state))
        lines = [self.paint(title, "dim"), self.paint(state, verdict.status) + shown]
        lines += self.rows(pick(verdict.statement, self.lang), 0, _STATEMENT_LINES)
        first = facts.first_failure(self.report)
        if first:
            time = facts.moment(first.time, first.time_quality)
            where = " · ".join(filter(None, [self.who(first), pick(time, self.lang) if time else ""]))
            lines += [self.row(self.pair("head.first_" + verdict.status, where))] if where else []
        steps = self.steps()
        return [*lines, self.row(self.pair("head.steps", steps))] if steps else lines

    def steps(self) -> str:
        """The state of a five-step run in words, or which of its steps is all that there is."""
        lone = facts.lone_steps(self.report)
        if lone:
            return self.say("head.lone_steps", names=", ".join(lone))
        states = facts.step_states(self.report)
        return " · ".join(
            f"{names} {pick(self.words.find('step.' + status, status), self.lang)}" for status, names in states
        )

    def section(self, key: str, lines: Sequence[str], left_out: int = 0) -> list[str]:
        """A titled part; the title names how many entries are only in the other views."""
        title = self.say(key) + (f" (+{left_out})" if left_out > 0 else "")
        return [self.paint(self.row(title), "title"), *lines] if lines else []

    def evidence(self, room: int) -> list[str]:
        """At most `room` lines: the first quote with as much of its text as fits, the second one on one line."""
        shown = self.report.evidence[: _EVIDENCE if room > 2 * _EVIDENCE else 1]
        quote_lines = min(_QUOTE_LINES, room - 2 * len(shown))
        lines = []
        for item in shown:
            lines.append(self.row(f"{item.file}:{item.line}", 1))
            lines += self.rows(facts.quoted(item.quote).strip(), 2, quote_lines)
            quote_lines = 1
        return self.section("section.evidence", lines, len(self.report.evidence) - len(shown))

    def cause(self) -> list[str]:
        """At most two lines, three without an explanation: the root cause, or whom the evidence points at."""
        root = facts.cause(self.report)
        left_out = 0
        if root is not None:
            code = f" ({root.code_name or root.code})" if root.code else ""
            lines = [self.row(pick(root.title, self.lang) + code, 1)]
        else:
            suspects = self.report.verdict.suspects
            lines = [
                self.row(self.say("terminal.pair", name=self.who(entry), value=pick(entry.why, self.lang)), 1)
                for entry in suspects[:_SUSPECTS]
            ]
            left_out = len(suspects) - _SUSPECTS
        return self.section(f"section.cause_{self.report.verdict.status}", lines, left_out)

    def action(self) -> list[str]:
        """At most seven lines: the smallest action with its command, and the next one."""
        lines: list[str] = []
        chosen = facts.actions(self.report)
        for number, action in enumerate(chosen[:_ACTIONS], start=1):
            text = f"{number}. " + self.pair("kind." + action.kind, pick(action.action, self.lang))
            lines += self.rows(text, 1, _ACTION_LINES if number == 1 else 1)
            exports = " ".join(f"{name}={value}" for name, value in action.env.items())
            command = action.command or (f"export {exports}" if exports else "")
            if number == 1 and command:
                script = command.splitlines()
                shown = f"$ {command}" if len(script) == 1 else self.say("terminal.script", n=len(script))
                lines.append(self.row(shown, 2))
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
