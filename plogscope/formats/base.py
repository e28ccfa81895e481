"""What a format is: a head recogniser with samples. Values only; the registry is `plogscope.formats.registry`."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from plogscope.model.vocabulary import TimeQuality


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What the first line of a record says.

    Attributes:
        format: Name of the format.
        message: The line without the head.
        level: DEBUG, INFO, WARNING, ERROR, CRITICAL or EVENT; None when the format has no level.
        time_ns: Local time as printed, ns since 1970-01-01 read as if UTC. With `no_year` the year is 1970 and a
            later stage fills it from neighbours. With `no_date` it is None.
        clock_ns: Time of day in ns since midnight, of a line that prints no date; what reads the whole source knows
            the day.
        carrier: The head is only a frame that a logging library puts round *every* line of somebody else's text
            (vLLM, Python logging): its message may hold the head of another format or a continuation line.
    """

    format: str
    message: str
    level: str | None = None
    time_ns: int | None = None
    time_quality: TimeQuality = "none"
    clock_ns: int | None = None
    module: str | None = None
    pid: int | None = None
    tid: int | None = None
    proc: str | None = None
    src_file: str | None = None
    src_line: int | None = None
    func: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    device: int | None = None
    carrier: bool = False


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the prefixes of a line say about its writer. Equal facts = same stream of an interleaved file.

    Attributes:
        stream: The prefixes that name a writer (rank, worker and pid, host), as printed and joined; "" = none. Equal
            `stream` means that a continuation line belongs to the last record of that stream.
        receipt_ns: Time added by a driver, a container runtime or a CI system: when the line arrived, never the
            event time.
    """

    stream: str = ""
    rank: int | None = None
    local_rank: int | None = None
    pid: int | None = None
    proc: str | None = None
    host: str | None = None
    receipt_ns: int | None = None


NO_FACTS = Facts()


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A line that belongs to exactly this format, with what must be read from it. Unset fields are not compared."""

    line: str
    level: str | None = None
    time: str | None = None
    """ISO local time, for example `2025-10-14T13:40:43.416520`."""
    pid: int | None = None
    tid: int | None = None
    message: str | None = None


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """One log format. A format without samples does not load.

    Attributes:
        head: Returns the head if the line (prefixes peeled, no line end) starts a record of this format, else None.
        starts: Cheap test before `head`: the first characters that such a line can have; empty = any.
    """

    name: str
    head: Callable[[str], Head | None]
    samples: tuple[Sample, ...]
    starts: str = ""
