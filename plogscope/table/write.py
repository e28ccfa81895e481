"""Sources of a bundle → rows in a file, or one table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from plogscope.formats.base import Head
from plogscope.formats.parse import parse_line
from plogscope.formats.stamps import DAY_NS, FIRST_DATED_NS, clock_step_ns
from plogscope.model.rows import ROWS
from plogscope.model.source import Skipped, Source
from plogscope.opening import open_log
from plogscope.scan.engine import RECORD_KINDS, STATEMENTS
from plogscope.scan.read import read_blocks
from plogscope.table.columns import Columns
from plogscope.table.ordinary import Ordinary
from plogscope.table.place import Placement
from plogscope.table.runs import Runs
from plogscope.table.sinks import Output
from plogscope.table.targets import side_path

BLOCK_BYTES = 1 << 20
FIRST_BLOCK_BYTES = 1 << 14
LOOK_AHEAD_BYTES = 1 << 20
"""The first stamp of a source is sought in its first megabyte: records before it inherit that stamp."""

Kept = Mapping[int, Mapping[int, int]]
"""Source id → first line → last line of the records that are wanted."""


def write_table(placement: Placement, path: Path, kept: Kept | None = None) -> None:
    """Writes the rows and, as `<stem>.sources|clocks|processes<suffix>`, the side tables.

    Args:
        placement: The bundle and what is known about it.
        path: `.parquet`, `.arrow` or `.csv`.
        kept: Only these records; None = all.

    Raises:
        UsageError: The suffix names no format.
        InputError: The file cannot be written.
    """
    columns = Columns(placement)
    skipped: list[Skipped] = []
    outputs = [Output(path, _described(placement))]
    try:
        for batch in batches(placement, columns, skipped, kept):
            outputs[0].write(batch)
        for name, table in columns.side_tables(skipped).items():
            outputs.append(Output(side_path(path, name), table.schema))
            for batch in table.to_batches():
                outputs[-1].write(batch)
        for output in outputs:
            output.publish()
    finally:
        for output in outputs:
            output.discard()


def table_of(placement: Placement) -> pa.Table:
    """All rows in memory: for bundles of moderate size."""
    columns = Columns(placement)
    rows = list(batches(placement, columns, []))
    return pa.Table.from_batches(rows, _described(placement)).unify_dictionaries()


def _described(placement: Placement) -> pa.Schema:
    return ROWS.with_metadata({"plogscope.rows": "1", "plogscope.time": placement.reference})


def batches(
    placement: Placement, columns: Columns, skipped: list[Skipped], kept: Kept | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of all record sources in the order of the bundle; `skipped` gets what could not be read after all."""
    ordinary = Ordinary(columns)
    for source in placement.bundle.sources:
        if not _holds_records(source) or (kept is not None and not kept.get(source.id)):
            continue
        columns.begin(source, None if kept is None else kept[source.id])
        try:
            with open_log(source.location) as stream:
                yield from _source_batches(stream, source, placement, columns, ordinary)
        except OSError as error:
            skipped.append(Skipped(source.path, error.strerror or type(error).__name__))
        if (batch := columns.batch()) is not None:
            yield batch


def _holds_records(source: Source) -> bool:
    return source.kind in RECORD_KINDS or source.path.rsplit("/", 1)[-1] in STATEMENTS


def _source_batches(
    stream: BinaryIO, source: Source, placement: Placement, columns: Columns, ordinary: Ordinary
) -> Iterator[pa.RecordBatch]:
    first_ns = _first_stamp(stream)
    reference = placement.year_reference_ns.get(source.id) or FIRST_DATED_NS
    runs = Runs(source, columns, ordinary, first_ns=first_ns, year_reference_ns=reference)
    for block in read_blocks(stream, block_bytes=BLOCK_BYTES):
        runs.take(block)
        if columns.full and (batch := columns.batch()) is not None:
            yield batch
        if columns.satisfied:
            break
    else:
        runs.done()


def _first_stamp(stream: BinaryIO) -> int | None:
    """The time of the first record that prints one, if a stamp with a date stands in the first megabyte.

    As printed; from times of day before that stamp the days are counted back.
    """
    clock_ns: int | None = None
    passed_ns = 0
    for head in _heads(stream):
        if head.time_ns is not None:
            if clock_ns is None:
                return head.time_ns
            return head.time_ns - clock_step_ns(clock_ns, head.time_ns % DAY_NS) - passed_ns
        if head.clock_ns is not None:
            passed_ns += 0 if clock_ns is None else clock_step_ns(clock_ns, head.clock_ns)
            clock_ns = head.clock_ns
    return None


def _heads(stream: BinaryIO) -> Iterator[Head]:
    for block in read_blocks(stream, 0, LOOK_AHEAD_BYTES, FIRST_BLOCK_BYTES):
        for raw in block.data.split(b"\n"):
            yield from (piece.head for piece in parse_line(raw) if piece.head is not None)
