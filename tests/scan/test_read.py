"""Blocks of whole lines: ranges that partition a file partition its lines."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.scan import read
from plogscope.scan.read import read_blocks

LINE = st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"x"))
FILE = st.builds(lambda lines, end: b"\n".join(lines) + end, st.lists(LINE, max_size=12), st.sampled_from([b"", b"\n"]))


def spans(data: bytes, start: int, stop: int | None, block_bytes: int) -> list[tuple[int, int]]:
    """(offset, length) of each line of the range, newline included."""
    found = []
    for block in read_blocks(io.BytesIO(data), start, stop, block_bytes):
        if block.length != len(block.data):
            found.append((block.offset, block.length))
            continue
        offset = block.offset
        for line in block.data.splitlines(keepends=True) if b"\r" not in block.data else _split(block.data):
            found.append((offset, len(line)))
            offset += len(line)
    return found


def _split(data: bytes) -> list[bytes]:
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def lines_of(data: bytes) -> list[tuple[int, int]]:
    """The same, from the definition of a line."""
    offset, found = 0, []
    for line in _split(data):
        found.append((offset, len(line)))
        offset += len(line)
    return found


@pytest.fixture
def short_lines_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_LINE_BYTES", 16)


@given(
    data=FILE.map(lambda data: data.replace(b"\x0b", b".").replace(b"\x0c", b".").replace(b"\x1c", b".")),
    cuts=st.lists(st.integers(0, 200), max_size=5),
    block_bytes=st.sampled_from([1, 3, 17, 4096]),
)
def test_any_split_into_ranges_gives_every_line_once(data: bytes, cuts: list[int], block_bytes: int) -> None:
    data = bytes(byte if byte not in b"\x1d\x1e\x85\r" else 46 for byte in data)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    found = [span for start, stop in zip(edges, edges[1:]) for span in spans(data, start, stop, block_bytes)]

    assert found == lines_of(data)


@pytest.mark.usefixtures("short_lines_are_long")
def test_a_line_that_is_too_long_is_cut_and_counted_in_full() -> None:
    data = b"short\n" + b"x" * 1000 + b"\nlast"
    blocks = list(read_blocks(io.BytesIO(data), block_bytes=64))

    assert [block.length for block in blocks] == [6, 1001, 4]
    assert blocks[1].data == b"x" * 16 + b"\n"


@pytest.mark.usefixtures("short_lines_are_long")
def test_a_long_line_without_an_end_keeps_its_length() -> None:
    blocks = list(read_blocks(io.BytesIO(b"y" * 500), block_bytes=32))

    assert [(block.offset, block.length) for block in blocks] == [(0, 500)]


def test_an_empty_file_has_no_blocks() -> None:
    assert list(read_blocks(io.BytesIO(b""))) == []
