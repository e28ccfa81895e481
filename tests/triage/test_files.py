"""Small files are read whatever their encoding, big ones are searched block by block and only so far."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.model.source import Source
from plogscope.triage import files


def source(tmp_path: Path, data: bytes) -> Source:
    (tmp_path / "a.log").write_bytes(data)
    return discover([tmp_path / "a.log"]).sources[0]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb\n", ["a", "b"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"", []),
        ("\ufeffa\n".encode(), ["a"]),
        ("a\n步\n".encode("utf-16"), ["a", "步"]),
        (b"a\xff\0b\n", ["a\ufffdb"]),
    ],
)
def test_lines_of_a_small_file(tmp_path: Path, data: bytes, lines: list[str]) -> None:
    assert files.lines_of(source(tmp_path, data)) == lines


def test_small_file_is_capped_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    found = source(tmp_path, b"x" * 10_000)
    assert files.text_of(found, 100) == "x" * 100
    Path(found.location).unlink()
    assert files.lines_of(found) == []
    assert files.lines_of(None) == []
    assert not files.holds(found, re.compile(b"x"))


@pytest.mark.parametrize("at", [0, (1 << 20) - 3, (1 << 20), (2 << 20) - 1, (2 << 20) + 77])
def test_word_on_a_block_border_is_found_where_it_is(tmp_path: Path, at: int) -> None:
    found = source(tmp_path, b"." * at + b"NEEDLE" + b"." * 50)
    assert files.holds(found, re.compile(b"NEEDLE"))
    offsets = {
        offset + hit.start() for offset, block in files.blocks_of(found) for hit in re.finditer(b"NEEDLE", block)
    }
    assert offsets == {at}


def test_search_ends_at_the_limit(tmp_path: Path) -> None:
    found = source(tmp_path, b"." * (3 << 20) + b"NEEDLE")
    assert sum(len(block) for _, block in files.blocks_of(found, 1 << 20)) == 1 << 20
