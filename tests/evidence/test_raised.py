"""A traceback whose last line no signature knows: what was raised is named, and a log that breaks off says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.model.report import Report
from plogscope.pipeline import Options, analyze

FRAMES = (
    "Traceback (most recent call last):",
    '  File "/job/train.py", line 31, in <module>',
    "    main()",
    '  File "/job/train.py", line 18, in main',
    "    batch = next(batches)",
)
STEP = "step 4 loss 2.19"


def report_of(folder: Path, *lines: str, options: Options | None = None, end: str = "\n") -> Report:
    (folder / "train.log").write_text("\n".join(lines) + end, "utf-8")
    return analyze([folder], options or Options(jobs=1))


@pytest.mark.parametrize("prefix", ["", "[rank3]: ", "(Worker_TP1 pid=771) "])
@pytest.mark.parametrize(
    "raised", ["BatchHasNoRows: shard 3 of 7", "BatchHasNoRows", "rows.checks.NoRows: shard 3", "rows.Halted"]
)
def test_the_line_below_the_last_frame_is_the_exception_whatever_it_is_called(
    tmp_path: Path, prefix: str, raised: str
) -> None:
    report = report_of(tmp_path, STEP, *(prefix + line for line in (*FRAMES, raised)))
    root = report.verdict.root_cause

    assert root is not None
    assert (root.line, root.quote) == (7, prefix + raised)
    assert "/job/train.py:18" in report.next_actions[0].action.en


@pytest.mark.parametrize("shown", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("prefix", ["", "[rank3]: "])
def test_a_log_that_breaks_off_within_a_traceback_cannot_tell(tmp_path: Path, prefix: str, shown: int) -> None:
    report = report_of(tmp_path, STEP, *(prefix + line for line in FRAMES[:shown]), end="")

    assert report.verdict.status == "insufficient"
    assert "train.log:2" in report.verdict.statement.en


def test_a_traceback_that_breaks_off_is_no_cause_of_what_a_cause_explains(tmp_path: Path) -> None:
    known = "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB"
    own = [f"[rank2]: {line}" for line in (*FRAMES, known)]
    verdict = report_of(tmp_path, *own, *(f"[rank5]: {line}" for line in FRAMES)).verdict

    assert verdict.root_cause is not None
    assert verdict.root_cause.quote == own[-1]


def test_lines_of_others_between_the_frames_and_the_exception_are_no_exception(tmp_path: Path) -> None:
    report = report_of(tmp_path, *FRAMES, "Epoch: 3", STEP, "ValueError: 3 rows wanted")

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.quote == "ValueError: 3 rows wanted"


def test_whoever_says_that_the_job_crashed_is_not_told_that_nothing_failed(tmp_path: Path) -> None:
    said = report_of(tmp_path, STEP, options=Options(jobs=1, symptom="crash")).verdict
    unsaid = report_of(tmp_path, STEP).verdict

    assert (said.status, unsaid.status) == ("insufficient", "no-failure")


def test_without_any_progress_nothing_is_sure(tmp_path: Path) -> None:
    assert report_of(tmp_path, "loading checkpoint shards").verdict.confidence.level != "high"
    assert report_of(tmp_path, STEP).verdict.confidence.level == "high"
