"""R46: where printed losses and checksums first differ between steps that passed names the layer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import plogscope
from plogscope.discover import discover
from plogscope.model.vocabulary import STEP_NAMES, Symptom
from plogscope.triage import read_steps
from plogscope.triage.values import Difference, first_difference

Build = Callable[..., Path]
SEEDED = 'import torch\ntorch.manual_seed(3)\nnet = torch.compile(m, backend="npugraph_ex", dynamic=False)\n'
RUN = "iter 0 loss 3.125\niter 1 loss: 2.5000\n"


def printing(run: Path, *texts: str, seeded: bool = True) -> Path:
    """The steps print these texts; the last one is printed by all later steps too."""
    for number, name in enumerate(STEP_NAMES):
        log = run / name / "stdout_stderr.log"
        log.write_text(log.read_text() + texts[min(number, len(texts) - 1)])
    if seeded:
        (run / "scripts" / "original.py").write_text(SEEDED)
    return run


def difference(run: Path) -> Difference | None:
    bundle = discover([run])
    steps = read_steps(bundle)
    assert steps is not None
    return first_difference(bundle, steps, "")


@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_r46_first_step_whose_loss_differs_is_the_layer(build_run: Build, step: int) -> None:
    wrong = RUN.replace("2.5000", "2.7500")
    run = printing(build_run(), *[RUN] * (step - 1), wrong)
    report = plogscope.analyze(run)
    root = report.verdict.root_cause
    assert (report.triage.route, report.triage.rule, report.verdict.category) == ("accuracy", "R46", "accuracy")
    assert root is not None
    assert (root.file, root.quote) == (f"{STEP_NAMES[step - 1]}/stdout_stderr.log", "iter 1 loss: 2.7500")
    assert report.triage.rests_on == f"{root.file}:{root.line}"
    assert report.verdict.confidence.level == "medium"
    assert report.next_actions[0].kind == "check"


def test_r46_values_that_only_round_differently_agree(build_run: Build) -> None:
    assert difference(printing(build_run(), RUN, RUN.replace("3.125", "3.1251"))) is None


def test_r46_unseeded_eager_proves_nothing_in_step2_but_an_agreeing_step_does(build_run: Build, tmp_path: Path) -> None:
    wrong = RUN.replace("2.5000", "9")
    second = difference(printing(build_run(), RUN, wrong, seeded=False))
    assert second is not None
    assert (second.decisive, second.label, second.expected.value, second.found.value) == (False, "loss", "2.5000", "9")
    fourth = difference(printing(build_run(root=tmp_path / "b"), RUN, RUN, RUN, wrong, seeded=False))
    assert fourth is not None
    assert (fourth.decisive, fourth.step) == (True, STEP_NAMES[3])


def test_r34_values_that_are_no_result_are_told_and_route_nothing(build_run: Build) -> None:
    run = printing(build_run(), "norm 4.5\n", "norm 4.5\n", "norm 8.0\n")
    report = plogscope.analyze(run)
    assert (report.triage.route, report.verdict.status) == ("none", "no-failure")
    assert "norm is 8.0 in step3-compile-aot_eager" in report.triage.missing[0].what.en
    stated = plogscope.analyze(run, symptom="mismatch")
    assert stated.verdict.root_cause is not None
    assert stated.verdict.root_cause.quote == "norm 8.0"


def test_values_are_compared_by_rank_and_step_and_not_by_place(build_run: Build) -> None:
    eager = "[rank0]: step 1 loss 1.5\n[rank1]: step 1 loss 7.5\n"
    turned = "[rank1]: step 1 loss 7.5\nnoise\n[rank0]: step 1 loss 1.5\n"
    assert difference(printing(build_run(), eager, turned)) is None


@pytest.mark.parametrize(
    "text",
    [
        "V0203 04:05:06.000000 5 torch/a.py:1] loss 8.0\n", "    loss = 8.0\n", "[INFO] NPUGRAPH_EX(5,p):x loss 8.0\n",
        "loss took 8.0 ms\n", "sum of 8 tokens\n", "the loss of rank three\n", "# loss 8.0\n",
    ],
)  # fmt: skip
def test_records_source_lines_and_times_are_no_values(build_run: Build, text: str) -> None:
    assert difference(printing(build_run(), text, text.replace("8", "9"))) is None


@pytest.mark.parametrize(
    ("eager", "later", "differs"), [("nan", "nan", False), ("1.5", "nan", True), ("inf", "inf", False)]
)
def test_not_a_number_is_a_value(build_run: Build, eager: str, later: str, differs: bool) -> None:  # noqa: FBT001
    assert (difference(printing(build_run(), f"loss {eager}\n", f"loss {later}\n")) is not None) == differs


def test_checksums_as_text_are_compared_as_text(build_run: Build) -> None:
    found = difference(printing(build_run(), "md5: 0f3a9bc1d2e4f567\n", "md5: 1f3a9bc1d2e4f567\n"))
    assert found is not None
    assert found.decisive


@pytest.mark.parametrize(("symptom", "route"), [("mismatch", "accuracy"), ("slow", "performance")])
def test_a_stated_symptom_of_a_run_that_passed_asks_for_what_decides(
    build_run: Build, symptom: Symptom, route: str
) -> None:
    report = plogscope.analyze(build_run(), symptom=symptom)
    assert (report.triage.route, report.verdict.status, report.verdict.category) == (route, "no-failure", route)
    assert {action.kind for action in report.next_actions} == {"collect"}
