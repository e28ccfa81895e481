"""A table never replaces what it is made of, nor what else lies in the folder of the job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from plogscope.errors import UsageError
from plogscope.pipeline import Options, analyze, write_rows
from plogscope.table.targets import check_target

Run = Callable[..., "CompletedProcess[str]"]

LINE = "[INFO] GE(5150,trainer):2026-05-11-08:00:01.100.200 [graph.cc:12]5151 RunGraph:run\n"
SUFFIXES = (".csv", ".parquet", ".arrow")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "train.log").write_text(LINE)
    return folder


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_of_the_job_is_not_replaced(job: Path, suffix: str) -> None:
    target = job / f"metrics{suffix}"
    target.write_text("step,loss\n1,0.5\n")
    with pytest.raises(UsageError, match="metrics"):
        write_rows([job], target)

    assert target.read_text() == "step,loss\n1,0.5\n"
    assert sorted(path.name for path in job.iterdir()) == sorted(["train.log", target.name])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_of_before_is_replaced(job: Path, suffix: str) -> None:
    target = job / f"out{suffix}"
    for _ in range(2):
        write_rows([job], target, Options(jobs=1))

    assert len(list(job.glob("out*"))) == 4


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["sources", "clocks", "processes"])
def test_nor_does_a_side_table_replace_one(job: Path, suffix: str, name: str) -> None:
    target = job / f"out.{name}{suffix}"
    target.write_text("mine")
    with pytest.raises(UsageError, match=name):
        write_rows([job], job / f"out{suffix}")

    assert target.read_text() == "mine"


def test_an_input_is_not_replaced_whatever_wrote_it(job: Path) -> None:
    target = job / "out.csv"
    write_rows([job / "train.log"], target)
    (job / "link.csv").symlink_to(target)

    for path in (target, job / "link.csv"):
        with pytest.raises(UsageError, match=r"\.csv"):
            check_target(path, [target])


@pytest.mark.parametrize("way", ["link to it", "link in the folder", "dots"])
def test_no_other_way_to_the_file_helps(job: Path, tmp_path: Path, way: str) -> None:
    log = job / "train.csv"
    log.write_text(LINE)
    target = job.parent / "job" / ".." / "job" / "train.csv"
    if way == "link to it":
        target = tmp_path / "link.csv"
        target.symlink_to(log)
    elif way == "link in the folder":
        (tmp_path / "elsewhere.csv").write_text(LINE)
        target = job / "link.csv"
        target.symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(UsageError):
        check_target(target, [job])


def test_elsewhere_a_file_may_be_replaced(job: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    write_rows([job], target)

    assert target.read_text().startswith('"source","line"')


def test_kept_records_replace_no_file_of_the_job(job: Path) -> None:
    target = job / "metrics.csv"
    target.write_text("step,loss\n")
    with pytest.raises(UsageError, match="metrics"):
        analyze([job], Options(keep_table=target))

    assert target.read_text() == "step,loss\n"


def test_the_command_says_so(plogscope_command: Run, job: Path) -> None:
    target = job / "metrics.csv"
    target.write_text("step,loss\n")
    table = plogscope_command("table", str(job), "-o", str(target))
    kept = plogscope_command("analyze", str(job), "-f", "text", "--keep-table", str(target))

    for done in (table, kept):
        assert done.returncode == 2
        assert "metrics.csv" in done.stderr
        assert "another place" in done.stderr
    assert target.read_text() == "step,loss\n"
