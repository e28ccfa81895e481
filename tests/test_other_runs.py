"""A log folder with plogs of several days: the report is about one run and says that there were others."""

from __future__ import annotations

from pathlib import Path

from plogscope.pipeline import Options, analyze

FAULT = (
    "[ERROR] RUNTIME({pid},python3):2026-05-{day:02d}-10:00:0{second}.100.200 [davinci_kernel_task.cc:1210]{pid} "
    "PrintErrorInfoForDavinciTask:[DFX_INFO]AI Core kernel execution failed, device_id=0, stream_id=2, "
    "report_stream_id=2, task_id=5, flip_num=0, fault kernel_name={kernel}, program id=1, hash=5."
)


def test_a_fault_of_an_earlier_day_is_not_the_cause_of_today(tmp_path: Path) -> None:
    for pid, day, kernel in ((4100, 3, "Old_1"), (5200, 8, "New_2")):
        log = tmp_path / "debug" / "plog" / f"plog-{pid}_202605{day:02d}100000123.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(FAULT.format(pid=pid, day=day, second=pid // 1000, kernel=kernel) + "\n", "utf-8")

    report = analyze([tmp_path], Options(jobs=1))

    root = report.verdict.root_cause
    assert root is not None
    assert "New_2" in root.quote
    assert [one.quote for one in report.evidence if "Old_1" in one.quote] == []
    assert any("Files of other runs" in note.en and ": 1." in note.en for note in report.coverage.notes)


def test_what_an_earlier_start_printed_into_the_same_file_is_not_the_cause_of_the_last_one(tmp_path: Path) -> None:
    lines = []
    for day, error in ((3, "ValueError: old and mended"), (5, "KeyError: 'new'")):
        lines += [f"2026-05-{day:02d} 10:00:0{second},000 - job - INFO - step {second}" for second in range(5)]
        lines += ["Traceback (most recent call last):", '  File "/job/train.py", line 3, in <module>', error]
    (tmp_path / "nohup.out").write_text("\n".join([*lines, ""]), "utf-8")

    report = analyze([tmp_path], Options(jobs=1))

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.quote == "KeyError: 'new'"
    assert [one.quote for one in report.chain] == ["KeyError: 'new'"]
