"""Rows → record batches of the schema `ROWS`; what rows share is looked up once per batch, not once per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from plogscope.model.rows import CLOCKS, PROCESSES, ROWS, SOURCES
from plogscope.model.source import Skipped, Source
from plogscope.table.arrays import NULL, Ints, Words, numbers, optional_numbers, optional_texts, texts
from plogscope.table.place import Placement

MAX_BATCH_ROWS = 1 << 16
MAX_BATCH_BYTES = 8 << 20
MAX_SHARED = 1 << 16
MAX_PROCESSES = 1 << 16


class Writer(NamedTuple):
    """Who wrote a record, as its lines and its file say."""

    node: str | None
    pid: int | None
    device: int | None
    rank: int | None
    local_rank: int | None
    proc: str | None


class Kind(NamedTuple):
    """What many records share: format, level, quality of the time, module and writer."""

    format: str
    level: str | None
    time_quality: str
    module: str | None
    writer: Writer


Row = tuple[int, int, int, int, int, int, int, int, int, int, bytes]
"""line, end line, offset, length, record, time, kind, place, func, tid, message."""


class Columns:
    """Gathers the rows of one source after the other."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._rows: list[Row] = []
        self._parts: list[tuple[Ints, Sequence[bytes]]] = []
        self._count = 0
        self._bytes = 0
        self._kinds: dict[Kind, int] = {}
        self._places: dict[tuple[str | None, int | None], int] = {}
        self._processes: dict[Writer, int] = {}
        self._words = {name: Words() for name in ("format", "level", "time_quality", "module", "src_file", "func")}
        self._nodes = Words()
        self._paths = Words(limit=1 << 31)
        self.batches = 0
        """How many batches were taken out: codes of kinds and places are valid within one."""
        self.source = Source(id=0, path="", location="", kind="stdout", size=0)
        self._kept: Mapping[int, int] | None = None
        self._kept_records: set[int] = set()
        self._last_line = 0

    def kind(self, kind: Kind) -> int:
        """The code of what the record shares with others, valid until the next `batch`."""
        code = self._kinds.get(kind)
        if code is None:
            code = self._kinds[kind] = len(self._kinds)
        return code

    def place(self, src_file: str | None, src_line: int | None) -> int:
        """The code of a position in the source code, valid until the next `batch`."""
        code = self._places.get((src_file, src_line))
        if code is None:
            code = self._places[src_file, src_line] = len(self._places)
        return code

    def func(self, name: str | None) -> int:
        """The code of a function name."""
        return self._words["func"].code(name)

    def begin(self, source: Source, kept: Mapping[int, int] | None = None) -> None:
        """The next rows are of this source; of the records, only those that start at the lines `kept` are wanted.

        Args:
            source: Whose rows come next; the rows before it must have been taken out.
            kept: First line → last line of the wanted records; None = all.
        """
        self.source = source
        self._kept, self._kept_records, self._last_line = kept, set(), 0

    def add(self, row: Row) -> None:
        """Takes in the next row of the current source."""
        if self._kept is not None and not self._wants(row, self._kept):
            return
        self._rows.append(row)
        self._count += 1
        self._bytes += len(row[-1])

    def extend(self, numbers: Ints, messages: Sequence[bytes]) -> None:
        """Takes in many rows: an int64 matrix of the ten numbers of `Row` by the rows, and their messages."""
        if self._kept is not None:
            for row, message in zip(numbers.T.tolist(), messages, strict=True):
                self.add((*row, message))
            return
        self._seal()
        self._parts.append((numbers, messages))
        self._count += len(messages)
        self._bytes += int(numbers[3].sum())

    def _seal(self) -> None:
        """Single rows become a part, so that the order stays."""
        if self._rows:
            *columns, messages = zip(*self._rows, strict=True)
            self._parts.append((np.array(columns, np.int64), messages))
            self._rows = []

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
        return (
            self._count >= MAX_BATCH_ROWS
            or self._bytes >= MAX_BATCH_BYTES
            or len(self._kinds) + len(self._places) >= MAX_SHARED
        )

    def batch(self) -> pa.RecordBatch | None:
        """The gathered rows, or None if there are none; codes given before are void."""
        self._seal()
        parts, self._parts, self._count, self._bytes = self._parts, [], 0, 0
        self.batches += 1
        kinds, self._kinds = list(self._kinds), {}
        places, self._places = list(self._places), {}
        if not parts:
            return None
        given = np.concatenate([numbers for numbers, _ in parts], axis=1)
        messages = [message for _, some in parts for message in some]
        arrays = self._own(given, messages) | self._shared(given[6], kinds) | self._placed(given[7], places)
        return pa.RecordBatch.from_arrays([arrays[name] for name in ROWS.names], schema=ROWS)

    def _own(self, given: Ints, messages: list[bytes]) -> dict[str, pa.Array]:
        source, count = self.source, len(messages)
        clock = self._placement.clock_of.get(source.id, 0)
        time = given[5]
        shifted = np.where(time == NULL, NULL, time + self._placement.shift_ns(clock))
        own = dict(zip(("line", "end_line", "offset", "length", "record", "time_local"), given[:6], strict=True))
        own |= {"tid": given[9], "time": shifted}
        own |= {"source": np.full(count, source.id), "clock": np.full(count, clock)}
        arrays = {name: numbers(values, ROWS.field(name).type) for name, values in own.items()}
        arrays["func"] = self._words["func"].column(given[8])
        arrays["path"] = self._paths.column(np.full(count, self._paths.code(source.path)))
        arrays["message"] = texts(messages, pa.large_string())
        return arrays

    def _shared(self, codes: Ints, kinds: list[Kind]) -> dict[str, pa.Array]:
        def looked_up(values: list[int | None]) -> Ints:
            return np.array([NULL if value is None else value for value in values], np.int64)[codes]

        writers = [self._completed(kind.writer) for kind in kinds]
        arrays = {
            name: self._words[name].column(looked_up([self._words[name].code(getattr(kind, name)) for kind in kinds]))
            for name in ("format", "level", "time_quality", "module")
        }
        arrays["node"] = self._nodes.column(looked_up([self._nodes.code(writer.node) for writer in writers]))
        processes: list[int | None] = [None] * len(kinds)
        used, first = np.unique(codes, return_index=True)
        for code in used[np.argsort(first)].tolist():  # numbered in the order of the rows, however they were read
            processes[code] = self._process(writers[code])
        arrays["process"] = numbers(looked_up(processes), pa.int32())
        for name in ("pid", "rank", "device"):
            column = looked_up([getattr(writer, name) for writer in writers])
            arrays[name] = numbers(column, ROWS.field(name).type)
        return arrays

    def _placed(self, codes: Ints, places: list[tuple[str | None, int | None]]) -> dict[str, pa.Array]:
        words = self._words["src_file"]
        files = np.array([words.code(file) for file, _ in places], np.int64)
        lines = np.array([NULL if line is None else line for _, line in places], np.int64)
        return {"src_file": words.column(files[codes]), "src_line": numbers(lines[codes], pa.int32())}

    def _completed(self, writer: Writer) -> Writer:
        """The writer with what other lines of the bundle say about the same process."""
        pid = writer.pid if writer.pid is not None else self._placement.sole.get(self.source.id)
        node = self._placement.homes.node(writer.node, pid)
        known = self._placement.processes.get((node, pid)) if pid is not None else None
        if known is None:
            return writer._replace(pid=pid, node=node)
        return writer._replace(
            node=node,
            pid=pid,
            device=writer.device if writer.device is not None else known.device,
            rank=writer.rank if writer.rank is not None else known.rank,
        )

    def _process(self, writer: Writer) -> int | None:
        found = self._processes.get(writer)
        if found is None and len(self._processes) < MAX_PROCESSES and any(value is not None for value in writer[1:]):
            found = self._processes[writer] = len(self._processes)
        return found

    def side_tables(self, skipped: Sequence[Skipped] = ()) -> dict[str, pa.Table]:
        """`sources`, `clocks` and `processes`; the last is complete after the last batch."""
        bundle, clocks, writers = self._placement.bundle, self._placement.clocks, list(self._processes)
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
