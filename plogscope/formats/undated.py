"""Logging that prints the time of day and no date: `12:34:56.789 ERROR text`, `[12:34:56] INFO text`.

A time alone is no head, because many tools print one: a level must stand beside it. The styles are those of
`py_logging`, and so is the name of the format; `[E 12:34:56.789 name] text` is that of Tornado.
"""

from __future__ import annotations

import re

import msgspec

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.glog import LEVELS
from plogscope.formats.py_logging import LEVEL, by_fields, head_of, level_of
from plogscope.formats.stamps import clock_ns

ORDER = 195

_CLOCK = r"(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?"
_TIME_FIRST = re.compile(rf"{_CLOCK}(?=[\s\[|,\-])", re.ASCII)
_BRACKET_TIME = re.compile(rf"\s?\[{_CLOCK}\]", re.ASCII)
_LEVEL_FIRST = re.compile(rf"\[?({LEVEL})\]?[:\s]{{1,8}}\[?{_CLOCK}\]?(?=[:\s\-])[:\s\-]{{1,8}}", re.ASCII)
_TORNADO = re.compile(rf"\[([DIWEC]) {_CLOCK} ([^\s\]]{{1,120}})\] ?", re.ASCII)


def _at(head: Head, clock: str, fraction: str | None) -> Head | None:
    """The head with its time of day; None without a level, or if there is no such time."""
    since_midnight_ns = clock_ns(clock, fraction)
    if head.level is None or since_midnight_ns is None:
        return None
    return msgspec.structs.replace(head, time_quality="no_date", clock_ns=since_midnight_ns)


def time_head(text: str) -> Head | None:
    """Styles that begin with the time."""
    found = _TIME_FIRST.match(text)
    return None if found is None else _at(by_fields(text, found.end(), None), found[1], found[2])


def bracket_head(text: str) -> Head | None:
    """Styles that begin with a bracket: a time, a level, the letter of one."""
    found = _BRACKET_TIME.match(text)
    if found is not None:
        return _at(by_fields(text, found.end(), None), found[1], found[2])
    found = _TORNADO.match(text)
    if found is not None:
        letter, clock, fraction, module = found.groups()
        return _at(head_of(text[found.end() :], LEVELS[letter], None, module), clock, fraction)
    return level_head(text)


def level_head(text: str) -> Head | None:
    """Styles that begin with a level."""
    found = _LEVEL_FIRST.match(text)
    if found is None:
        return None
    level, clock, fraction = found.groups()
    return _at(head_of(text[found.end() :], level_of(level), None), clock, fraction)


FORMATS = (
    Format(
        name="py-logging",
        head=time_head,
        starts="0123456789",
        samples=(
            Sample(line="12:34:56.789 ERROR lost the peer", level="ERROR", message="lost the peer"),
            Sample(line="12:34:56,789 - INFO - trainer - step 3", level="INFO", message="trainer - step 3"),
            Sample(line="12:34:56 | WARNING  | a.b:run:12 - slow", level="WARNING", message="slow"),
        ),
    ),
    Format(
        name="py-logging",
        head=bracket_head,
        starts="[ \t",
        samples=(
            Sample(line="[12:34:56] ERROR    boom", level="ERROR", message="boom"),
            Sample(line="[12:34:56.789] [ERROR] boom", level="ERROR", message="boom"),
            Sample(line="[WARNING] 12:34:56 slow", level="WARNING", message="slow"),
            Sample(line="[E 12:34:56.789 LabApp] boom", level="ERROR", message="boom"),
        ),
    ),
    Format(
        name="py-logging",
        head=level_head,
        starts="DIWECF",
        samples=(
            Sample(line="ERROR 12:34:56 [core.py:12] boom", level="ERROR", message="boom"),
            Sample(line="INFO:12:34:56,789:step 5", level="INFO", message="step 5"),
        ),
    ),
)
