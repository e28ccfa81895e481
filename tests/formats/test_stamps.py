"""Time is read as printed; what cannot be a time is None."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.stamps import DAY_NS, SECOND_NS, local_ns, month_number, with_year, yearless_ns

EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 local, as printed
MOMENTS = st.datetimes(min_value=dt.datetime(2015, 1, 1), max_value=dt.datetime(2099, 12, 31))  # noqa: DTZ001


def _ns(moment: dt.datetime) -> int:
    return (moment - EPOCH) // dt.timedelta(microseconds=1) * 1000


@given(MOMENTS, st.sampled_from("- T_"), st.booleans())
def test_a_full_stamp_round_trips(moment: dt.datetime, separator: str, dotted: bool) -> None:  # noqa: FBT001
    micros = f"{moment.microsecond:06d}"
    fraction = f"{micros[:3]}.{micros[3:]}" if dotted else micros
    assert local_ns(moment.strftime(f"%Y-%m-%d{separator}%H:%M:%S"), fraction) == _ns(moment)


@given(MOMENTS, st.integers(-170, 170))
def test_a_stamp_without_year_finds_the_year_next_to_the_reference(moment: dt.datetime, days: int) -> None:
    bare = yearless_ns(moment.month, moment.day, moment.strftime("%H:%M:%S"), f"{moment.microsecond:06d}")
    assert bare is not None
    assert with_year(bare, _ns(moment) + days * DAY_NS) == _ns(moment)


def test_the_last_second_of_december_belongs_to_the_year_before_the_reference() -> None:
    bare = yearless_ns(12, 31, "23:59:59")
    reference = local_ns("2026-01-01-00:00:02")
    assert bare is not None
    assert reference is not None
    assert with_year(bare, reference) == reference - 3 * SECOND_NS


def test_the_29th_of_february_survives_without_a_year() -> None:
    bare = yearless_ns(2, 29, "01:02:03")
    reference = local_ns("2024-03-01-00:00:00")
    assert bare is not None
    assert reference is not None
    assert with_year(bare, reference) == local_ns("2024-02-29-01:02:03")


@pytest.mark.parametrize(
    "second",
    [
        "2025-02-30-01:02:03",
        "2025-13-01-01:02:03",
        "2025-01-01-24:00:00",
        "2025-01-01-01:60:00",
        "2025-01-01-01:02:61",
        "1970-01-01-08:00:13",
        "2014-12-31-23:59:59",
        "2025-01-01",
        "xxxx-01-01-01:02:03",
        "",
    ],
)
def test_what_is_no_known_time_is_none(second: str) -> None:
    assert local_ns(second, "123") is None


@pytest.mark.parametrize(("month", "day", "clock"), [(2, 30, "01:02:03"), (0, 1, "01:02:03"), (5, 8, "29:00:00")])
def test_what_is_no_day_of_any_year_is_none(month: int, day: int, clock: str) -> None:
    assert yearless_ns(month, day, clock) is None


def test_the_first_of_january_without_a_year_is_zero_not_unknown() -> None:
    assert yearless_ns(1, 1, "00:00:00") == 0


def test_nanoseconds_are_kept() -> None:
    whole = local_ns("2025-05-08-03:20:31")
    assert whole is not None
    assert local_ns("2025-05-08-03:20:31", "678676591") == whole + 678_676_591


def test_month_names_count_from_one() -> None:
    assert (month_number("Jan"), month_number("Dec"), month_number("Foo")) == (1, 12, 0)


@given(st.text(max_size=30), st.text(max_size=12))
def test_any_text_is_a_time_or_none(second: str, fraction: str) -> None:
    assert local_ns(second, fraction) is None or second[:4].isdigit()
