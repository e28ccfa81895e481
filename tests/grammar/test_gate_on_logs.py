"""The law of the gate on whole logs: what it leaves out matches nothing, however the line is spoiled.

The fixtures always take part; folders of further logs are named by `PLOGSCOPE_CASES` and `PLOGSCOPE_SAMPLES` (several
are joined by the separator of PATH). Of lines that differ only in numbers and names one takes part.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from plogscope.data import grammar_root
from plogscope.formats.parse import parse_line
from plogscope.grammar.compile import read_grammar
from plogscope.grammar.match import Matcher
from plogscope.scan.mask import mask

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
MOST_BYTES = 8 << 20
"""Of one file only its beginning is read."""

MOST_SHAPES = 800
"""Of one folder: every pattern is searched in each line when there is no gate."""


def folders() -> list[Path]:
    named = [os.environ.get(name, "") for name in ("PLOGSCOPE_CASES", "PLOGSCOPE_SAMPLES")]
    return [FIXTURES, *(Path(part) for value in named for part in value.split(os.pathsep) if part)]


@cache
def matchers() -> tuple[Matcher, Matcher, Matcher]:
    root = grammar_root()
    assert root is not None
    grammar = read_grammar(root)
    return Matcher(grammar), Matcher(grammar, gated=False), Matcher(grammar, proven=True)


def lines_of(folder: Path) -> list[bytes]:
    """One line of each shape, up to `MOST_SHAPES`, the same ones on every run."""
    shapes: dict[str, bytes] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as stream:
            for line in stream.read(MOST_BYTES).split(b"\n"):
                shapes.setdefault(mask(line[:2000].decode("utf-8", "replace")), line[:20_000])
    lines = list(shapes.values())
    return lines if len(lines) <= MOST_SHAPES else random.Random(20260101).sample(lines, MOST_SHAPES)


def spoiled(line: bytes) -> Iterator[bytes]:
    """The line as it is, coloured, behind prefixes, after a progress bar, and cut on either side."""
    middle = len(line) // 2
    yield line
    yield line[:middle] + b"\x1b[31m" + line[middle:] + b"\x1b[0m\r"
    yield b"[rank3]: (Worker_TP1 pid=77) " + line
    yield b" 40%|####      | 4/10\r" + line
    yield line[7:-7]
    yield line[:middle]
    yield line[middle:]


@pytest.mark.slow
@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_the_gate_leaves_out_only_what_matches_nothing(folder: Path) -> None:
    gated, ungated, quick = matchers()
    lines = lines_of(folder)
    assert lines, folder
    for number, line in enumerate(lines):
        variants = list(spoiled(line))
        # Each line as it is and spoiled in one way: the ways take turns.
        for variant in (variants[0], variants[1 + number % (len(variants) - 1)]):
            for piece in parse_line(variant):
                found = ungated.matching(piece.text)
                assert gated.matching(piece.text) == found, piece.text
                assert quick.match(piece.text, None, None) == gated.match(piece.text, None, None), piece.text
                assert found <= gated.gate.candidates(piece.text.encode("utf-8", "surrogatepass")), piece.text
