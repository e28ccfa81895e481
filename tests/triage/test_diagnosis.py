"""R3, R20–R29a and R70–R79 on whole runs: which line is the cause, and what a report may say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import plogscope
from plogscope.grammar.load import load_grammar
from plogscope.model.report import Report
from plogscope.model.vocabulary import STEP_NAMES, Text
from plogscope.render.html import render_html
from plogscope.render.json import render_json
from plogscope.render.markdown import render_markdown
from plogscope.render.terminal import render_terminal

Build = Callable[..., Path]
En = Callable[[Sequence[Text]], str]

TRACE = 'Traceback (most recent call last):\n  File "/data/a.py", line 3, in main\n    net(x)\n'
DIRECT = "\nThe above exception was the direct cause of the following exception:\n\n"
DURING = "\nDuring handling of the above exception, another exception occurred:\n\n"
KEY = TRACE + "KeyError: 'wte'\n"
SHAPE = TRACE + "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x5 and 7x9)\n"
STEP5_PLOG = f"{STEP_NAMES[4]}/ascend_plog/debug/plog/plog-5150_20250203040506007.log"


def cause(report: Report) -> str:
    assert report.verdict.root_cause is not None, report.verdict.statement.en
    return report.verdict.root_cause.quote


def views(report: Report) -> list[str]:
    return [
        render_json(report).decode(), render_html(report, "en"), render_markdown(report, "en"),
        render_terminal(report, "en", colour=False, width=100),
    ]  # fmt: skip


def test_r3_no_cause_and_no_fix_in_any_form_while_insufficient(
    build_run: Build, leaks: Callable[[Report], list[str]]
) -> None:
    run = build_run(failed=2, log=KEY)
    (run / STEP_NAMES[1] / "ascend_plog" / "debug" / "plog" / "plog-5120_20250203040506007.log").unlink()
    for folder in ("plog", ""):
        (run / STEP_NAMES[1] / "ascend_plog" / "debug" / folder).rmdir()
    (run / STEP_NAMES[1] / "ascend_plog").rmdir()
    report = plogscope.analyze(run)
    assert (report.verdict.status, report.verdict.root_cause) == ("insufficient", None)
    assert leaks(report) == []
    assert report.triage.handoff is None
    assert not any("Look up where key" in view for view in views(report))


def test_r20_the_earliest_error_that_explains_the_rest_is_the_cause(build_run: Build) -> None:
    red = "W0203 04:05:06.000000 5 torch/a.py:1] ERROR-like warning\n"
    log = red + SHAPE + "cleaning up\n" + KEY + "cleaning up\nRuntimeError: replay failed\n"
    assert "mat1 and mat2" in cause(plogscope.analyze(build_run(failed=1, log=log)))


@pytest.mark.parametrize("joiner", [DIRECT, DURING])
def test_r21_first_exception_of_a_chain_is_the_cause(build_run: Build, joiner: str) -> None:
    assert cause(plogscope.analyze(build_run(failed=3, log=KEY + joiner + SHAPE))) == "KeyError: 'wte'"


def test_r22_inner_exception_of_a_failed_backend_is_the_cause(build_run: Build) -> None:
    log = TRACE + "torch._dynamo.exc.BackendCompilerFailed: backend='npugraph_ex' raised:\nKeyError: 'wte'\n"
    assert cause(plogscope.analyze(build_run(failed=4, log=log))) == "KeyError: 'wte'"


def test_r24_exception_of_a_data_worker_is_the_cause(build_run: Build) -> None:
    log = TRACE + "KeyError: Caught KeyError in DataLoader worker process 1.\nOriginal " + KEY
    assert cause(plogscope.analyze(build_run(failed=1, log=log))) == "KeyError: 'wte'"


def test_r25_traceback_of_the_rank_is_the_cause_and_not_the_summary(fixture_run: Callable[[str], Path]) -> None:
    report = plogscope.analyze(fixture_run("five-step-rank-raises"))
    assert cause(report).startswith("[rank1]: RuntimeError: mat1 and mat2")


@pytest.mark.parametrize(
    "tail", ["I0203 04:05:07.000000 5 torch/_dynamo/utils.py:9] TorchDynamo compilation metrics:\n"]
)
def test_r27_lines_after_the_error_change_nothing(build_run: Build, tail: str) -> None:
    assert cause(plogscope.analyze(build_run(failed=2, log=KEY + tail * 40))) == "KeyError: 'wte'"


def test_r72_r29a_device_record_before_the_synchronize_is_the_cause(fixture_run: Callable[[str], Path]) -> None:
    report = plogscope.analyze(fixture_run("five-step-replay-aicore"))
    assert report.verdict.category == "operator"
    assert report.verdict.root_cause is not None
    assert "ascend_plog" in report.verdict.root_cause.file
    surfaced = [entry for entry in report.chain if entry.file.endswith("stdout_stderr.log") and entry.role == "cascade"]
    assert surfaced


@pytest.mark.parametrize(
    ("error", "category"),
    [
        ("torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0)", "memory"),
        ("RuntimeError: call aclnnAddmm failed, detail:EZ1001: dtype is not supported", "operator"),
        ("Fatal Python error: Segmentation fault", "host"),
    ],
)  # fmt: skip
def test_r71_words_of_the_first_cause_name_the_subsystem(build_run: Build, error: str, category: str) -> None:
    log = error if error.startswith("Fatal") else TRACE + error
    assert plogscope.analyze(build_run(failed=5, log=log + "\n")).verdict.category == category


@pytest.mark.parametrize("name", ["five-step-replay-aicore", "five-step-no-fake-impl"])
def test_r74_r79_four_parts_in_their_order(fixture_run: Callable[[str], Path], name: str) -> None:
    text = render_markdown(plogscope.analyze(fixture_run(name)), "en")
    heads = re.findall(r"^### (.+)$", text, re.MULTILINE)[:4]
    assert heads == ["Category", "Evidence", "Most likely root cause", "Next action"]


def test_r75_switches_are_asked_for_only_when_evidence_is_thin(
    build_run: Build, fixture_run: Callable[[str], Path]
) -> None:
    thin = plogscope.analyze(build_run(failed=5, log="step went wrong\n", exit_code=3))
    assert any("ASCEND_GLOBAL_LOG_LEVEL" in (action.command or "") for action in thin.next_actions)
    whole = plogscope.analyze(fixture_run("five-step-replay-aicore"))
    assert not any("ASCEND_GLOBAL_LOG_LEVEL" in str(action) for action in whole.next_actions)


@pytest.mark.parametrize(
    ("log", "word"),
    [
        (TRACE + "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB\n", "R78: memory"),
        ("Fatal Python error: Segmentation fault\n", "R71: native crash"),
        (TRACE + "RuntimeError: call aclnnAddmm failed, detail:EZ1001: x\n", "R78: "),
    ],
)
def test_r76_r78_handoff_says_where_to_look_by_subsystem(build_run: Build, en: En, log: str, word: str) -> None:
    report = plogscope.analyze(build_run(failed=5, log=log))
    assert report.triage.handoff is not None
    notes = en(report.triage.handoff.notes)
    assert word in notes
    assert "R76: in this order: direct evidence" in notes


def test_r77_no_advice_switches_the_backend() -> None:
    switch = re.compile(r"(?:switch|change|use)\w* (?:to )?(?:the |another |a different )?(?:inductor|backend)\b")
    advised = [(one.id, one.advice) for one in load_grammar(()).signatures if one.advice is not None]
    assert advised
    assert [name for name, advice in advised if switch.search(f"{advice.next_action.en} {advice.command or ''}")] == []


def test_c13_no_fix_is_proposed_without_a_script(build_run: Build) -> None:
    run = build_run(failed=1, log=KEY)
    assert plogscope.analyze(run).next_actions[0].kind == "fix"
    for path in (run / "scripts").iterdir():
        path.unlink()
    report = plogscope.analyze(run)
    assert report.next_actions[0].kind == "collect"
    assert "fix" not in [action.kind for action in report.next_actions]
    assert cause(report) == "KeyError: 'wte'"
