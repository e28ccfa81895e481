from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.model.report import Report
from plogscope.model.vocabulary import Text
from plogscope.render.terminal import MAX_LINES, render_terminal
from plogscope.render.visible import clip_columns, columns, visible, wrap_columns
from tests.render import reports

FACTORIES = list(reports.ALL.values())
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
OWN_COLOURS = re.compile("\x1b\\[[0-9;]*m")
REMEDY = re.compile(r"root cause|根因|\bfix\b|修复|workaround|规避", re.IGNORECASE)


@pytest.mark.parametrize("width", [20, 40, 80, 160, 400])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("factory", [*FACTORIES, reports.huge])
def test_the_summary_fits_the_screen(factory: Callable[[], Report], lang: str, width: int) -> None:
    lines = render_terminal(factory(), lang, width=width).split("\n")
    assert lines.pop() == ""
    assert len(lines) <= MAX_LINES <= 23
    assert max(columns(line) for line in lines) <= max(width, 40)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("factory", FACTORIES)
def test_nothing_in_the_log_reaches_the_terminal_as_a_command(
    factory: Callable[[], Report], lang: str, *, colour: bool
) -> None:
    shown = render_terminal(factory(), lang, colour=colour)
    assert ("\x1b" in shown) == colour
    assert not RAW.search(OWN_COLOURS.sub("", shown) if colour else shown)
    shown.encode("utf-8")


def test_the_four_questions_are_answered_in_order() -> None:
    shown = render_terminal(reports.explained())
    parts = [
        "Explained · Operator",
        f"{reports.PLOG}:4127",
        "Most likely root cause",
        "Next action",
        "$ python3 train.py",
    ]
    places = [shown.index(part) for part in parts]
    assert places == sorted(places)


def test_the_titles_say_how_much_is_only_in_the_other_views() -> None:
    report = reports.huge(10)
    assert "\nEvidence (+2499)\n" in render_terminal(report)
    suspects = reports.insufficient().verdict.suspects * 44
    verdict = msgspec.structs.replace(reports.insufficient().verdict, suspects=suspects)
    shown = render_terminal(msgspec.structs.replace(reports.insufficient(), verdict=verdict))
    assert "What the evidence points at (+42)" in shown


def test_chinese_is_asked_for_and_given() -> None:
    shown = render_terminal(reports.explained(), "zh")
    assert "已查明 · 算子" in shown
    assert "Most likely" not in shown


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("factory", [reports.insufficient, reports.overfull, reports.no_failure])
def test_without_an_explanation_no_cause_and_no_remedy(factory: Callable[[], Report], lang: str) -> None:
    assert not REMEDY.search(render_terminal(factory(), lang))


def test_long_words_use_their_whole_allowance_and_no_more() -> None:
    report = reports.explained()
    long = Text(en="word " * 400, zh="字" * 2_000)
    verdict = msgspec.structs.replace(report.verdict, statement=long)
    actions = [msgspec.structs.replace(action, action=long, why=long) for action in report.next_actions * 3]
    triage = msgspec.structs.replace(report.triage, missing=reports.insufficient().triage.missing)
    full = msgspec.structs.replace(report, verdict=verdict, next_actions=actions, triage=triage)
    for lang in ("en", "zh"):
        lines = render_terminal(full, lang, width=60).rstrip("\n").split("\n")
        assert len(lines) == MAX_LINES
        assert lines[-1].startswith(("Missing", "缺少"))


@given(st.text(max_size=80), st.integers(min_value=4, max_value=60))
def test_wrapped_lines_fit_and_lose_nothing_but_space(text: str, width: int) -> None:
    shown = visible(text)
    lines = wrap_columns(shown, width)
    assert all(columns(line) <= width for line in lines)
    assert re.sub(r"\s", "", "".join(lines)) == re.sub(r"\s", "", shown)


@given(st.text(max_size=80), st.integers(min_value=1, max_value=60))
def test_a_clipped_text_fits(text: str, width: int) -> None:
    assert columns(clip_columns(text, width)) <= width


@given(st.text(alphabet=st.characters(), max_size=60))
def test_visible_text_holds_no_hidden_character_and_showing_it_twice_changes_nothing(text: str) -> None:
    shown = visible(text)
    assert not RAW.search(shown.replace("\t", ""))
    assert visible(shown) == shown
