"""Findings: what the scan hands on.

A record is one log entry: a head line and its continuation lines. A `Finding` is one signature, or an unknown error,
seen at one line of a record; repeats are folded into it.
"""

from __future__ import annotations

import msgspec

from plogscope.model.vocabulary import TimeQuality

ProcessKey = tuple[str | None, int]
"""Node and pid: one process of the bundle."""

Writer = tuple[object, ...]
"""Whoever wrote a line, as far as is known; equal values are one writer."""


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """Who wrote a record, as far as the line and its file tell. Later stages fill what is still None.

    Attributes:
        device: As printed by the writer (logical inside a container).
        rank: World rank.
        proc: Process name, vLLM worker name or the like.
    """

    node: str | None = None
    pid: int | None = None
    tid: int | None = None
    device: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    proc: str | None = None

    @property
    def process(self) -> ProcessKey | None:
        """Node and pid, if the pid is known."""
        return None if self.pid is None else (self.node, self.pid)

    def writer(self, source: int) -> Writer:
        """The one name of whoever wrote a line of that source: the process, else the rank, else a part of the file."""
        if self.pid is not None:
            return ("pid", self.node, self.pid)
        if self.rank is not None:
            return ("rank", self.node, self.rank)
        return ("source", source, self.local_rank, self.proc)

    def names(self, source: int) -> list[Writer]:
        """All names under which lines of the same writer can be found: two of one process share at least one."""
        names: list[Writer] = []
        if self.pid is not None:
            names.append(("pid", self.node, self.pid))
        if self.rank is not None:
            names.append(("rank", self.rank))
        return names or [self.writer(source)]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A signature (or an unknown error, `signature` None) observed at one line. Never yet a cause.

    Attributes:
        line: The one line that states it; `quote` is that line verbatim.
        record_line, record_end_line: The record that it stands in.
        time_ns: Local time as printed, ns since 1970-01-01 read as if UTC; `order_ns` is the same on the bundle's
            reference clock.
        before: The time is inherited from a line further down: the record was written at some time before it.
        fields: What the signature extracts, by field name, as printed.
        template: Masked text: numbers, addresses and names replaced; the fingerprint of an unknown error.
        count: How many records were folded into this one; `last_line`, `last_time_ns` are of the last of them.
    """

    signature: str | None
    source: int
    line: int
    quote: str
    record_line: int
    record_end_line: int
    offset: int
    format: str
    level: str | None = None
    time_ns: int | None = None
    time_quality: TimeQuality = "none"
    before: bool = False
    order_ns: int | None = None
    clock: int = 0
    module: str | None = None
    func: str | None = None
    src_file: str | None = None
    actor: Actor = Actor()
    fields: dict[str, str] = {}
    template: str = ""
    count: int = 1
    last_line: int = 0
    last_time_ns: int | None = None

    @property
    def writer(self) -> Writer:
        """Findings with the same value come from one process as far as is known."""
        return self.actor.writer(self.source)

    @property
    def offset_s(self) -> float:
        """Seconds that lead from the printed time to the bundle's reference clock."""
        known = self.time_ns is not None and self.order_ns is not None
        return ((self.order_ns or 0) - (self.time_ns or 0)) / 1_000_000_000 if known else 0.0

    @property
    def is_bare_traceback(self) -> bool:
        """The head of a traceback; it is a finding only where no exception below it is."""
        return self.signature is None and self.format == "traceback"

    @property
    def nearness(self) -> int:
        """How near to the failure it was written: 2 by the layer that failed, 1 by CANN's error stack, 0 above it."""
        if self.format in FIRST_HAND_FORMATS:
            return 2
        return 1 if self.format == "error-manager" else 0


FIRST_HAND_FORMATS = frozenset({"plog", "tsch", "firmware", "mindspore"})
"""Formats that the components themselves write, not a wrapper that prints what it was told."""


BELOW_ERROR = ("DEBUG", "INFO", "WARNING")
"""Levels at which loggers of programs report no failure."""

ANNOUNCED = "announced"
"""What told of an exception that ended a thread or a child: its parent goes on and is not well for it."""


class Sequel(msgspec.Struct, frozen=True):
    """How an error stands among the records of its writer.

    Attributes:
        told: Level of the log record that an exception was printed with, `ANNOUNCED`, or None: nobody logged it.
        same_logger: The logger that told of it printed the next record as well.
        told_ns: Local time of the record that told of it, as printed.
        next_level: Level of the log record that its writer printed next; None when something else came, or nothing.
        next_ns: Local time of that record as printed.
        handled: Nobody logged it as an error, a handler inside an installed package printed it, and its writer went on
            to say something else: what nothing catches is printed from where its program or thread begins.
        next_text: The line that its stream went on with, whoever printed it and however.
    """

    told: str | None = None
    same_logger: bool = False
    told_ns: int | None = None
    next_level: str | None = None
    next_ns: int | None = None
    handled: bool = False
    next_text: str = ""
