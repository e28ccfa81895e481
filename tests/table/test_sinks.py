"""Parquet, Arrow and CSV hold the same rows; no cell of a CSV is a formula; a file is whole or not there."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plogscope.errors import InputError, UsageError
from plogscope.model.source import Bundle, Source
from plogscope.table.columns import Columns
from plogscope.table.place import Placement
from plogscope.table.sinks import Output
from plogscope.table.write import batches, table_of, write_table

Read = Callable[..., pa.Table]

TEXT = (
    "[INFO] GE(5150,=cmd):2026-05-11-08:00:01.100.200 [graph.cc:12]5151 RunGraph:run\n"
    '=HYPERLINK(1)\n+1\n-1\n@SUM(A1)\n\u8868\u683c, quoted "x"\n    and a line\n'
)


@pytest.fixture
def placement(tmp_path: Path) -> Placement:
    sources = []
    for number, text in enumerate((TEXT, TEXT.replace("GE(", "HCCL(").replace("5150", "5160"))):
        path = tmp_path / f"{number}.log"
        path.write_text(text, encoding="utf-8")
        sources.append(Source(id=number, path=path.name, location=str(path), kind="stdout", size=path.stat().st_size))
    return Placement(bundle=Bundle(path=".", layout="loose", sources=tuple(sources)))


def test_the_batches_of_all_files_share_one_dictionary_of_paths(placement: Placement) -> None:
    first, second = (batch.column("path").dictionary for batch in batches(placement, Columns(placement), []))

    assert first.to_pylist() == ["0.log", "1.log"]
    assert [one.address for one in first.buffers()[1:] if one] == [one.address for one in second.buffers()[1:] if one]


def test_all_formats_hold_the_same_rows(placement: Placement, tmp_path: Path) -> None:
    expected = table_of(placement).to_pylist()
    write_table(placement, tmp_path / "x.parquet")
    write_table(placement, tmp_path / "x.arrow")
    write_table(placement, tmp_path / "x.csv")

    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == expected
    assert pa.ipc.open_file(tmp_path / "x.arrow").read_all().to_pylist() == expected
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as stream:
        cells = list(csv.DictReader(stream))
    assert [row["message"].removeprefix("'") for row in cells] == [row["message"] for row in expected]
    assert [int(row["offset"]) for row in cells] == [row["offset"] for row in expected]
    assert len(expected) == 12


def test_no_cell_of_a_csv_is_a_formula(placement: Placement, tmp_path: Path) -> None:
    write_table(placement, tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    with (tmp_path / "x.processes.csv").open(newline="", encoding="utf-8") as stream:
        cells += [cell for row in csv.reader(stream) for cell in row]

    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n") and cell] == []
    assert "'=HYPERLINK(1)" in cells
    assert "'=cmd" in cells


def test_the_side_tables_explain_the_codes(placement: Placement, tmp_path: Path) -> None:
    write_table(placement, tmp_path / "x.parquet")
    processes = pq.read_table(tmp_path / "x.processes.parquet").to_pylist()
    rows = pq.read_table(tmp_path / "x.parquet")

    assert [(row["process"], row["pid"], row["proc"]) for row in processes] == [(0, 5150, "=cmd"), (1, 5160, "=cmd")]
    assert [row["path"] for row in pq.read_table(tmp_path / "x.sources.parquet").to_pylist()] == ["0.log", "1.log"]
    assert [row["basis"] for row in pq.read_table(tmp_path / "x.clocks.parquet").to_pylist()] == ["reference"]
    assert rows.schema.metadata[b"plogscope.time"] == b"local time of bundle"
    assert [pid for pid in rows.column("pid").to_pylist() if pid] == [5150, 5160]


def test_only_the_wanted_records_are_kept(placement: Placement, tmp_path: Path) -> None:
    write_table(placement, tmp_path / "x.parquet", {1: {3: 3, 6: 7}})
    expected = [row for row in table_of(placement).to_pylist() if row["source"] == 1 and row["line"] in (3, 6)]
    found = pq.read_table(tmp_path / "x.parquet").to_pylist()

    assert [(row["line"], row["end_line"], row["message"]) for row in found] == [
        (row["line"], row["end_line"], row["message"]) for row in expected
    ]


def test_a_source_that_is_gone_is_named_in_the_sources(placement: Placement, tmp_path: Path) -> None:
    Path(placement.bundle.sources[0].location).unlink()
    write_table(placement, tmp_path / "x.parquet")
    sources = pq.read_table(tmp_path / "x.sources.parquet").to_pylist()

    assert [bool(row["skipped"]) for row in sources] == [True, False]
    assert set(pq.read_table(tmp_path / "x.parquet").column("source").to_pylist()) == {1}


def test_an_unknown_suffix_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"x\.xlsx"):
        Output(tmp_path / "x.xlsx", pa.schema([]))


def test_a_place_that_cannot_be_written_is_named(placement: Placement, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    with pytest.raises(InputError, match="cannot be written"):
        write_table(placement, tmp_path / "file" / "x.parquet")


def test_nothing_is_left_of_a_table_that_failed(
    placement: Placement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Output, __: pa.RecordBatch) -> None:
        raise InputError("no space left")

    before = set(tmp_path.iterdir())
    monkeypatch.setattr(Output, "write", full)
    with pytest.raises(InputError):
        write_table(placement, tmp_path / "x.parquet")

    assert set(tmp_path.iterdir()) == before
