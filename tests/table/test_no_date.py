"""Times of day get the day of their neighbours in the same source, and no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

import plogscope
from plogscope.model.source import Bundle, Source
from plogscope.table.place import Placement
from plogscope.table.write import table_of

Read = Callable[..., pa.Table]

DATED = "[INFO] GE(5150,trainer):2026-05-11-{clock}.000.000 [graph.cc:12]5151 Run:x"
BARE = "{clock} ERROR boom"


def moments(table: pa.Table) -> list[tuple[str | None, str]]:
    times, qualities = table.column("time_local").to_pylist(), table.column("time_quality").to_pylist()
    return [(time and time.isoformat(sep=" "), quality) for time, quality in zip(times, qualities)]


def written(tmp_path: Path, *lines: str) -> pa.Table:
    path = tmp_path / "train.log"
    path.write_text("\n".join(lines))
    source = Source(id=0, path=path.name, location=str(path), kind="stdout", size=path.stat().st_size)
    return table_of(Placement(bundle=Bundle(path=".", layout="loose", sources=(source,))))


def test_the_day_is_that_of_the_last_dated_line(tmp_path: Path) -> None:
    table = written(tmp_path, DATED.format(clock="08:00:01"), BARE.format(clock="08:00:03.5"), "plain")

    assert moments(table) == [
        ("2026-05-11 08:00:01", "exact"),
        ("2026-05-11 08:00:03.500000", "no_date"),
        ("2026-05-11 08:00:03.500000", "inherited"),
    ]


def test_midnight_rolls_over_and_a_little_disorder_does_not(tmp_path: Path) -> None:
    clocks = ("23:59:58", "23:59:59", "00:00:01", "23:59:59", "00:00:02", "09:00:00", "21:00:00", "05:00:00")
    table = written(tmp_path, DATED.format(clock="23:59:57"), *(BARE.format(clock=clock) for clock in clocks))

    assert [(time or "")[8:10] for time, _ in moments(table)] == ["11", "11", "11", "12", "11", "12", "12", "12", "13"]


def test_before_the_first_dated_line_the_days_are_counted_back_from_it(tmp_path: Path) -> None:
    clocks = ("20:00:00", "03:00:00", "23:00:00", "00:00:01")
    table = written(tmp_path, "plain", *(BARE.format(clock=clock) for clock in clocks), DATED.format(clock="08:00:00"))

    assert moments(table) == [
        ("2026-05-09 20:00:00", "inherited"),
        ("2026-05-09 20:00:00", "no_date"),
        ("2026-05-10 03:00:00", "no_date"),
        ("2026-05-10 23:00:00", "no_date"),
        ("2026-05-11 00:00:01", "no_date"),
        ("2026-05-11 08:00:00", "exact"),
    ]


def test_without_a_dated_neighbour_there_is_no_time(tmp_path: Path) -> None:
    table = written(tmp_path, BARE.format(clock="08:00:01"), "plain", BARE.format(clock="08:00:02"))

    assert moments(table) == [(None, "no_date"), (None, "none"), (None, "no_date")]
    assert table.column("time").null_count == 3


def test_another_source_lends_no_day(tmp_path: Path) -> None:
    (tmp_path / "plog-5150_20260511080000000.log").write_text(DATED.format(clock="08:00:01"))
    (tmp_path / "train.log").write_text(BARE.format(clock="08:00:01"))
    table = plogscope.read_table(tmp_path)
    found = [moment for path, moment in zip(table.column("path").to_pylist(), moments(table)) if path == "train.log"]

    assert found == [(None, "no_date")]


def test_blocks_do_not_change_the_days(rows: Read) -> None:
    lines = [DATED.format(clock="23:00:00"), *(BARE.format(clock=f"{n * 7 % 24:02d}:00:00") for n in range(40))]
    data = "\n".join(lines).encode()

    assert rows(data, block_bytes=50).to_pylist() == rows(data).to_pylist()


def test_analyze_orders_nothing_by_a_time_of_day(tmp_path: Path) -> None:
    oom = "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.00 GiB total capacity)"
    (tmp_path / "train.log").write_text(f"08:00:01 ERROR step\n08:00:02 ERROR RuntimeError: {oom}\n")
    report = plogscope.analyze(tmp_path)

    assert report.chain
    assert {(entry.time, entry.time_quality) for entry in report.chain} == {(None, "none")}
