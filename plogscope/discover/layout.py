"""Where a five-step run lies, which one is the newest, and which layout the rest has."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from plogscope.discover.names import run_stamp_ns
from plogscope.discover.walk import PRUNED, shown
from plogscope.model.source import Layout

STEP_DIR = re.compile(r"step([1-5])-[\w-]+$")
_RUN_NAME = re.compile(r"\d{8}-\d{6}-pid\d+$")
_FIRST_STEP = "step1-"
_ASCEND_TREE = re.compile(r"(?:^|/)(?:debug|run|security)/(?:plog|device-\d+)/")
MAX_ENTRIES = 20_000
"""A directory with more entries than this holds no run below it that a person would have made."""


class Run(msgspec.Struct, frozen=True):
    """A run directory: `location` to open, `path` relative to the given path ("" = the path itself), age for order."""

    location: str
    path: str
    age: tuple[bool, int, str]


def find_runs(root: Path, levels: int) -> list[Run]:
    """Run directories at `root` or at most `levels` below it, newest first.

    A run directory holds `step1-…`, or another step directory together with the name or the first_failure.txt that
    the collector gives it. A lone step5 directory is only a folder: nothing says that it was one of five.
    """
    runs: list[Run] = []
    pending: list[tuple[str, str, int]] = [(os.fspath(root), "", 0)]
    while pending:
        location, path, depth = pending.pop()
        children, files = _list(location)
        if _is_run(os.path.basename(location), children, files):  # noqa: PTH119 - bytes that are no text
            runs.append(Run(location, path, _age(location, path)))
            continue
        if depth < levels:
            pending.extend((os.path.join(location, c), _join(path, shown(c)), depth + 1) for c in children)  # noqa: PTH118
    return sorted(runs, key=lambda run: run.age, reverse=True)


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _list(location: str) -> tuple[list[str], set[str]]:
    children: list[str] = []
    files: set[str] = set()
    try:
        with os.scandir(location) as entries:
            for count, entry in enumerate(entries):
                if count >= MAX_ENTRIES:
                    break
                if not entry.is_dir(follow_symlinks=False):
                    files.add(entry.name)
                elif entry.name not in PRUNED:
                    children.append(entry.name)
    except OSError:
        return [], set()
    return sorted(children), files


def _is_run(name: str, children: list[str], files: set[str]) -> bool:
    steps = [child for child in children if STEP_DIR.match(child)]
    if any(step.startswith(_FIRST_STEP) for step in steps):
        return True
    named = bool(_RUN_NAME.match(name))
    return (bool(steps) and (named or "first_failure.txt" in files)) or (named and "scripts" in children)


def _age(location: str, path: str) -> tuple[bool, int, str]:
    """Runs with a time in their name come before others: a copy has a new modification time."""
    stamp = run_stamp_ns(os.path.basename(location))  # noqa: PTH119
    try:
        changed = os.stat(location).st_mtime_ns  # noqa: PTH116
    except OSError:
        changed = 0
    return (stamp is not None, stamp if stamp is not None else changed, path)


def layout_of(paths: list[str]) -> Layout:
    """`ascend-log` if any path lies in a CANN log tree, else `loose`."""
    return "ascend-log" if any(_ASCEND_TREE.search(path) for path in paths) else "loose"
