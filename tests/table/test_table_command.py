"""`plogscope table`, `read_table` and `analyze --keep-table` on fixtures, as a user calls them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

import plogscope
from plogscope.discover import discover
from plogscope.model.rows import ROWS

Run = Callable[..., "CompletedProcess[str]"]
FIXTURES = sorted(path.name for path in (Path(__file__).parents[2] / "fixtures").iterdir() if (path / "run").is_dir())


@pytest.mark.parametrize("name", FIXTURES)
def test_the_rows_of_a_fixture_partition_its_files(name: str, fixture_run: Callable[[str], Path]) -> None:
    table = plogscope.read_table(fixture_run(name), jobs=1)
    ends: dict[int, int] = {}
    for source, offset, length in zip(*(table.column(key).to_pylist() for key in ("source", "offset", "length"))):
        assert offset == ends.get(source, 0)
        ends[source] = offset + length

    assert table.schema.names == ROWS.names
    sizes = {source.id: source.size for source in discover([fixture_run(name)]).sources}
    assert ends == {source: sizes[source] for source in ends}


def test_the_order_of_the_given_files_does_not_matter(tmp_path: Path) -> None:
    line = "[INFO] GE({pid},trainer):2026-05-11-08:00:01.100.200 [graph.cc:12]5151 RunGraph:run\n"
    names = [f"plog-{pid}_20260511080000000.log" for pid in (71, 72, 73)]
    for first, folder in ((names, tmp_path / "a"), (names[::-1], tmp_path / "b")):
        folder.mkdir()
        for name in first:
            (folder / name).write_text(line.format(pid=name[5:7]))

    assert plogscope.read_table(tmp_path / "a").to_pylist() == plogscope.read_table(tmp_path / "b").to_pylist()


def test_the_command_writes_what_read_table_returns(
    plogscope_command: Run, fixture_run: Callable[[str], Path], tmp_path: Path
) -> None:
    done = plogscope_command("table", fixture_run(FIXTURES[0]), "-o", tmp_path / "x.parquet")

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    expected = plogscope.read_table(fixture_run(FIXTURES[0]))
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == expected.to_pylist()


def test_kept_records_are_rows_of_the_table(
    plogscope_command: Run, fixture_run: Callable[[str], Path], tmp_path: Path
) -> None:
    run = fixture_run(FIXTURES[0])
    done = plogscope_command("analyze", run, "-f", "text", "--keep-table", tmp_path / "kept.parquet")
    kept = pq.read_table(tmp_path / "kept.parquet").drop(["process"]).to_pylist()
    rows = plogscope.read_table(run).drop(["process"]).to_pylist()

    assert done.returncode == 0, done.stderr
    assert 0 < len(kept) <= len(rows)
    assert [row for row in kept if row not in rows] == []


@pytest.mark.parametrize("arguments", [("table", ".", "-o", "x.xlsx"), ("analyze", ".", "--keep-table", "x.xlsx")])
def test_an_unknown_suffix_is_a_usage_error(plogscope_command: Run, arguments: tuple[str, ...]) -> None:
    done = plogscope_command(*arguments)

    assert done.returncode == 2
    assert ".parquet" in done.stderr
    assert os.linesep not in done.stderr.rstrip()
