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


def test_a_name_without_the_end_of_its_line_may_be_cut(tmp_path: Path) -> None:
    assert report_of(tmp_path, *FRAMES, "rows.checks.NoRo", end="").verdict.status == "insufficient"
    assert report_of(tmp_path, *FRAMES, "rows.checks.NoRows: shard 3 of", end="").verdict.status == "explained"


def test_the_rank_whose_traceback_breaks_off_is_the_one_to_ask(tmp_path: Path) -> None:
    report = report_of(tmp_path, *(f"[rank3]: {line}" for line in FRAMES))

    assert [one.rank for one in report.verdict.suspects] == [3]


@pytest.mark.parametrize("end", ["", "\n"])
def test_an_output_that_stops_within_a_line_does_not_tell_how_the_run_ended(tmp_path: Path, end: str) -> None:
    whole = [f"iteration {number}/ 900 | lm loss: 2.0{number} | grad norm: 1.{number}" for number in range(9)]
    torn = report_of(tmp_path, *whole, "iteration 9/ 900 | lm lo", end=end)

    assert torn.verdict.status == ("no-failure" if end else "insufficient")
    assert report_of(tmp_path, *whole, "iteration 9/ 900 | lm loss: 2.09 | grad norm: 1", end="").verdict.status == (
        "no-failure"
    )
    assert report_of(tmp_path, *whole, "training finished", end="").verdict.status == "no-failure"


def test_where_no_failure_would_show_nobody_is_told_that_nothing_failed(tmp_path: Path) -> None:
    run = tmp_path / "run" / "plog"
    run.mkdir(parents=True)
    event = "[EVENT] RUNTIME(41,python3):2026-05-05-10:11:12.123.456 [stream.cc:512]41 StreamCreate:ok, stream_id=4\n"
    (run / "plog-41_20260505101112123.log").write_text(event * 40, "utf-8")
    (tmp_path / "npu-smi.txt").write_text("| npu-smi 24.1.rc3    Version: 24.1.rc3 |\n", "utf-8")
    only_events = analyze([tmp_path], Options(jobs=1)).verdict

    assert only_events.status == "insufficient"
    assert report_of(tmp_path, STEP).verdict.status == "no-failure"


def test_the_echo_of_an_exception_that_is_not_there_names_its_rank(tmp_path: Path) -> None:
    echo = "[ERROR] 2026-05-05-10:11:12 (PID:41, Device:1, RankID:9) ERR99999 UNKNOWN applicaiton exception"
    verdict = report_of(tmp_path, STEP, echo).verdict

    assert (verdict.status, [one.rank for one in verdict.suspects]) == ("insufficient", [9])


def test_text_of_no_known_form_is_read_when_there_is_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "pods.txt").write_text("NAME   READY  STATUS\nworker-0  0/1  Unready\n", "utf-8")

    assert analyze([tmp_path], Options(jobs=1)).verdict.status == "insufficient"


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


def test_a_deep_stack_hides_no_exception_of_an_unfamiliar_name(tmp_path: Path) -> None:
    frames = [line for depth in range(180) for line in (f'  File "/job/m.py", line {depth}, in f{depth}', "    g()")]
    root = report_of(tmp_path, FRAMES[0], *frames, "rows.checks.NoRows: shard 3").verdict.root_cause

    assert root is not None
    assert root.quote == "rows.checks.NoRows: shard 3"


def test_what_only_the_shell_saw_of_a_crash_asks_for_the_stack(tmp_path: Path) -> None:
    report = report_of(tmp_path, STEP, "train.sh: line 9: 41021 Segmentation fault      (core dumped) python3 train.py")

    assert (report.verdict.status, report.verdict.root_cause) == ("insufficient", None)
    assert report.next_actions[0].env == {"PYTHONFAULTHANDLER": "1"}


def test_a_line_that_a_logger_frames_has_the_time_of_its_frame(tmp_path: Path) -> None:
    frame = "(Worker_TP0 pid=471) ERROR 06-01 03:19:{second} [executor.py:949] {text}"
    lines = [
        frame.format(second="01", text="    value = stream.wait(event)"),
        frame.format(second="07", text="        torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB"),
    ]
    root = report_of(tmp_path, *lines).verdict.root_cause

    assert root is not None
    assert (root.time or "").endswith("-06-01T03:19:07.000000")


@pytest.mark.parametrize(("told", "shown"), [(", device_id=3", "-i 3"), ("", "-i <device>")])
def test_a_command_names_the_device_that_failed_and_never_another(tmp_path: Path, told: str, shown: str) -> None:
    line = (
        "[ERROR] RUNTIME(41,python3):2026-05-02-04:33:32.920.727 [runtime.cc:5571]61 ProcHBMRas:HBM MULTI BIT ECC, "
        f"Uncorrectable ECC{told}, event_id=0x80e01801, time us=91022338000."
    )
    commands = [one.command or "" for one in report_of(tmp_path, line).next_actions]

    assert any(shown in command for command in commands), commands


def test_the_executor_that_saw_a_worker_die_names_its_rank(tmp_path: Path) -> None:
    line = "ERROR 04-11 10:02:31 [multiproc_executor.py:146] Worker proc VllmWorker-3 died unexpectedly, shutting down"
    verdict = report_of(tmp_path, line).verdict

    assert (verdict.status, [one.rank for one in verdict.suspects]) == ("insufficient", [3])
