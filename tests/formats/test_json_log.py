"""Structured logs: what is read from a line, and that no line can do harm."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plogscope
from plogscope.formats.json_log import MAX_CHARS, MAX_FIRST, MAX_LAST, read_entry
from plogscope.formats.parse import parse_line

TRACE = "Traceback (most recent call last):\n  File \"/srv/a.py\", line 9, in load\n    return cfg['w']\nKeyError: 'w'"


def _line(**fields: object) -> str:
    return json.dumps({"ts": "2025-03-01T08:00:05.5+08:00", "level": "ERROR", **fields})


@pytest.mark.parametrize("key", ["exc", "exc_info", "exception", "stack", "stack_trace", "stacktrace"])
def test_a_traceback_is_lines_below_the_message(key: str) -> None:
    first, *below = parse_line(_line(msg="load failed", pid=31, rank=2, **{key: TRACE}).encode())
    assert first.text == "load failed"
    assert first.head is not None
    assert (first.head.level, first.head.pid, first.head.rank) == ("ERROR", 31, 2)
    assert [piece.text for piece in below] == TRACE.split("\n")
    assert [piece.head.format if piece.head else None for piece in below] == ["traceback", None, None, "exception"]
    assert all(piece.inside for piece in below)
    assert {piece.head.time_ns for piece in (first, *below) if piece.head} == {first.head.time_ns}
    assert all(piece.indented for piece in below if piece.head is None)


def test_a_message_can_be_the_head_of_another_format() -> None:
    inner = "[ERROR] RUNTIME(71,python3):2025-03-01-08:00:04.100.200 [a.cc:3]71 f:stream sync failed"
    (piece,) = parse_line(_line(msg=inner).encode())
    assert piece.head is not None
    assert (piece.text, piece.head.format, piece.head.pid) == (inner, "plog", 71)


def test_a_head_quoted_in_a_record_does_not_cut_it() -> None:
    pieces = parse_line(_line(msg="said: [ERROR] RUNTIME(71,python3):2025-03-01-08:00:04.100.200 [a.cc:3] x").encode())
    assert len(pieces) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"step": 3, "loss": 1.5}, {"text": "a sample of a data set", "label": 1}, {"message": "no time, no level"},
        {"role": "user", "content": "ERROR"}, {"msg": 7, "level": "ERROR", "ts": "2025-03-01T08:00:05"},
        {"msg": "x", "level": {"a": 1}}, {"msg": "x", "ts": True},
    ],
)  # fmt: skip
def test_other_objects_are_text(fields: dict[str, object]) -> None:
    assert read_entry(json.dumps(fields)) is None


@pytest.mark.parametrize(
    ("stamp", "millisecond"),
    [(1740787205, 0), (1740787205.25, 250), (1740787205250, 250), ("2025-03-01 00:00:05,25", 250), (17, None)],
)
def test_times_are_stamps_or_numbers(stamp: object, millisecond: int | None) -> None:
    entry = read_entry(json.dumps({"time": stamp, "severity": "warn", "message": "m"}))
    assert entry is not None
    wanted = None if millisecond is None else (1740787205_000 + millisecond) * 1_000_000
    assert (entry.head.time_ns, entry.head.level) == (wanted, "WARNING")


HOSTILE = (
    '{"' + "a" * 40_000, '{"a":' * 13_000 + "}", '{"msg":' + "[" * 60_000 + "}", '{"msg":' + "9" * 60_000 + "}",
    _line(msg="\n" * 30_000), _line(msg="a\n" * 20_000), _line(msg="\ud800\0"), _line(msg="x", ts=1e400), "{}", '{"}',
    _line(msg="x", ts="9999-99-99T99:99:99", rank=-1, pid="٣"), _line(msg="x", pid=10**30), _line(msg="y" * 70_000),
)  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_line_costs_little(line: str) -> None:
    started = time.process_time()
    pieces = parse_line(line.encode("utf-8", "replace"))
    assert time.process_time() - started < 0.5
    assert 1 <= len(pieces) <= MAX_FIRST + MAX_LAST
    assert max(len(piece.text) for piece in pieces) <= MAX_CHARS
    "".join(piece.text for piece in pieces).encode()


@given(
    fields=st.dictionaries(
        st.sampled_from(["ts", "level", "msg", "exc", "error", "record", "pid", "rank", "logger", "time"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=2),
        ),
    )
)
def test_any_object_is_read(fields: dict[str, object]) -> None:
    assert parse_line(json.dumps(fields).encode())


def _log(folder: Path, name: str, *lines: str) -> Path:
    folder.mkdir()
    (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return folder


@pytest.mark.parametrize("name", ["engine.jsonl", "service.log", "out.txt"])
def test_the_exception_of_a_structured_log_is_the_cause(tmp_path: Path, name: str) -> None:
    calm = [_line(level="INFO", msg=f"loaded shard {number}", failed=0) for number in range(4)]
    folder = _log(tmp_path / "run", name, *calm, _line(msg="load failed", exc=TRACE), _line(level="INFO", msg="exit 1"))
    report = plogscope.analyze(folder)
    root = report.verdict.root_cause
    assert root is not None
    assert (root.line, report.verdict.category) == (5, "host")
    assert any("/srv/a.py" in str(action) for action in report.next_actions)


def test_a_table_has_one_row_a_record(tmp_path: Path) -> None:
    folder = _log(tmp_path / "run", "engine.log", _line(msg="load failed", exc=TRACE), _line(level="INFO", msg="bye"))
    rows = plogscope.read_table(folder).to_pylist()
    assert [(row["line"], row["level"], row["message"]) for row in rows] == [
        (1, "ERROR", f"load failed\n{TRACE}"),
        (2, "INFO", "bye"),
    ]
    assert sum(row["length"] for row in rows) == (folder / "engine.log").stat().st_size
