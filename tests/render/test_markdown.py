from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.model.report import Report
from plogscope.model.vocabulary import Text
from plogscope.render.facts import run_id
from plogscope.render.markdown import MAX_BYTES, MAX_CHARACTERS, render_markdown
from plogscope.render.markup import code, fenced, prose, table
from tests.render import reports

FACTORIES = list(reports.ALL.values())
REMEDY = re.compile(r"root cause|根因|\bfix\b|修复|workaround|规避", re.IGNORECASE)


def _outside_fences(text: str) -> str:
    """The lines that a reader of Markdown does not take as code, by the rules of CommonMark."""
    kept, fence = [], ""
    for line in text.split("\n"):
        match = re.match(r"\s*(`{3,})(.*)$", line)
        if fence:
            if match and len(match[1]) >= len(fence) and not match[2].strip():
                fence = ""
        elif match and "`" not in match[2]:
            fence = match[1]
        else:
            kept.append(line)
    assert fence == "", "a fence was never closed"
    return "\n".join(kept)


def _without_spans(text: str) -> str:
    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("10.102.0.11", "10.102.0.11"),
        ("1. first", r"1\. first"),
        ("12) twelfth", r"12\) twelfth"),
        ("7.", r"7\."),
        ("- item", r"\- item"),
        ("# heading", r"\# heading"),
    ],
)
def test_a_backslash_stands_only_before_what_markdown_would_read_as_markup(text: str, escaped: str) -> None:
    assert prose(text) == escaped


def test_what_to_do_stands_in_the_head_and_before_all_but_the_lines_that_prove_it() -> None:
    report = reports.huge(12)
    text = render_markdown(report)
    head = text[: text.index("### Category")]
    assert "- Do next: **" in head
    assert "Run the failing step again" in head
    order = ["Evidence", "Most likely root cause", "Next action", "Chain of events", "Further evidence"]
    found = [text.index(f"### {name}") for name in order]
    assert found == sorted(found)
    places = [text.index(f"\n{number}. ", text.index("### Evidence")) for number in (1, 2, 3)]
    assert max(places) < text.index("### Next action")
    assert text.index("\n4. ", text.index("### Further evidence")) > text.index("### Further evidence")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("factory", [*FACTORIES, reports.huge])
def test_a_ticket_is_never_too_long(factory: Callable[[], Report], lang: str) -> None:
    text = render_markdown(factory(), lang)
    assert len(text) <= MAX_CHARACTERS
    assert len(text.encode("utf-8")) <= MAX_BYTES


def test_five_thousand_entries_are_cut_to_what_matters_and_the_last_line_says_so() -> None:
    report = reports.huge(5_000)
    text = render_markdown(report)
    assert "**Explained**" in text
    late = msgspec.structs.replace(report, chain=[*report.chain[1:], report.chain[0]])
    assert "**First cause**" in render_markdown(late)
    assert reports.ROOT_QUOTE in text
    assert "Run the failing step again" in text
    assert run_id(report) in text
    last = text.rstrip("\n").split("\n")[-1]
    assert last.startswith("_Cut to fit a ticket: ")
    for words in ("evidence: ", "chain entries: ", "ranks: ", "The HTML report has them."):
        assert words in last


def test_wide_characters_everywhere_stay_within_the_bytes() -> None:
    report = reports.huge(200)
    wide = Text(en="显存" * 400, zh="显存" * 400)
    evidence = [
        msgspec.structs.replace(item, why=wide, quote="错" * 500, context_before=["误" * 5_000] * 5)
        for item in report.evidence
    ]
    chain = [msgspec.structs.replace(entry, title=wide, reason=wide, file="节点" * 300) for entry in report.chain]
    verdict = msgspec.structs.replace(report.verdict, statement=wide)
    text = render_markdown(msgspec.structs.replace(report, evidence=evidence, chain=chain, verdict=verdict), "zh")
    assert len(text) <= MAX_CHARACTERS
    assert len(text.encode("utf-8")) <= MAX_BYTES
    assert run_id(report) in text


def test_context_goes_first_and_the_quote_stays() -> None:
    report = reports.explained()
    long = [msgspec.structs.replace(item, context_before=["x" * 900] * 5) for item in report.evidence * 20]
    text = render_markdown(msgspec.structs.replace(report, evidence=long))
    assert "context lines: " in text.split("\n")[-2]
    assert "evidence: " not in text.split("\n")[-2]
    # Twenty times as evidence, then as root cause and in the rival, which quotes the same line.
    assert text.count(reports.ROOT_QUOTE) == 22


def test_a_short_report_is_not_cut() -> None:
    text = render_markdown(reports.explained())
    assert "Cut to fit" not in text
    assert reports.explained().evidence[0].context_after[4] in text
    assert text.index("### Category") < text.index("### Evidence") < text.index("### Most likely root cause")
    assert text.index("### Most likely root cause") < text.index("### Next action") < text.index("### Chain of events")


def test_both_languages_say_the_same_in_their_own_words() -> None:
    english, chinese = render_markdown(reports.explained(), "en"), render_markdown(reports.explained(), "zh")
    assert "### 最可能的根因" in chinese
    assert "### Most likely root cause" not in chinese
    assert english.count("\n### ") == chinese.count("\n### ")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("factory", [reports.insufficient, reports.overfull, reports.no_failure])
def test_without_an_explanation_no_cause_and_no_remedy(factory: Callable[[], Report], lang: str) -> None:
    assert not REMEDY.search(render_markdown(factory(), lang))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_text_stays_inside_code_or_is_escaped(lang: str) -> None:
    text = render_markdown(reports.hostile(), lang)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    words = _without_spans(_outside_fences(text))
    assert not re.search(r"(?<!\\)<(?!!-- -->)", words)
    assert not re.search(r"(?<!\\)!\[", words)
    assert not re.search(r"[@#]\w", words)
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", words)


@given(st.lists(st.text(alphabet=st.sampled_from("`~ab \n\t-#>"), max_size=40), max_size=6))
def test_no_line_can_end_a_fence(lines: list[str]) -> None:
    block = fenced(lines)
    assert _outside_fences(block + "\noutside") == "outside"


@given(st.text(alphabet=st.sampled_from("`` ab|\n<"), min_size=1, max_size=30))
def test_no_backtick_can_end_a_code_span(text: str) -> None:
    span = code(text)
    if span:
        assert _without_spans(f"x{span}x") == "xx"


@given(st.text(alphabet=st.sampled_from("*_`[]()<>!#@|~&\\ab1.- "), max_size=40))
def test_prose_holds_no_open_marker(text: str) -> None:
    shown = prose(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*\[\]|~]", re.sub(r"\\[\\`*\[\]<>|~!&_]", "", shown))


def test_a_bar_in_a_cell_does_not_make_a_column() -> None:
    rendered = table(["a", "b"], [[code("x | y"), prose("1 | 2")]])
    (row,) = rendered.split("\n")[2:]
    assert len(re.findall(r"(?<!\\)\|", row)) == 3


def test_equal_reports_give_equal_text() -> None:
    assert render_markdown(reports.hostile()) == render_markdown(reports.hostile())
