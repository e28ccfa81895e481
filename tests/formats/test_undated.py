"""Lines that print the time of day and no date: they are heads, and what they say is no time yet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.parse import parse_line
from plogscope.formats.registry import classify
from plogscope.formats.stamps import DAY_NS, SECOND_NS, clock_ns, clock_step_ns, with_date

HOUR_NS = 3600 * SECOND_NS
NOON_NS = 12 * HOUR_NS


@pytest.mark.parametrize(
    ("line", "level", "clock", "message"),
    [
        ("12:00:01.500 ERROR lost the peer", "ERROR", "12:00:01.5", "lost the peer"),
        ("12:00:01,500 - INFO - trainer - step 3", "INFO", "12:00:01.5", "trainer - step 3"),
        ("12:00:01 | WARNING  | a.b:run:12 - slow", "WARNING", "12:00:01", "slow"),
        ("[12:00:01] ERROR    boom", "ERROR", "12:00:01", "boom"),
        ("[12:00:01.500] [ERROR] boom", "ERROR", "12:00:01.5", "boom"),
        ("ERROR 12:00:01 [core.py:12] boom", "ERROR", "12:00:01", "boom"),
        ("INFO:12:00:01,500:step 5", "INFO", "12:00:01.5", "step 5"),
        ("[ERROR] 12:00:01 boom", "ERROR", "12:00:01", "boom"),
        ("[E 12:00:01.500 LabApp] boom", "ERROR", "12:00:01.5", "boom"),
    ],
)
def test_the_time_of_day_is_read_and_is_no_time(line: str, level: str, clock: str, message: str) -> None:
    head = classify(line)

    assert head is not None
    assert (head.level, head.message, head.time_ns, head.time_quality) == (level, message, None, "no_date")
    assert head.clock_ns == NOON_NS + round(float(clock[6:]) * SECOND_NS)


@pytest.mark.parametrize(
    "line",
    [
        "12:34:56 up 3 days, load average: 0.1", "25:00:00 ERROR x", "12:60:00 ERROR x", "00:12<00:34, 2.0it/s",
        "12:34:56", "[12:34:56] iteration 3", "12:34:567 ERROR x", "12:34:56:78 ERROR x", "112:34:56 ERROR x",
    ],
)  # fmt: skip
def test_a_time_of_day_without_a_level_or_an_impossible_one_is_no_head(line: str) -> None:
    head = classify(line)

    assert head is None or (head.clock_ns is None and head.time_quality != "no_date")


def test_a_full_date_is_still_exact() -> None:
    head = classify("ERROR:2025-09-09 10:10:10,100:step 5")

    assert head is not None
    assert (head.time_quality, head.clock_ns) == ("exact", None)


def test_the_stamp_of_a_frame_counts_more_than_a_time_of_day_in_it() -> None:
    (piece,) = parse_line(b"(Worker_TP0 pid=99) ERROR 03-01 10:00:07 [executor.py:9] 12:00:01 - ERROR - boom")

    assert piece.head is not None
    assert (piece.head.format, piece.head.time_quality, piece.head.clock_ns) == ("py-logging", "no_year", None)


def test_what_stands_in_such_a_frame_keeps_its_own_time_or_takes_the_clock() -> None:
    own, bare = (
        parse_line(f"12:00:01 - ERROR - {text}".encode())[0].head
        for text in ("EI0006: [PID: 7] 2026-03-01-10:00:07.100.205 wait", "EI0006: wait")
    )

    assert own is not None
    assert bare is not None
    assert (own.format, own.time_quality, own.clock_ns) == ("error-manager", "exact", None)
    assert (bare.format, bare.time_quality, bare.clock_ns) == ("error-manager", "no_date", NOON_NS + SECOND_NS)


@pytest.mark.parametrize("text", ["24:00:00", "23:60:00", "23:59:61", "ab:cd:ef"])
def test_what_is_no_time_of_day_has_no_clock(text: str) -> None:
    assert clock_ns(text) is None


@given(start=st.integers(0, 4 * 10**18), steps=st.lists(st.integers(-HOUR_NS, 23 * HOUR_NS - 1), max_size=9))
def test_days_follow_from_steps_of_less_than_a_day(start: int, steps: list[int]) -> None:
    times = [start]
    for step in steps:
        times.append(times[-1] + step)
    for before, after in zip(times, times[1:]):
        assert with_date(after % DAY_NS, before) == after
        assert clock_step_ns(before % DAY_NS, after % DAY_NS) == after - before
