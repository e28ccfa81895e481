"""How much was written when, and by whom: counts per time bin and spans per process. Associative and bounded."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

MAX_BINS = 1024
MAX_WRITERS = 4096
SECOND_NS = 1_000_000_000
LEVEL_CLASSES = 4
"""Room for the level classes in a packed key."""


class Span(msgspec.Struct):
    """First and last stamp of a writer (local time as printed, ns), its records and the line of its last one."""

    first_ns: int
    last_ns: int
    records: int
    last_line: int


class Activity(msgspec.Struct):
    """Counts per bin of `1 << shift` seconds and level class (0 INFO and below, 1 WARNING, 2 ERROR and above).

    `shift` is the smallest that keeps the number of bins within `MAX_BINS`, which makes the combine associative.
    """

    bins: dict[tuple[int, int], int]
    spans: dict[int, Span]
    shift: int = 0

    def add(self, time_ns: int, level_class: int, pid: int, line: int) -> None:
        """Counts one record. `pid` is 0 when the writer is unknown."""
        key = (time_ns // SECOND_NS >> self.shift, level_class)
        self.bins[key] = self.bins.get(key, 0) + 1
        if len(self.bins) > MAX_BINS:
            self._coarsen()
        span = self.spans.get(pid)
        if span is None:
            if len(self.spans) < MAX_WRITERS:
                self.spans[pid] = Span(time_ns, time_ns, 1, line)
            return
        span.first_ns = min(span.first_ns, time_ns)
        span.last_ns = max(time_ns, span.last_ns)
        span.records += 1
        span.last_line = max(span.last_line, line)

    def add_many(self, times_ns: NDArray[np.int64], classes: NDArray[np.int64], pid: int, last_line: int) -> None:
        """Counts many records of one writer, the last of which stands at `last_line`."""
        keys, counts = np.unique((times_ns // SECOND_NS >> self.shift) * LEVEL_CLASSES + classes, return_counts=True)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            place = (key // LEVEL_CLASSES, key % LEVEL_CLASSES)
            self.bins[place] = self.bins.get(place, 0) + count
        if len(self.bins) > MAX_BINS:
            self._coarsen()
        first, last, records = int(times_ns.min()), int(times_ns.max()), len(times_ns)
        span = self.spans.get(pid)
        if span is not None:
            span.first_ns, span.last_ns = min(span.first_ns, first), max(span.last_ns, last)
            span.records += records
            span.last_line = max(span.last_line, last_line)
        elif len(self.spans) < MAX_WRITERS:
            self.spans[pid] = Span(first, last, records, last_line)

    def extend(self, later: Activity, line_shift: int) -> None:
        """Takes in the activity of a later range whose lines start after `line_shift` lines."""
        shift = max(self.shift, later.shift)
        self._coarsen_to(shift)
        for (start, level_class), count in later.bins.items():
            key = (start >> (shift - later.shift), level_class)
            self.bins[key] = self.bins.get(key, 0) + count
        if len(self.bins) > MAX_BINS:
            self._coarsen()
        for pid, span in later.spans.items():
            mine = self.spans.get(pid)
            line = span.last_line + line_shift
            if mine is None:
                if len(self.spans) < MAX_WRITERS:
                    self.spans[pid] = Span(span.first_ns, span.last_ns, span.records, line)
                continue
            mine.first_ns = min(mine.first_ns, span.first_ns)
            mine.last_ns = max(mine.last_ns, span.last_ns)
            mine.records += span.records
            mine.last_line = max(mine.last_line, line)

    def _coarsen(self) -> None:
        while len(self.bins) > MAX_BINS:
            self._coarsen_to(self.shift + 1)

    def _coarsen_to(self, shift: int) -> None:
        step = shift - self.shift
        if step <= 0:
            return
        coarse: dict[tuple[int, int], int] = {}
        for (start, level_class), count in self.bins.items():
            key = (start >> step, level_class)
            coarse[key] = coarse.get(key, 0) + count
        self.bins = coarse
        self.shift = shift
