"""Time as logs print it, to nanoseconds. All times are local, read as if UTC: zones are a matter of later stages.

Lines of one second share a cache entry, so the hot path is one dictionary look-up and one `int`.
"""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

SECOND_NS = 1_000_000_000
DAY_NS = 86_400 * SECOND_NS

FIRST_KNOWN_YEAR, LAST_KNOWN_YEAR = 2015, 2100
"""Before the first time synchronisation a device writes 1970 dates: order holds, time does not."""

FIRST_DATED_NS = (dt.date(FIRST_KNOWN_YEAR, 1, 1) - dt.date(1970, 1, 1)).days * DAY_NS
"""An earlier stamp is one without a year (read as 1970 or 1972), or one of a clock that was never set."""

OVERTAKEN_NS = 3600 * SECOND_NS

NO_YEAR = 1970
_NO_YEAR_LEAP = 1972
"""Home of 29 February without a year: 1970 has none."""

_CACHE_LIMIT = 8192
_SECOND_LENGTH = 19
_FRACTION_DIGITS = 9
_SCALES = (1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000, 100, 10, 1)
_LAST_HOUR, _LAST_MINUTE, _LAST_SECOND = 23, 59, 60
_EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()
_LEAP_SPAN_YEARS = 8
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}

_seconds: dict[str, int | None] = {}


@lru_cache(maxsize=4096)
def day_ns(year: int, month: int, day: int) -> int | None:
    """Midnight of that day, or None if there is no such day."""
    try:
        return (dt.date(year, month, day).toordinal() - _EPOCH_ORDINAL) * DAY_NS
    except ValueError:
        return None


def clock_ns(clock: str, fraction: str | None = None) -> int | None:
    """`HH:MM:SS` and its fraction as ns since midnight; None if there is no such time."""
    try:
        hour, minute, second = int(clock[0:2]), int(clock[3:5]), int(clock[6:8])
    except ValueError:
        return None
    if hour > _LAST_HOUR or minute > _LAST_MINUTE or second > _LAST_SECOND or min(hour, minute, second) < 0:
        return None
    return (hour * 3600 + minute * 60 + second) * SECOND_NS + fraction_ns(fraction)


def clock_step_ns(before_ns: int, after_ns: int) -> int:
    """How long it is from one time of day to that of a later line: less than a day, or a little back.

    Writers of one log overtake each other by less than `OVERTAKEN_NS`.
    """
    return (after_ns - before_ns + OVERTAKEN_NS) % DAY_NS - OVERTAKEN_NS


def with_date(time_of_day_ns: int, reference_ns: int) -> int:
    """The time of a line that prints no date, ns since 1970: that which follows from the line before it.

    Args:
        time_of_day_ns: As `clock_ns` returned it.
        reference_ns: A full local time from the same file, shortly before the line.
    """
    return reference_ns + clock_step_ns(reference_ns % DAY_NS, time_of_day_ns)


def fraction_ns(fraction: str | None) -> int:
    """`520`, `416.520`, `416520` or nine digits after the second, in ns."""
    if not fraction:
        return 0
    digits = fraction.replace(".", "")[:_FRACTION_DIGITS]
    try:
        return int(digits) * _SCALES[len(digits)]
    except ValueError:
        return 0


def _read_second(second: str) -> int | None:
    """`YYYY?mm?dd?HH:MM:SS` without the cache."""
    if len(second) != _SECOND_LENGTH:
        return None
    try:
        year, month, day = int(second[0:4]), int(second[5:7]), int(second[8:10])
    except ValueError:
        return None
    if not FIRST_KNOWN_YEAR <= year <= LAST_KNOWN_YEAR:
        return None
    midnight = day_ns(year, month, day)
    clock = clock_ns(second[11:19])
    return None if midnight is None or clock is None else midnight + clock


def local_ns(second: str, fraction: str | None = None) -> int | None:
    """Time of `YYYY-mm-dd-HH:MM:SS` (any single separators), or None if impossible or before time was known.

    Args:
        second: Exactly 19 characters.
        fraction: Digits after the second; a dot between ms and us is allowed.
    """
    try:
        base = _seconds[second]
    except KeyError:
        if len(_seconds) >= _CACHE_LIMIT:
            _seconds.clear()
        base = _seconds[second] = _read_second(second)
    if base is None or not fraction:
        return base
    return base + fraction_ns(fraction)


def yearless_ns(month: int, day: int, clock: str, fraction: str | None = None) -> int | None:
    """Time without a year, put into 1970 (29 February: 1972); None if there is no such day or time."""
    midnight = day_ns(NO_YEAR, month, day) or (0 if (month, day) == (1, 1) else None)
    if midnight is None:
        midnight = day_ns(_NO_YEAR_LEAP, month, day)
    since_midnight = clock_ns(clock)
    if midnight is None or since_midnight is None:
        return None
    return midnight + since_midnight + fraction_ns(fraction)


def month_number(name: str) -> int:
    """1 for `Jan` and so on; 0 if it is no month."""
    return _MONTHS.get(name, 0)


def with_year(time_ns: int, reference_ns: int) -> int:
    """A time without a year in the year that brings it nearest to a reference (31 December rolls over).

    Args:
        time_ns: As `yearless_ns` returned it.
        reference_ns: A full local time from the same file or run.
    """
    stamp = dt.date.fromordinal(_EPOCH_ORDINAL + time_ns // DAY_NS)
    since_midnight = time_ns % DAY_NS
    try:
        year = dt.date.fromordinal(_EPOCH_ORDINAL + reference_ns // DAY_NS).year
    except (ValueError, OverflowError):
        return time_ns
    candidates = (
        midnight + since_midnight
        for near in range(max(1, year - _LEAP_SPAN_YEARS), min(9999, year + _LEAP_SPAN_YEARS) + 1)
        if (midnight := day_ns(near, stamp.month, stamp.day)) is not None
    )
    return min(candidates, key=lambda candidate: abs(candidate - reference_ns), default=time_ns)
