"""The report as one HTML file: readable without JavaScript, without a network, in two languages, in any theme.

Everything that was read from a log passes through `visible` and the escaping of the template engine. The page carries a
content security policy that names the hashes of its one style and its one script, so nothing else can run even if a
log line got past the escaping.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from plogscope.data import report_root
from plogscope.inputs import Provenance
from plogscope.model.report import ChainEntry, Evidence, FileEntry, RankEntry, Report
from plogscope.model.vocabulary import Text
from plogscope.render import facts
from plogscope.render.folding import fold_evidence, fold_findings
from plogscope.render.issue_forms import load_forms
from plogscope.render.lanes import Lanes, draw_lanes
from plogscope.render.markdown import render_markdown
from plogscope.render.pictures import draw_matrix, draw_tree
from plogscope.render.privacy import contained
from plogscope.render.prompt import agent_prompt, evidence_text
from plogscope.render.visible import clip, clip_columns, one_line, visible
from plogscope.render.waits import draw_waits
from plogscope.render.words import LANGUAGES, Words, load_words, pick
from plogscope.wording import spans

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MAX_BYTES = 20_000_000
SOFT_BYTES = 8_000_000
"""Many trackers take 10 MB an attachment, so a page above this is cut as far as the steps below go."""
SHOWN_EVIDENCE = 5
"""Pieces of evidence that stand on the page as they are; further ones are behind one click."""
_LOG_LIMIT = 2_000
_PEEK = 160
_SHORT_S = 120
_LABEL = 20
_MESSAGE = 150
_ICONS = {
    "explained": "◉", "insufficient": "◌", "no-failure": "✓",
    "root": "▲", "cascade": "●", "witness": "◆", "teardown": "■", "recovered": "↺",
    "collect": "⇩", "check": "?", "fix": "✚", "workaround": "↷",
    "high": "●●●", "medium": "●●○", "low": "●○○",
    "passed": "✓", "assumed-passed": "✓", "failed": "✗", "not-run": "–", "incomplete": "…", "gap": "…",
}  # fmt: skip
_VERSIONS = ("torch", "torch_npu", "torchair", "cann", "driver", "soc", "python", "os")
_SHAPES = {
    "root": "M{x} {top}L{right} {bottom}H{left}Z",
    "witness": "M{x} {top}L{right} {y}L{x} {bottom}L{left} {y}Z",
}
_SQUARE = "M{left} {top}H{right}V{bottom}H{left}Z"


class Limits(msgspec.Struct, frozen=True):
    """How many entries of each kind the page holds; the rest is counted and named."""

    evidence: int = 2_000
    context: bool = True
    chain: int = 1_000
    files: int = 2_000
    rows: int = 256


# Tried in this order until the page is below the cap.
_STEPS = (
    Limits(),
    Limits(evidence=1_000, context=False, chain=500, files=500, rows=128),
    Limits(evidence=100, context=False, chain=100, files=100, rows=32),
    Limits(evidence=20, context=False, chain=20, files=20, rows=16),
)


def render_html(
    report: Report, lang: str = "en", max_bytes: int = MAX_BYTES, provenance: Provenance | None = None
) -> str:
    """The page for `report`; `lang` ("en" or "zh") is only the language that is shown first.

    What does not fit `max_bytes` (UTF-8) is left out from the least important on, and the page says what.
    `provenance` adds the command line and the digests of the inputs.
    """
    page = ""
    for limits in _STEPS:
        page = _render(report, lang, limits, provenance or Provenance())
        if len(page.encode("utf-8")) <= min(max_bytes, SOFT_BYTES):
            break
    return page


def _render(report: Report, lang: str, limits: Limits, provenance: Provenance) -> str:
    environment = _environment()
    style = environment.get_template("report.css.j2").render().strip()
    script = environment.get_template("report.js.j2").render().strip()
    view = _View(report, lang, limits)
    page = environment.get_template("report.html.j2").render(
        **view.names(),
        limits=limits,
        provenance=provenance,
        copies=_copies(report),
        left_out=_left_out(report, limits),
        style=_trusted(style),
        script=_trusted(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )
    return page if page.endswith("\n") else page + "\n"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    # Imported here: the engine costs 30 ms that the other views do not need.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FileSystemLoader(report_root() / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=False,
    )


def _trusted(text: str) -> Markup:
    from markupsafe import Markup  # noqa: PLC0415 - comes with the template engine

    return Markup(text)  # noqa: S704 - only our own style and script, never a value of the report


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _left_out(report: Report, limits: Limits) -> list[tuple[str, int]]:
    """What the page does not hold, by kind."""
    counts = [
        ("evidence", len(report.evidence) - limits.evidence),
        (
            "context",
            0 if limits.context else sum(len(i.context_before) + len(i.context_after) for i in report.evidence),
        ),
        ("causal", len(facts.causal(report)) - limits.chain),
        ("findings", len(facts.others(report)) - limits.chain),
        ("files", len(report.bundle.files) - limits.files),
        ("ranks", len(report.cluster.ranks) - limits.rows),
        ("unknown", len(report.coverage.unknown_errors) - limits.rows),
        ("notes", len(report.coverage.notes) - limits.rows),
    ]
    return [(kind, count) for kind, count in counts if count > 0]


class Copy(msgspec.Struct, frozen=True):
    """A text that can be copied as a whole; without a language it serves both."""

    name: str
    lang: str
    text: str


def _copies(report: Report) -> list[Copy]:
    """What the buttons copy and the text areas show: Markdown, one text for each issue form, evidence, a prompt."""
    copies = [Copy("markdown", lang, render_markdown(report, lang)) for lang in LANGUAGES]
    copies += [
        Copy(name, form.language, render_markdown(report, form.language, name)) for name, form in load_forms().items()
    ]
    copies += [Copy("evidence", lang, evidence_text(report, lang)) for lang in LANGUAGES]
    return copies + [Copy("prompt", lang, agent_prompt(report, lang)) for lang in LANGUAGES]


class _View:
    """What the templates may call, bound to one report."""

    def __init__(self, report: Report, lang: str, limits: Limits) -> None:
        self.report = report
        self.limits = limits
        self.lang = lang
        self.words: Words = load_words()

    def names(self) -> dict[str, Any]:
        """Everything that a template can name."""
        return {**self._values(), **self._functions()}

    def _values(self) -> dict[str, Any]:
        report, words = self.report, self.words
        run = facts.run_id(report)
        statement = one_line(pick(report.verdict.statement, self.lang))
        environment = report.environment
        return {
            "r": report,
            "lang": self.lang,
            "run": run,
            "title": pick(words("page.title", statement=clip(statement, 120), run=run), self.lang),
            "first": facts.first_failure(report),
            "category_told": facts.category_told(report),
            "sureness": facts.sureness(report),
            "sure_because": facts.sure_because(report),
            "suspects_told": facts.suspects_told(report),
            "step_states": facts.step_states(report),
            "lone_steps": facts.lone_steps(report),
            "cause": facts.cause(report),
            "quote_in_head": _tells_more(report),
            "rivals": facts.alternatives(report),
            "actions": facts.actions(report),
            "missing": facts.missing(report),
            **self._listed(),
            "anchors": facts.evidence_anchors(report.evidence[: self.limits.evidence]),
            "roles": facts.evidence_roles(report),
            "tree": draw_tree([folded.first for folded in fold_findings(facts.causal(report))]),
            "alike_of": {f.first.id: len(f.alike) for f in fold_findings(facts.causal(report))},
            "matrix": draw_matrix(report),
            "ranks": _ranks(report),
            "versions": [(name, getattr(environment, name)) for name in _VERSIONS],
            "contains": contained(report),
            "lanes": draw_lanes(report),
            "waits": draw_waits(report),
            "evidence": fold_evidence(report.evidence[: self.limits.evidence], report.chain),
        }

    def _listed(self) -> dict[str, Any]:
        """The findings that stand on the page, how many do not, and the ids that a link may name."""
        causal, others = facts.causal(self.report), facts.others(self.report)
        listed = [facts.foremost(entries, self.limits.chain) for entries in (causal, others)]
        return {
            "causal": fold_findings(listed[0]),
            "causal_left_out": len(causal) - len(listed[0]),
            "others": fold_findings(listed[1]),
            "others_left_out": len(others) - len(listed[1]),
            "linked": {entry.id for entries in listed for entry in entries},
        }

    def _functions(self) -> dict[str, Any]:
        return {
            "t": lambda key, **values: self.both(self.words(key, **values)),
            "tt": self.both,
            "words": self.words,
            "word": self.words.find,
            "plain": lambda text: pick(text, self.lang),
            "heading": self.heading,
            "icon": lambda name: _ICONS.get(name, "·"),
            "line": one_line,
            "lines": visible,
            "logged": self.logged,
            "quoted": facts.quoted,
            "began": facts.began,
            "moment": facts.moment,
            "short": _short,
            "peek": lambda text: clip(one_line(facts.quoted(text)).strip(), _PEEK),
            "context": facts.context,
            "anchor": facts.anchor,
            "grouped": lambda number: f"{number:,}",
            "clock": _clock,
            "spans": spans,
            "shown_evidence": SHOWN_EVIDENCE,
            "ranks_of": lambda entries: spans(entry.rank for entry in entries if entry.rank is not None),
            "shape": lambda mark: _shape(mark.role, mark.x, mark.y),
            "spot": _shape,
            "lane_roles": _lane_roles,
            "lane_waits": lambda lanes: any(lane.waits for lane in lanes.lanes),
            "ranks_on": self.ranks_on,
            "fit": lambda text, width, each: clip_columns(one_line(text), int(width / each)),
            "node_line": self.node_line,
            "code_of": lambda entry: self.codes().get((entry.file, entry.line), ""),
            "who": self.who,
            "first_of_rank": _first_of_rank(self.report),
            "identity": id,
        }

    def both(self, text: Text) -> Markup:
        """Both languages; the style sheet shows one. Equal texts stand once."""
        from markupsafe import Markup  # noqa: PLC0415 - comes with the template engine

        en, zh = one_line(text.en), one_line(text.zh)
        if en == zh:
            return Markup("{}").format(en)
        return Markup('<span class="x" lang="en">{}</span><span class="x" lang="zh-CN">{}</span>').format(en, zh)

    def heading(self, name: str) -> str:
        """The key of a section heading; without an explanation no heading speaks of a cause."""
        if name == "cause":
            return f"section.cause_{self.report.verdict.status}"
        return f"section.{name}"

    def logged(self, text: str) -> str:
        """A line of a log, cut when it is too long for a page; the cut names how many characters are missing."""
        shown = one_line(text[:_LOG_LIMIT])
        if len(text) <= _LOG_LIMIT:
            return shown
        return shown + pick(self.words("page.cut", n=len(text) - _LOG_LIMIT), self.lang)

    def codes(self) -> dict[tuple[str, int], str]:
        """Error codes by the line that states them, for the filter."""
        stated = [*facts.alternatives(self.report), *filter(None, [facts.cause(self.report)])]
        return {(entry.file, entry.line): entry.code for entry in stated if entry.code}

    def node_line(self, entry: ChainEntry, width: float, each: float) -> str:
        """Time, actor and place of a chain entry on one line, for the picture; a long place keeps its end."""
        # The picture is the same in both languages, so what is inherited is told by a sign.
        time = f"> {entry.time}" if entry.time and entry.time_quality == "inherited" else entry.time
        known = [one_line(part) for part in (time, self.who(entry)) if part]
        columns, place = int(width / each), one_line(f"{entry.file}:{entry.line}")
        room = max(columns - len("  ·  ".join([*known, ""])), _LABEL)
        shown = place if len(place) <= room else f"…{place[1 - room :]}"
        return clip_columns("  ·  ".join([*known, shown]), columns)

    def ranks_on(self, evidence: list[Evidence]) -> str:
        """The ranks that wrote quoted lines."""
        roles = facts.evidence_roles(self.report)
        entries = [roles.get((item.file, item.line)) for item in evidence]
        return spans(entry.rank for entry in entries if entry is not None and entry.rank is not None)

    def who(self, entry: ChainEntry | FileEntry) -> str:
        """Rank, node, device and pid as far as known, in terms that both languages share."""
        known = [(name, getattr(entry, name)) for name in ("rank", "node", "device", "pid")]
        return " ".join(f"{name} {one_line(str(value))}" for name, value in known if value is not None)


def _ranks(report: Report) -> list[RankEntry]:
    """Ranks by their first error; those without one last, in their order."""
    return sorted(report.cluster.ranks, key=lambda rank: (rank.first_error is None, rank.first_error or ""))


def _tells_more(report: Report) -> bool:
    """Whether the line of the root cause says more than the statement, which may quote the message of an exception."""
    root = facts.cause(report)
    if root is None:
        return False
    message = max(root.fields.values(), key=len, default="")[:_MESSAGE]
    return not (message in report.verdict.statement.en and len(message) * 2 > min(len(root.quote), 2 * _MESSAGE))


def _first_of_rank(report: Report) -> set[int]:
    """Identities of the rank rows that carry the fragment `#rank-N`, so that a fragment occurs once."""
    first: dict[int, int] = {}
    for entry in _ranks(report):
        if entry.rank is not None:
            first.setdefault(entry.rank, id(entry))
    return set(first.values())


def _short(label: str) -> str:
    """A label for a row: of a path the start, which names the folder, and the end, which names the file."""
    if "/" not in label or len(label) <= _LABEL:
        return label
    return label[: _LABEL // 3] + "…" + label[-(_LABEL - _LABEL // 3 - 1) :]


def _clock(seconds: float) -> str:
    """A duration for an axis: milliseconds or seconds when short, else hours, minutes and seconds."""
    if 0 < seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < _SHORT_S:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _lane_roles(lanes: Lanes) -> list[str]:
    """The roles that have a mark, for the legend."""
    found = {mark.entry.role for lane in lanes.lanes for mark in lane.marks}
    return [role for role in facts.ROLE_ORDER if role in found]


def _shape(role: str, x: float, y: float) -> str:
    """The outline of a mark: the role is told by shape as well as by colour."""
    size = 6 if role == "root" else 4
    if role == "cascade":
        return f"M{x - size} {y}a{size} {size} 0 1 0 {size * 2} 0a{size} {size} 0 1 0 {-size * 2} 0Z"
    corners = {"left": x - size, "right": x + size, "top": y - size, "bottom": y + size}
    corners = {name: round(value, 1) for name, value in corners.items()}
    return _SHAPES.get(role, _SQUARE).format(x=x, y=y, **corners)
