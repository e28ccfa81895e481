"""Columns of the table of records, and of its side tables.

One row is one *run*: consecutive lines of one record. Almost every record is one run; the lines of a record that other
streams interrupt are several, and share `record`. So the spans (`offset`, `length`) of the rows of a source, in order,
partition its bytes.

Importing this module imports pyarrow: only the stage that writes the table does.
"""

from __future__ import annotations

import pyarrow as pa

TEXT = pa.dictionary(pa.int32(), pa.string())
STAMP = pa.timestamp("ns")

ROWS: pa.Schema = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("line", pa.uint32(), nullable=False),
        pa.field("end_line", pa.uint32(), nullable=False),
        pa.field("offset", pa.uint64(), nullable=False),
        pa.field("length", pa.uint32(), nullable=False),
        pa.field("record", pa.uint64(), nullable=False),
        pa.field("time_local", STAMP),
        pa.field("time_quality", TEXT, nullable=False),
        pa.field("clock", pa.int32(), nullable=False),
        pa.field("process", pa.int32()),
        pa.field("format", TEXT, nullable=False),
        pa.field("level", TEXT),
        pa.field("module", TEXT),
        pa.field("src_file", TEXT),
        pa.field("src_line", pa.int32()),
        pa.field("func", TEXT),
        pa.field("tid", pa.int64()),
        pa.field("message", pa.large_string(), nullable=False),
        pa.field("time", STAMP),
        pa.field("path", TEXT, nullable=False),
        pa.field("node", TEXT),
        pa.field("pid", pa.int64()),
        pa.field("rank", pa.int32()),
        pa.field("device", pa.int32()),
    ]
)
"""`line`, `end_line`: first and last line of the run, 1-based. `offset`, `length`: its bytes, line end included; of
a log that is packed or in UTF-16 those of its text in UTF-8.
`record`: offset of the first byte of its record; a row with `offset == record` is the head of one. `time_local`: as
printed, read as if UTC. `time_quality` `no_date`: the line prints a time of day, and its day follows from the dated
lines of the same source; without any, `time_local` is null. `time`: the same on the reference clock. The last six
columns are looked up in the side tables.
`message` is the decoded view without prefixes and head, cut at `MAX_MESSAGE_CHARS`; the bytes are at the address."""

SOURCES: pa.Schema = pa.schema(
    [
        pa.field("source", pa.int32(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("bytes", pa.int64(), nullable=False),
        pa.field("node", pa.string()),
        pa.field("step", pa.string()),
        pa.field("skipped", pa.string()),
    ]
)
CLOCKS: pa.Schema = pa.schema(
    [
        pa.field("clock", pa.int32(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("offset_ns", pa.int64(), nullable=False),
        pa.field("uncertainty_ns", pa.int64(), nullable=False),
        pa.field("basis", pa.string(), nullable=False),
    ]
)
PROCESSES: pa.Schema = pa.schema(
    [
        pa.field("process", pa.int32(), nullable=False),
        pa.field("node", pa.string()),
        pa.field("pid", pa.int64()),
        pa.field("device", pa.int32()),
        pa.field("rank", pa.int32()),
        pa.field("local_rank", pa.int32()),
        pa.field("proc", pa.string()),
    ]
)

MAX_MESSAGE_CHARS = 1 << 18
"""Of a longer message this much is in the table."""
