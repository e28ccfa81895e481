"""How much was written when, and by whom: counts per time bin and spans per process. Associative and bounded."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from plogscope.formats.stamps import SECOND_NS

MAX_BINS = 1024
MAX_WRITERS = 4096
LEVEL_CLASSES = 4
"""Room for the level classes in a packed key."""

MOST_KEYS = 1 << 16
"""Of keys that lie further apart the array of counts would be larger than sorting is slow."""

FEW_WRITERS = 8


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
        self._add_span(pid, Span(time_ns, time_ns, 1, line))

    def add_many(
        self, seconds: NDArray[np.int64], times_ns: NDArray[np.int64], classes: NDArray[np.int64],
        pids: NDArray[np.int64], lines: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Counts many records at once; the arrays are parallel, and neither empty nor unordered in `lines`.

        `seconds` are the whole seconds of `times_ns`.
        """
        keys = (seconds >> self.shift) * LEVEL_CLASSES + classes
        lowest = int(keys.min())
        if int(keys.max()) - lowest < MOST_KEYS:
            counts = np.bincount(keys - lowest)
            present = np.flatnonzero(counts)
            found = zip((present + lowest).tolist(), counts[present].tolist(), strict=True)
        else:
            unique, counts = np.unique(keys, return_counts=True)
            found = zip(unique.tolist(), counts.tolist(), strict=True)
        for key, count in found:
            place = (key // LEVEL_CLASSES, key % LEVEL_CLASSES)
            self.bins[place] = self.bins.get(place, 0) + count
        if len(self.bins) > MAX_BINS:
            self._coarsen()
        self._add_spans(times_ns, pids, lines)

    def _add_spans(self, times_ns: NDArray[np.int64], pids: NDArray[np.int64], lines: NDArray[np.int64]) -> None:
        """One mask a writer as long as writers are few, which they nearly always are; sorting for the rest."""
        for _ in range(FEW_WRITERS):
            pid = int(pids[0])
            own = pids == pid
            times = times_ns[own]
            span = Span(int(times.min()), int(times.max()), len(times), int(lines[own][-1]))
            self._add_span(pid, span)
            if len(times) == len(pids):
                return
            pids, times_ns, lines = pids[~own], times_ns[~own], lines[~own]
        order = np.argsort(pids, kind="stable")
        writers, begins = np.unique(pids[order], return_index=True)
        stops = np.append(begins[1:], len(order))
        firsts, lasts = np.minimum.reduceat(times_ns[order], begins), np.maximum.reduceat(times_ns[order], begins)
        ends = lines[order][stops - 1]
        for pid, first, last, records, line in zip(
            writers.tolist(), firsts.tolist(), lasts.tolist(), (stops - begins).tolist(), ends.tolist(), strict=True
        ):
            self._add_span(pid, Span(first, last, records, line))

    def _add_span(self, pid: int, more: Span) -> None:
        span = self.spans.get(pid)
        if span is not None:
            span.first_ns, span.last_ns = min(span.first_ns, more.first_ns), max(span.last_ns, more.last_ns)
            span.records += more.records
            span.last_line = max(span.last_line, more.last_line)
        elif len(self.spans) < MAX_WRITERS:
            self.spans[pid] = more

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
            more = Span(span.first_ns, span.last_ns, span.records, span.last_line + line_shift)
            self._add_span(pid, more)

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
