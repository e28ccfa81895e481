from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pyarrow as pa
import pytest

from plogscope.model.rows import ROWS
from plogscope.model.source import Bundle, Source
from plogscope.scan.read import read_blocks
from plogscope.table.columns import Columns
from plogscope.table.ordinary import Ordinary
from plogscope.table.place import Placement
from plogscope.table.runs import Runs

YEAR_NS = 1_760_000_000_000_000_000
"""October 2025: near the stamps without a year of these tests."""

Read = Callable[..., pa.Table]


def read_rows(
    data: bytes,
    *,
    source: Source | None = None,
    block_bytes: int = 1 << 18,
    cuts: Sequence[int] = (),
    placement: Placement | None = None,
    batch_every: int = 1,
) -> pa.Table:
    """The rows of one source, read in ranges and blocks of any size."""
    source = source or Source(id=0, path="run/x.log", location="", kind="stdout", size=len(data))
    columns = Columns(placement or Placement(bundle=Bundle(path=".", layout="loose", sources=(source,))))
    columns.begin(source)
    runs = Runs(source, columns, Ordinary(columns), first_ns=None, year_reference_ns=YEAR_NS)
    found = []
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, stop in zip(edges, edges[1:], strict=False):
        for number, block in enumerate(read_blocks(io.BytesIO(data), start, stop, block_bytes)):
            runs.take(block)
            if number % batch_every == 0 and (batch := columns.batch()) is not None:
                found.append(batch)
    runs.done()
    if (batch := columns.batch()) is not None:
        found.append(batch)
    return pa.Table.from_batches(found, ROWS)


@pytest.fixture(scope="session")
def rows() -> Read:
    """See `read_rows`."""
    return read_rows
