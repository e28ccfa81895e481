"""How much of real bundles has no known head: printed by kind with the commonest shapes, and bounded where we can."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.errors import PlogscopeError
from plogscope.table.place import Placement
from plogscope.table.write import table_of

FOLDERS = [Path(folder) for folder in os.environ.get("PLOGSCOPE_CASES", "").split(os.pathsep) if folder]
BUNDLES = sorted(bundle for folder in FOLDERS for bundle in folder.glob("*/bundle"))
KINDS_WITH_HEADS = ("plog", "device-log", "device-system", "host-system")
SHOWN = 10


def _shape(line: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"0x[0-9a-f]+", "X", line))[:80]


@pytest.mark.skipif(not BUNDLES, reason="PLOGSCOPE_CASES names no folder of bundles")
def test_lines_without_a_head_are_rare_where_every_record_has_one() -> None:
    lines, without = Counter[str](), Counter[str]()
    shapes: dict[str, Counter[str]] = defaultdict(Counter)
    for folder in BUNDLES:
        try:
            bundle = discover([folder])
        except PlogscopeError:
            continue
        table = table_of(Placement(bundle=bundle))
        columns = (table.column(name).to_pylist() for name in ("source", "line", "end_line", "format", "message"))
        for source, line, end_line, format_name, message in zip(*columns, strict=True):
            kind = bundle.sources[source].kind
            lines[kind] += end_line - line + 1
            if format_name == "text":
                without[kind] += end_line - line + 1
                shapes[kind].update(map(_shape, message.split("\n")))
    for kind, count in lines.items():
        print(f"{kind}: {count} lines, {without[kind]} without a head ({without[kind] / count:.3%})")  # noqa: T201
        for shape, repeats in shapes[kind].most_common(SHOWN):
            print(f"    {repeats:6d} {shape!r}")  # noqa: T201

    assert {kind: without[kind] for kind in KINDS_WITH_HEADS if without[kind] > lines[kind] * 0.01} == {}
