"""Rows → record batches of the schema `ROWS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from plogscope.model.rows import CLOCKS, PROCESSES, ROWS, SOURCES
from plogscope.model.source import Skipped, Source
from plogscope.table.arrays import NULL, Ints, Words, numbers, optional_numbers, optional_texts, texts
from plogscope.table.place import Placement
from plogscope.table.shared import Kinds, Places, Writer

MAX_BATCH_ROWS = 1 << 16
MAX_BATCH_BYTES = 8 << 20
MAX_SINGLE_ROWS = 1 << 12
MAX_SHARED = 1 << 16


Row = tuple[int, int, int, int, int, int, int, int, int, int, bytes]
"""line, end line, offset, length, record, time, kind, place, func, tid, message."""


class Columns:
    """Gathers the rows of one source after the other."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._rows: list[Row] = []
        self._parts: list[tuple[int, Ints, pa.Array]] = []
        self._sealed: list[tuple[Ints, pa.Array]] = []
        self._count = 0
        self._bytes = 0
        self.kinds = Kinds(placement)
        self.places = Places()
        self.funcs = Words()
        self._paths = Words(limit=1 << 31)
        for source in placement.bundle.sources:  # all of them before the first batch, which all batches then share
            self._paths.code(source.path)
        self.era = 0
        """Codes of kinds and places are valid as long as this number stays: it changes between blocks only."""
        self.source = Source(id=0, path="", location="", kind="stdout", size=0)
        self._kept: Mapping[int, int] | None = None
        self._kept_records: set[int] = set()
        self._last_line = 0

    def begin(self, source: Source, kept: Mapping[int, int] | None = None) -> None:
        """The next rows are of this source; of the records, only those that start at the lines `kept` are wanted.

        Args:
            source: Whose rows come next; the rows before it must have been taken out.
            kept: First line → last line of the wanted records; None = all.
        """
        self.source = source
        self._begin_era()
        self._kept, self._kept_records, self._last_line = kept, set(), 0

    def _begin_era(self) -> None:
        self.era += 1
        self.kinds.begin(self.source.id)
        self.places.begin()

    def add(self, row: Row) -> None:
        """Takes in the next row of the current source."""
        if self._kept is not None and not self._wants(row, self._kept):
            return
        self._rows.append(row)
        if len(self._rows) >= MAX_SINGLE_ROWS:
            self._seal()
        self._count += 1
        self._bytes += len(row[-1])

    def extend(self, given: Ints, messages: pa.Array) -> None:
        """Takes in many rows, each the head of a record.

        Args:
            given: The ten numbers of `Row` by the rows, int64.
            messages: Theirs, a large_string array.
        """
        if self._kept is not None:
            self._last_line = int(given[0, -1])
            wanted = np.flatnonzero(np.isin(given[0], np.fromiter(self._kept, np.int64)))
            given, messages = given[:, wanted], messages.take(numbers(wanted, pa.int64()))
            self._kept_records.update(given[4].tolist())
        self._parts.append((len(self._rows), given, messages))
        self._count += len(messages)
        self._bytes += int(given[3].sum())

    def _seal(self) -> None:
        """Single rows become columns, which need little memory, and take their places between the parts."""
        parts, self._parts, rows, self._rows = self._parts, [], self._rows, []
        if rows:
            *columns, messages = zip(*rows, strict=True)
            given, single = np.array(columns, np.int64), texts(messages, pa.large_string())
        done = 0
        for before, *part in (*parts, (len(rows), None, None)):
            if before > done:
                self._sealed.append((given[:, done:before], single.slice(done, before - done)))
                done = before
            if part[0] is not None:
                self._sealed.append((part[0], part[1]))

    def _wants(self, row: Row, kept: Mapping[int, int]) -> bool:
        self._last_line = row[1]
        if row[2] == row[4] and row[0] in kept:
            self._kept_records.add(row[4])
        return row[4] in self._kept_records

    @property
    def satisfied(self) -> bool:
        """No record that is wanted of this source can follow."""
        return self._kept is not None and self._last_line > max(self._kept.values(), default=0)

    @property
    def full(self) -> bool:
        """The rows should be written before there are more."""
        return self._count >= MAX_BATCH_ROWS or self._bytes >= MAX_BATCH_BYTES or self._crowded

    @property
    def _crowded(self) -> bool:
        return len(self.kinds) + len(self.places) >= MAX_SHARED

    def batch(self) -> pa.RecordBatch | None:
        """The gathered rows, or None if there are none."""
        self._seal()
        parts, self._sealed, self._count, self._bytes = self._sealed, [], 0, 0
        arrays = None
        if parts:
            given = np.concatenate([numbers for numbers, _ in parts], axis=1)
            messages = pa.concat_arrays([some for _, some in parts])
            arrays = self._own(given, messages) | self.kinds.columns(given[6]) | self.places.columns(given[7])
        if self._crowded:
            self._begin_era()
        if arrays is None:
            return None
        return pa.RecordBatch.from_arrays([arrays[name] for name in ROWS.names], schema=ROWS)

    def _own(self, given: Ints, messages: pa.Array) -> dict[str, pa.Array]:
        source, count = self.source, len(messages)
        clock = self._placement.clock_of.get(source.id, 0)
        time = given[5]
        shifted = np.where(time == NULL, NULL, time + self._placement.shift_ns(clock))
        own = dict(zip(("line", "end_line", "offset", "length", "record", "time_local"), given[:6], strict=True))
        own |= {"tid": given[9], "time": shifted}
        own |= {"source": np.full(count, source.id), "clock": np.full(count, clock)}
        arrays = {name: numbers(values, ROWS.field(name).type) for name, values in own.items()}
        arrays["func"] = self.funcs.column(given[8])
        arrays["path"] = self._paths.column(np.full(count, self._paths.code(source.path)))
        arrays["message"] = messages
        return arrays

    def side_tables(self, skipped: Sequence[Skipped] = ()) -> dict[str, pa.Table]:
        """`sources`, `clocks` and `processes`; the last is complete after the last batch."""
        bundle, clocks, writers = self._placement.bundle, self._placement.clocks, self.kinds.processes
        reasons = {entry.path: entry.reason for entry in (*self._placement.skipped, *skipped)}
        sources: dict[str, Sequence[object]] = {
            "source": [source.id for source in bundle.sources],
            "path": [source.path for source in bundle.sources],
            "kind": [source.kind for source in bundle.sources],
            "bytes": [source.size for source in bundle.sources],
            "node": [source.node for source in bundle.sources],
            "step": [source.step for source in bundle.sources],
            "skipped": [reasons.get(source.path) for source in bundle.sources],
        }
        clock_rows: dict[str, Sequence[object]] = {
            "clock": [clock.id for clock in clocks],
            "name": [clock.name for clock in clocks],
            "offset_ns": [self._placement.shift_ns(index) for index in range(len(clocks))],
            "uncertainty_ns": [round(clock.uncertainty_s * 1_000_000_000) for clock in clocks],
            "basis": [clock.basis for clock in clocks],
        }
        processes: dict[str, Sequence[object]] = {
            name: [getattr(writer, name) for writer in writers] for name in Writer._fields
        }
        processes["process"] = list(range(len(writers)))
        return {
            "sources": _table(SOURCES, sources),
            "clocks": _table(CLOCKS, clock_rows),
            "processes": _table(PROCESSES, processes),
        }


def _table(schema: pa.Schema, columns: Mapping[str, Sequence[object]]) -> pa.Table:
    arrays = []
    for field in schema:
        values = columns[field.name]
        if pa.types.is_string(field.type):
            arrays.append(optional_texts(None if value is None else str(value) for value in values))
        else:
            arrays.append(optional_numbers((value if isinstance(value, int) else None for value in values), field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
