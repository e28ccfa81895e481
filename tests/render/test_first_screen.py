"""What the first lines of every view say: how sure, where, in which step, what to do; and what colours mean."""

from __future__ import annotations

import re

import msgspec
import pytest

from plogscope.model.report import BundleEntry, FileEntry, NextAction, Report, StepEntry, Triage
from plogscope.render import facts
from plogscope.render.html import render_html
from plogscope.render.markdown import render_markdown
from plogscope.render.prompt import agent_prompt
from plogscope.render.terminal import render_terminal
from tests.render import reports
from tests.render.page import Page


def _head(report: Report) -> str:
    found = re.search(r'<section id="head".*?</section>', render_html(report), re.DOTALL)
    assert found
    return found[0]


def _alone(path: str, *files: str) -> Report:
    base = reports.explained()
    entries = [FileEntry(path=name, kind="stdout") for name in files]
    triage = Triage(route="runtime-error", rule="program-was-executing", rests_on="x")
    return msgspec.structs.replace(base, triage=triage, bundle=BundleEntry(path, "ascend-log", entries))


def test_while_the_cause_is_unknown_no_view_speaks_of_confidence_but_of_where_to_look() -> None:
    report = reports.insufficient()
    for shown in (_head(report), render_markdown(report), render_terminal(report)):
        assert "Where to look" in shown
        assert "not known yet" in shown
        assert not re.search("Confidence|●●○", shown.split("### ")[0].replace(" this confidence", ""))
    assert "该查哪里" in render_terminal(report, "zh")
    assert "rank 13" in Page(_head(report)).text
    assert "Confidence" in _head(reports.explained())


@pytest.mark.parametrize(("level", "said"), [("high", "certain"), ("medium", "likely"), ("low", "not known yet")])
def test_every_level_has_a_word_of_its_own(level: str, said: str) -> None:
    report = reports.insufficient()
    confidence = msgspec.structs.replace(report.verdict.confidence, level=level)
    verdict = msgspec.structs.replace(report.verdict, confidence=confidence)
    assert f"Where to look: {said}" in render_terminal(msgspec.structs.replace(report, verdict=verdict))


def test_a_reason_that_the_statement_already_gives_is_not_repeated() -> None:
    report = reports.explained()
    why = [report.verdict.statement, report.verdict.confidence.why[0]]
    confidence = msgspec.structs.replace(report.verdict.confidence, why=why)
    twice = msgspec.structs.replace(report, verdict=msgspec.structs.replace(report.verdict, confidence=confidence))
    assert facts.sure_because(twice) == why[1]
    assert Page(_head(twice)).text.count(report.verdict.statement.en) == 1


def test_an_unknown_category_is_told_only_of_an_explained_failure() -> None:
    report = reports.no_failure()
    for shown in (Page(_head(report)).text, render_markdown(report).split("### ")[0], render_terminal(report)):
        assert "Unknown" not in shown
    assert "Nothing failed, so there is no category." in Page(render_html(report)).text


def test_the_head_links_the_line_of_the_cause() -> None:
    assert re.search(
        rf'href="#e-[0-9a-f]+"><code translate="no">{re.escape(reports.PLOG)}:4127<', _head(reports.explained())
    )
    assert f"{reports.PLOG}:4127" in render_markdown(reports.explained()).split("### ")[0]


def test_nothing_is_said_of_a_first_failure_where_there_is_none() -> None:
    assert "First failure" not in _head(reports.no_failure())


def test_neighbouring_steps_of_equal_state_are_told_together() -> None:
    steps = [StepEntry(f"step{n}-x", status, None) for n, status in enumerate(("passed", "passed", "passed", "gap"), 1)]
    report = reports.explained()
    report = msgspec.structs.replace(report, triage=msgspec.structs.replace(report.triage, steps=steps))
    assert facts.step_states(report) == [("passed", "step1–step3"), ("gap", "step4")]
    assert "Five steps: step1–step3 passed · step4 gap" in render_terminal(report)
    assert "`step1–step3` passed · `step4` gap" in render_markdown(report)
    assert "step step1–step3: passed" in agent_prompt(report)
    assert "step1–step3" in _head(report)


@pytest.mark.parametrize(
    "report",
    [
        _alone("job", "n1/step5-npugraph_ex/stdout_stderr.log", "n1/x.log"),
        _alone("/a/step5-npugraph_ex/", "plog/a.log"),
    ],
)
def test_a_step_without_its_run_is_said_to_be_alone(report: Report) -> None:
    assert facts.lone_steps(report) == ["step5-npugraph_ex"]
    said = "step5-npugraph_ex was given: how the other steps ended is not known"
    for shown in (Page(_head(report)).text, render_terminal(report), agent_prompt(report)):
        assert said in shown
    assert "only `step5-npugraph_ex` was given" in render_markdown(report)
    assert "只提供了 step5-npugraph_ex，其余 step 的结果未知" in render_terminal(report, "zh")


def test_a_file_that_is_named_like_a_step_is_no_step() -> None:
    assert facts.lone_steps(_alone("job", "scripts/step5-npugraph_ex")) == []
    assert facts.lone_steps(reports.insufficient()) == []


def test_a_script_is_named_on_the_terminal_and_not_printed() -> None:
    report = reports.insufficient()
    script = "#!/bin/sh\n# completes the run\nsh step4.sh\n"
    collect = NextAction(kind="collect", action=reports.text("Run this script.", "运行此脚本。"), command=script)
    shown = render_terminal(msgspec.structs.replace(report, next_actions=[collect]))
    assert "(a script of 3 lines; it is in the report)" in shown
    assert "#!/bin/sh" not in shown


def test_the_first_quote_gets_the_lines_that_are_left() -> None:
    report = reports.explained()
    long = "[ERROR] RUNTIME(1,python):2026-04-18-09:32:54.407.382 [a.cc:1]1 f: " + "word " * 30 + "the end"
    evidence = [msgspec.structs.replace(report.evidence[0], quote=long), *report.evidence[1:]]
    report = msgspec.structs.replace(report, evidence=evidence)
    assert "the end" in render_terminal(report)


def test_red_is_for_what_failed_and_not_for_an_answer() -> None:
    style = Page(render_html(reports.explained())).blocks["style"][0]
    colours: dict[str, set[str]] = {}
    for selectors, colour in re.findall(r"([^{}]+)\{(?:color|border-left):(?:6px solid )?var\(--(\w+)\)\}", style):
        for selector in selectors.split(","):
            colours.setdefault(colour, set()).add(selector.strip())
    assert {".r-root", ".st-failed", ".card.cause"} <= colours["red"]
    assert not any("s-explained" in selector or "a-fix" in selector for selector in colours["red"])
    assert {".tag.s-explained", ".card.s-explained"} <= colours["blue"]
    assert {".card.s-insufficient", ".k-low"} <= colours["amber"]
    assert {".card.s-no-failure", ".k-high", ".a-fix", ".st-passed"} <= colours["green"]


def test_all_suspects_are_told_in_few_words() -> None:
    report = reports.insufficient()
    one = report.verdict.suspects[0]
    many = [msgspec.structs.replace(one, rank=rank) for rank in range(8, 16)]
    many += [msgspec.structs.replace(one, rank=None, node=node) for node in ("node-x", "node-x", "node-y", "node-z")]
    report = msgspec.structs.replace(report, verdict=msgspec.structs.replace(report.verdict, suspects=many))
    assert facts.suspects_told(report) == ["rank 8-15", "node-x", "node-y"]
    assert '<span class="chip" translate="no">rank 8-15</span>' in _head(report)
