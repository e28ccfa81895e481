"""The rows of a source: spans partition its bytes, and no way of reading changes them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.parse import Piece, parse_line
from plogscope.model.chain import Clock
from plogscope.model.source import Bundle, Source
from plogscope.scan import read
from plogscope.table import ordinary, runs
from plogscope.table.place import Placement

Read = Callable[..., pa.Table]

LINES = (
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [graph.cc:12]5151 RunGraph:run graph {n}",
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [graph.cc:12]5151 RunGraph: run  graph {n} ",
    "[DEBUG] HCCL(5150,trainer):2026-05-11-08:00:{s:02d}.100.201 [hccl.cc:9] [5152][Pop]queue {n} waits",
    "[INFO] HCCL(5150,trainer):2026-05-11-08:00:{s:02d}.100.201 [hccl.cc:9][5152][5153]queue {n} waits",
    "[WARNING] TDT(5150,trainer):2026-05-11 08:00:{s:02d}.100.201 [tdt.cc:{n}] [tid:77] enter",
    "[ERROR] RUNTIME(5150):2026-05-11-08:00:{s:02d}.100.202 [a.cc:77]5154 unheard of thing {n} happened",
    "[EVENT] KERNEL(9,sklogd):2026-05-11-08:00:{s:02d}.100.202 [k.c:2][25.794072] [ascend] [ERROR] [ts] bad",
    "[INFO] TORCHAIR(5150,trainer):2026-05-11-08:00:{s:02d}.100.202 [a.cpp:77]5154 Run:go",
    "[INFO] GE(5150,trainer):2026-02-30-08:00:{s:02d}.100.200 [graph.cc:12]5151 Run:no such day",
    (
        "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [graph.cc:12]5151 Run:x[INFO] GE(5150,trainer):"
        "2026-05-11-08:00:{s:02d}.300.200 [graph.cc:13]5151 Run:glued"
    ),
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [g.cc:12]5151 Run:the quoted [ERROR] HCCL(1) stands",
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [g.cc:1]5151 Run:Epoch 3%|x| 1/9 [0<1, 2.0it/s][INFO] a",
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [g.cc:1]5151 Run:\u4e2d\u6587\u3000",
    "[INFO] GE(5150,trainer):2026-05-11-08:00:{s:02d}.100.200 [g.cc:1]5151 Run:a\x0bb\x85c\u2028d\r",
    "[rank{n}]: Traceback (most recent call last):",
    '[rank{n}]:   File "train.py", line {s}, in main',
    "[rank{n}]: KeyError: 'k{n}'",
    "    continuation {n} of whatever came before",
    "EE9999: Inner Error!",
    "EE9999: [PID: 5150] 2026-05-11-08:00:{s:02d}.100.204 rtStreamSynchronize execute failed, reason=[aicore]",
    "plain text {n}",
    "",
    "(Worker_TP{n} pid=99) ERROR 03-01 10:00:{s:02d} [executor.py:9] ValueError: {n}",
    "\x1b[31m[ERROR] HCCL(5150,p):2026-05-11-08:00:{s:02d}.100.205 [x.cc:1] [5150]wait {n}\x1b[0m",
    "torn \xff\x00 {n} [ERROR] HCCL(5150,p):2026-05-11-08:00:{s:02d}.100.205 [x.cc:1] [5150]wait",
    "\x1b[1m50%\x1b[0m\xe9\r[INFO] HCCL(5150,p):2026-05-11-08:00:{s:02d}.100.205 [x.cc:1] [5150]behind a bar\r",
)
LINE = st.tuples(st.sampled_from(LINES), st.integers(0, 4), st.integers(0, 59)).map(
    lambda line: line[0].format(n=line[1], s=line[2]).encode("utf-8" if "\u4e2d" in line[0] else "latin-1", "replace")
)
CONTENT = st.builds(
    lambda lines, glue, end: glue.join(lines) + end,
    st.lists(LINE, max_size=30),
    st.sampled_from([b"\n", b"\r\n"]),
    st.sampled_from([b"", b"\n", b"\n\n"]),
)
ANYTHING = st.one_of(CONTENT, st.binary(max_size=300))


@contextmanager
def only_the_exact_way() -> Iterator[None]:
    known = ordinary.LEAST_RECORD_BYTES
    ordinary.LEAST_RECORD_BYTES = 1 << 62
    try:
        yield
    finally:
        ordinary.LEAST_RECORD_BYTES = known


def listed(table: pa.Table) -> list[dict[str, Any]]:
    return list(table.to_pylist())


def assert_partition(table: pa.Table, size: int) -> None:
    end = 0
    for row in listed(table):
        assert row["offset"] == end
        assert row["length"] > 0
        end += row["length"]
    assert end == size


@given(data=ANYTHING)
def test_spans_partition_the_file(rows: Read, data: bytes) -> None:
    assert_partition(rows(data), len(data))


@given(data=ANYTHING, block_bytes=st.integers(1, 400), cuts=st.lists(st.integers(0, 3000), max_size=5))
def test_any_blocks_and_any_ranges_give_the_same_rows(
    rows: Read, data: bytes, block_bytes: int, cuts: list[int]
) -> None:
    assert listed(rows(data, block_bytes=block_bytes, cuts=cuts)) == listed(rows(data))


@given(data=CONTENT, batch_every=st.integers(1, 4))
def test_when_rows_are_taken_out_does_not_matter(rows: Read, data: bytes, batch_every: int) -> None:
    assert listed(rows(data, block_bytes=200, batch_every=batch_every)) == listed(rows(data))


@given(data=ANYTHING)
def test_the_short_way_reads_what_the_exact_way_reads(rows: Read, data: bytes) -> None:
    with only_the_exact_way():
        exact = listed(rows(data))

    assert listed(rows(data)) == exact


def test_the_short_way_is_taken(rows: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\n".join(LINES[0].format(n=n, s=n % 60) for n in range(500)).encode()
    exact: list[bytes] = []

    def counted(raw: bytes) -> list[Piece]:
        exact.append(raw)
        return parse_line(raw)

    monkeypatch.setattr(runs, "parse_line", counted)

    assert rows(data).num_rows == 500
    assert exact == []


def test_lines_count_on_newlines_only(rows: Read) -> None:
    data = "one\x0bstill one\x85still\u2028one\ntwo\rtwo\nthree".encode()

    assert [(row["line"], row["end_line"]) for row in listed(rows(data))] == [(1, 1), (2, 2), (3, 3)]


def test_a_record_keeps_its_lines_and_what_its_head_says(rows: Read) -> None:
    data = LINES[5].format(n=3, s=7).encode() + b"\r\n    more of it\r\n\r\nplain\r\n"
    first, second = listed(rows(data))

    assert (first["line"], first["end_line"], first["offset"]) == (1, 3, 0)
    assert first["message"] == "unheard of thing 3 happened\n    more of it\n"
    assert first["time_local"].isoformat() == "2026-05-11T08:00:07.100202"
    assert (first["level"], first["module"], first["pid"], first["tid"]) == ("ERROR", "RUNTIME", 5150, 5154)
    assert (first["src_file"], first["src_line"], first["format"]) == ("a.cc", 77, "plog")
    assert (second["line"], second["message"], second["time_quality"]) == (4, "plain", "inherited")
    assert second["time_local"] == first["time_local"]


def test_the_runs_of_an_interleaved_record_share_its_address(rows: Read) -> None:
    data = (
        b"[rank0]: Traceback (most recent call last):\n"
        b"[rank1]: Traceback (most recent call last):\n"
        b'[rank0]:   File "a.py", line 1, in f\n'
        b'[rank0]:   File "b.py", line 2, in g\n'
        b'[rank1]:   File "c.py", line 3, in h\n'
    )
    found = listed(rows(data))

    assert [(row["line"], row["end_line"], row["rank"]) for row in found] == [
        (1, 1, 0),
        (2, 2, 1),
        (3, 4, 0),
        (5, 5, 1),
    ]
    assert [row["record"] for row in found] == [0, 44, 0, 44]
    assert {row["format"] for row in found} == {"traceback"}
    assert_partition(rows(data), len(data))


def test_two_records_of_one_line_share_its_bytes(rows: Read) -> None:
    data = LINES[-1].format(n=1, s=5).encode("latin-1") + b"\n"
    bar, record = listed(rows(data))

    assert (bar["line"], record["line"]) == (1, 1)
    assert data[record["offset"] :].startswith(b"[INFO] HCCL(")
    assert bar["length"] == record["offset"]
    assert record["message"] == "behind a bar"


def test_lines_before_any_head_are_one_record_without_one(rows: Read) -> None:
    found = listed(rows(b"  torn end\n  of something\n" + LINES[0].format(n=1, s=2).encode()))

    assert [(row["line"], row["end_line"], row["format"], row["level"]) for row in found] == [
        (1, 2, "text", None),
        (3, 3, "plog", "INFO"),
    ]


@pytest.mark.parametrize("size", [64 << 10, 5 << 20])
def test_a_long_line_is_cut_in_the_message_and_whole_in_its_span(rows: Read, size: int) -> None:
    head = LINES[5].format(n=1, s=2).encode()
    found = listed(rows(head + b"x" * size + b"\n" + head))

    assert [row["length"] for row in found] == [len(head) + size + 1, len(head)]
    assert 60_000 < len(found[0]["message"]) <= 1 << 16
    assert found[1]["line"] == 2


def test_a_run_beyond_32_bits_is_several_rows(rows: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_RUN_BYTES", 100)
    monkeypatch.setattr(read, "MAX_LINE_BYTES", 64)
    data = b"[rank0]: Traceback (most recent call last):\n" + b"  x" * 150 + b"\n"
    found = listed(rows(data, block_bytes=32))

    assert [row["length"] for row in found] == [44, 100, 100, 100, 100, 51]
    assert [row["record"] for row in found] == [0, 44, 44, 44, 44, 44]
    assert_partition(rows(data, block_bytes=32), len(data))


def test_stamps_without_a_year_follow_their_neighbours_over_new_year(rows: Read) -> None:
    line = "(Worker_TP0 pid=99) ERROR {} [executor.py:9] ValueError: x"
    data = "\n".join(line.format(stamp) for stamp in ("12-31 23:59:58", "01-01 00:00:03", "12-31 23:59:59")).encode()

    assert [row["time_local"].year for row in listed(rows(data))] == [2025, 2026, 2025]


def test_a_hostile_number_of_streams_is_forgotten_not_kept(rows: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MAX_STREAMS", 3)
    data = b"".join(b"[rank%d]: plain %d\n" % (n, n) for n in range(9)) + b"[rank0]:   of rank 0\n"
    found = listed(rows(data))

    assert found[-1]["format"] == "text"
    assert found[-1]["record"] == found[-1]["offset"]
    assert_partition(rows(data), len(data))


@given(data=CONTENT, shift_s=st.integers(-86_400, 86_400))
def test_a_clock_shifts_the_time_of_its_records_and_nothing_else(rows: Read, data: bytes, shift_s: int) -> None:
    source = Source(id=0, path="run/x.log", location="", kind="stdout", size=len(data))
    bundle = Bundle(path=".", layout="loose", sources=(source,))
    clocks = (Clock(id=0, name="reference"), Clock(id=1, name="b", offset_s=float(shift_s), basis="proven"))
    plain = listed(rows(data, source=source))
    shifted = listed(rows(data, source=source, placement=Placement(bundle=bundle, clocks=clocks, clock_of={0: 1})))

    for one, other in zip(plain, shifted, strict=True):
        if one["time"] is not None:
            one["time"] += dt.timedelta(seconds=shift_s)
        one["clock"] = 1
        assert one == other
