"""Neighbours of a quoted line are those of its file, in the order and under the numbers of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import plogscope
from plogscope.evidence.around import lines_around
from plogscope.model.source import Source
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


@pytest.mark.parametrize(
    "after",
    ["x" * 501, "x" * 5_000, "错" * 600, "🔥" * 501, "x" * 70_000, "y" * 65_400 + "\n" + "z" * 200],
)
def test_a_neighbour_that_is_cut_says_so(after: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(f"first\n{after}\nlast\n", encoding="utf-8")
    source = Source(id=0, path="train.log", location=str(log), kind="stdout", size=log.stat().st_size)
    _, shown = lines_around(source, 0)
    real = after.split("\n")
    assert shown
    assert all(text == whole or text.endswith("…") for text, whole in zip(shown, real, strict=False))
    assert shown[0].endswith("…")
