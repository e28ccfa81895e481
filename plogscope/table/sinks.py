"""Where the rows go: Parquet, Arrow or CSV, written whole or not at all, with the side tables beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from plogscope.errors import InputError, UsageError

GROUP_BYTES = 16 << 20
"""A row group of Parquet: larger ones are read faster, and held in memory while they are written."""

_FORMULA = r"\A[=+\-@\t\r\n]"
"""What makes a spreadsheet run a cell."""


class Sink(Protocol):
    """Takes in batches of one schema."""

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes the next rows."""

    def close(self) -> None:
        """Completes the file."""


OWN_BYTES = 1 << 14
"""What a batch needs beside its texts: folders can hold thousands of files of one line."""


class ParquetSink:
    """zstd-compressed Parquet; the fastest level loses little."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Opens the file."""
        from pyarrow import parquet  # noqa: PLC0415 - the other formats do not pay for it

        coded = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        counted = [
            field.name for field in schema if pa.types.is_integer(field.type) or pa.types.is_timestamp(field.type)
        ]
        self._schema = schema
        self._writer = parquet.ParquetWriter(
            path,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=coded,
            column_encoding=dict.fromkeys(counted, "DELTA_BINARY_PACKED"),  # a fifth smaller, and faster: most ascend
            write_statistics=True,
        )
        self._held: list[pa.RecordBatch] = []
        self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Holds the rows until they fill a group."""
        self._held.append(batch)
        self._bytes += OWN_BYTES + (batch.column("message").nbytes if "message" in batch.schema.names else batch.nbytes)
        if self._bytes >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held, self._bytes = [], 0

    def close(self) -> None:
        """Writes the last group and the footer."""
        self._flush()
        self._writer.close()


class ArrowSink:
    """Arrow IPC file (Feather V2), lz4; dictionaries grow by deltas."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Opens the file."""
        options = pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)
        self._writer = pa.ipc.new_file(str(path), schema, options=options)

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes the rows."""
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Writes the footer."""
        self._writer.close()


class CsvSink:
    """UTF-8 CSV with a header. A text that a spreadsheet would run as a formula gets an apostrophe before it."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Opens the file."""
        from pyarrow import csv  # noqa: PLC0415 - the other formats do not pay for it

        self._schema = pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])
        self._writer = csv.CSVWriter(str(path), self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes the rows."""
        columns = [_harmless(column, _plain(column.type)) for column in batch.columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Completes the file."""
        self._writer.close()


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _harmless(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(column, pa.DictionaryArray):
        return _harmless(column.dictionary, kind).take(column.indices)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pc.replace_substring_regex(column, pattern=f"({_FORMULA})", replacement=r"'\1")
    return column


SINKS: Mapping[str, type[ParquetSink | ArrowSink | CsvSink]] = {
    ".parquet": ParquetSink,
    ".arrow": ArrowSink,
    ".csv": CsvSink,
}


def sink_of(path: Path) -> type[ParquetSink | ArrowSink | CsvSink]:
    """The sink of the suffix.

    Raises:
        UsageError: No format is written under that suffix.
    """
    found = SINKS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"{path.name} names no format of a table", f"end it with {', '.join(SINKS)}")
    return found


class Output:
    """One table that becomes visible when it is complete."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        """Opens a hidden file beside `path`.

        Raises:
            UsageError: The suffix names no format.
            InputError: The file cannot be written.
        """
        kind = sink_of(path)
        self._path = path
        self._partial = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._sink: Sink = kind(self._partial, schema)
        except OSError as error:
            raise _unwritable(path, error) from error

    def write(self, batch: pa.RecordBatch) -> None:
        """Writes the next rows.

        Raises:
            InputError: The disk is full, or the like.
        """
        try:
            self._sink.write(batch)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def publish(self) -> None:
        """Completes the file and gives it its name.

        Raises:
            InputError: The file cannot be completed.
        """
        try:
            self._sink.close()
            self._partial.replace(self._path)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def discard(self) -> None:
        """Leaves nothing behind."""
        self._partial.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written ({error.strerror or error})", "choose another place with -o")
