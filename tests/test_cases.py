"""Runs a folder of labelled cases (`<id>/bundle`, `<id>/truth.json`) when PLOGSCOPE_CASES names one."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import plogscope
from plogscope.model.report import Report

LEAST_ROOT_RATE = 0.5
"""Share of the labels of high and medium confidence whose root cause (or abstention) must be right."""

FOLDER = Path(os.environ.get("PLOGSCOPE_CASES") or os.devnull).resolve()
CASES = sorted(path.parent.name for path in FOLDER.glob("*/truth.json")) if FOLDER.is_dir() else []

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("cases"),
    pytest.mark.skipif(not CASES, reason="PLOGSCOPE_CASES names no folder of cases"),
]


@functools.cache
def truth_of(case: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((FOLDER / case / "truth.json").read_text(encoding="utf-8"))
    return truth


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Report]:
    @functools.cache
    def report_of(case: str) -> Report:
        bundle, empty = FOLDER / case / "bundle", FOLDER / case / "dirs.txt"
        if empty.is_file():  # directories without a file, which a repository does not keep
            bundle = shutil.copytree(bundle, tmp_path_factory.mktemp("case") / "bundle")
            for name in empty.read_text(encoding="utf-8").splitlines():
                (bundle / name).mkdir(parents=True, exist_ok=True)
        return plogscope.analyze(bundle, jobs=1)

    return report_of


def is_right(truth: dict[str, Any], report: Report) -> bool:
    if truth["status"] != "explained":
        return bool(report.verdict.status == truth["status"])
    root = report.verdict.root_cause
    places = [(place["file"], place["line"]) for place in [truth["root"], *truth.get("accept", [])]]
    return root is not None and (root.file, root.line) in places


@pytest.mark.parametrize("case", CASES)
def test_a_case_gives_a_report_without_a_leak(
    case: str, analysed: Callable[[str], Report], leaks: Callable[[Report], list[str]]
) -> None:
    assert leaks(analysed(case)) == []


def test_root_causes_are_right_often_enough(analysed: Callable[[str], Report]) -> None:
    sure = [case for case in CASES if truth_of(case).get("label_confidence") in ("high", "medium")]
    wrong = [case for case in sure if not is_right(truth_of(case), analysed(case))]
    rate = 1 - len(wrong) / len(sure)
    assert rate >= LEAST_ROOT_RATE, f"{rate:.0%} of {len(sure)} are right; wrong: {', '.join(wrong)}"
