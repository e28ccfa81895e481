"""A bundle that was cut, torn, renamed, doubled or shuffled still gives a report that accounts for every line."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plogscope
from plogscope.errors import InputError
from plogscope.model.report import Report
from plogscope.model.vocabulary import STATUSES
from plogscope.render.html import render_html
from plogscope.render.json import render_json
from plogscope.render.markdown import render_markdown
from plogscope.render.terminal import render_terminal

ROOT = Path(__file__).resolve().parents[1]
BUNDLES = ("two-rank-hccl", "five-step-dataset-key", "oom-allocator")
KINDS = ("cut", "behead", "noise", "splice", "rename", "double", "reorder", "remove", "nest", "wide", "empty")
NAMES = (
    "-o",
    "x\ny.log",
    "<script>.log",
    "a" * 240 + ".log",
    "\udcff.log",
    "plog-7_20250304050607008.log",
    "a.tar.gz",
)


def mutate(folder: Path, kind: str, data: st.DataObject) -> None:  # noqa: C901 - a branch for each kind
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return
    path = files[data.draw(st.integers(0, len(files) - 1))]
    raw = path.read_bytes()
    at = data.draw(st.integers(0, len(raw)))
    if kind == "cut":
        path.write_bytes(raw[:at])
    elif kind == "behead":
        path.write_bytes(raw[at:])
    elif kind == "noise":
        path.write_bytes(raw[:at] + data.draw(st.binary(max_size=60)) + raw[at:])
    elif kind == "splice":
        other = files[data.draw(st.integers(0, len(files) - 1))].read_bytes()
        path.write_bytes(raw[:at] + other[at:])
    elif kind == "rename":
        path.rename(path.with_name(data.draw(st.sampled_from(NAMES))))
    elif kind == "double":
        path.with_name("again-" + path.name[-200:]).write_bytes(raw)
    elif kind == "reorder":
        lines = raw.splitlines(keepends=True)
        path.write_bytes(b"".join(lines[len(lines) // 2 :] + lines[: len(lines) // 2]))
    elif kind == "remove":
        path.unlink()
    elif kind == "nest":
        shutil.copytree(folder, folder / f"inner{at}", symlinks=True)
    elif kind == "wide":
        path.write_bytes(raw.decode("utf-8", "replace").encode("utf-16"))
    else:
        path.write_bytes(b"")


def accounts_for_every_line(report: Report) -> None:
    """The laws of the coverage and of what stands in a report."""
    coverage = report.coverage
    assert report.verdict.status in STATUSES
    assert coverage.parsed + coverage.unparsed == coverage.read
    assert sum(file.lines for file in report.bundle.files) == coverage.read
    assert sum(file.unparsed for file in report.bundle.files) == coverage.unparsed
    shown = [file.path for file in report.bundle.files]
    assert len(set(shown)) == len(shown)
    lines = {file.path: file.lines for file in report.bundle.files}
    for entry in report.chain:
        assert 1 <= entry.line <= lines[entry.file]
        assert entry.record.line <= entry.line <= entry.record.end_line <= lines[entry.file]


@pytest.mark.slow
@settings(max_examples=12)
@given(name=st.sampled_from(BUNDLES), kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), data=st.data())
def test_no_mutation_of_a_bundle_raises_or_loses_a_line(name: str, kinds: list[str], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "run"
        shutil.copytree(ROOT / "fixtures" / name / "run", folder)
        for kind in kinds:
            mutate(folder, kind, data)
        try:
            report = plogscope.analyze(folder, jobs=1)
        except InputError:
            return
        accounts_for_every_line(report)
        render_json(report)
        page = render_html(report, "zh") + render_markdown(report, "en", "generic") + render_terminal(report, "zh")
        assert "<script>.log" not in page.partition("<body")[0]
