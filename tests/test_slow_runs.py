"""A healthy run that prints a remark about its speed: it is what to look at only when somebody says that it is slow."""

from __future__ import annotations

from pathlib import Path

from plogscope.model.report import Report
from plogscope.model.vocabulary import Symptom
from plogscope.pipeline import Options, analyze

REMARK = (
    "[W505 10:11:12.123456789 compiler_depend.ts:133] Warning: The operator 'aten::nonzero' is not currently supported "
    "on the NPU backend and will fall back to run on the CPU. (function npu_cpu_fallback)"
)
STEPS = [f"2026-05-05 10:1{minute}:00,000 - train - INFO - step {minute} loss 1.{minute}" for minute in range(2, 6)]


def judged(tmp_path: Path, lines: list[str], symptom: Symptom | None = None) -> Report:
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]), "utf-8")
    return analyze([tmp_path], Options(jobs=1, symptom=symptom))


def test_a_run_that_went_on_did_not_fail(tmp_path: Path) -> None:
    assert judged(tmp_path, [REMARK, *STEPS]).verdict.status == "no-failure"


def test_a_slow_run_has_the_remark_as_its_cause(tmp_path: Path) -> None:
    report = judged(tmp_path, [REMARK, *STEPS], "slow")

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.quote == REMARK
    assert report.verdict.category == "performance"


def test_a_remark_is_not_the_cause_of_an_error(tmp_path: Path) -> None:
    error = ["Traceback (most recent call last):", '  File "/job/train.py", line 3, in <module>', "KeyError: 'lr'"]

    for symptom in (None, "slow"):
        root = judged(tmp_path, [REMARK, *STEPS, *error], symptom).verdict.root_cause
        assert root is not None
        assert root.quote == "KeyError: 'lr'"
