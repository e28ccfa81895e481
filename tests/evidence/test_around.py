"""Neighbours of a quoted line are those of its file, in the order and under the numbers of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import plogscope
from plogscope.render import facts

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.mark.parametrize("name", ["five-step-replay-aicore", "python-dataset-error", "two-rank-hccl"])
def test_evidence_stands_among_its_neighbours_as_in_the_file(name: str) -> None:
    run = FIXTURES / name / "run"
    report = plogscope.analyze(run)
    assert sum(len(item.context_before) > 0 < len(item.context_after) for item in report.evidence) > 2
    for item in report.evidence:
        lines = (run / item.file).read_text(encoding="utf-8", errors="replace").split("\n")
        shown = [(number, text.removesuffix("…")) for number, text, _ in facts.context(item)]
        assert [(number, lines[number - 1].removesuffix("\r")[: len(text)]) for number, text in shown] == shown
