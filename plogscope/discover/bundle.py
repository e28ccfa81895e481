"""`discover`: the given paths become one Bundle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from plogscope.discover.kinds import kind_of
from plogscope.discover.layout import STEP_DIR, Run, find_runs, layout_of
from plogscope.discover.names import NameFacts, facts_of, nodes_of
from plogscope.discover.walk import File, Tree, exists_as_directory, reason_of, shown, special_reason, walk
from plogscope.errors import InputError
from plogscope.model.source import Bundle, Layout, Skipped, Source, SourceKind

OUTSIDE_LISTED = 100
"""How many entries beside a run are listed as not read; the rest would only fill the report."""


class _Part(msgspec.Struct):
    """One given path: its tree, and the five-step run that was chosen in it."""

    tree: Tree
    alone: bool = False


def discover(paths: Sequence[Path], *, follow: int = 3) -> Bundle:
    """Finds everything that can be read under the given paths.

    A five-step run at a path or up to `follow` levels below it is recognised; of several runs the newest is taken and
    the others are only named. Links are never followed out of a path.

    Args:
        paths: Files or directories; several give shown paths with the prefix `1:`, `2:` ….
        follow: How deep a run directory is looked for.

    Returns:
        The bundle, sources ordered by path.

    Raises:
        InputError: A path does not exist, is an empty folder, or holds nothing that can be read as a log.
    """
    if not paths:
        raise InputError("no path given", "name a folder or a log file")
    prefixes = [f"{number}:" for number in range(1, len(paths) + 1)] if len(paths) > 1 else [""]
    roots = [_existing(path) for path in paths]
    runs = _runs(roots, prefixes, follow)
    chosen = runs[0] if runs else None
    parts = [
        _read_part(root, prefix, chosen, [run for run in runs if run.path.startswith(prefix)])
        for root, prefix in zip(roots, prefixes, strict=True)
    ]
    given = " ".join(shown(os.fspath(path)) for path in paths)
    bundle = _assemble(given, parts, chosen, runs[1:])
    _require_logs(bundle, parts, paths)
    return bundle


def _existing(path: Path) -> Path:
    try:
        path.stat()
        return Path(os.path.realpath(path))
    except FileNotFoundError:
        raise InputError(f"{shown(os.fspath(path))} does not exist", "check the path") from None
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not a usable path"
        raise InputError(f"{shown(os.fspath(path))} cannot be read: {reason}", "check the path") from None


def _runs(roots: list[Path], prefixes: list[str], levels: int) -> list[Run]:
    """Runs of all paths, newest first, their paths as shown (with prefix)."""
    found = [
        Run(run.location, prefix + run.path, run.age)
        for root, prefix in zip(roots, prefixes, strict=True)
        if exists_as_directory(root)
        for run in find_runs(root, levels)
    ]
    return sorted(found, key=lambda run: run.age, reverse=True)


def _read_part(root: Path, prefix: str, chosen: Run | None, own: list[Run]) -> _Part:
    if not exists_as_directory(root):
        return _Part(_single(root, prefix), alone=True)
    if not own:
        return _Part(walk(os.fspath(root), prefix))
    if chosen not in own or chosen is None:
        return _Part(Tree())
    run_prefix = chosen.path if chosen.path in ("", prefix) else chosen.path + "/"
    tree = walk(chosen.location, run_prefix)
    tree.skipped.extend(_outside(root, prefix, chosen, own))
    return _Part(tree)


def _single(path: Path, prefix: str) -> Tree:
    state = path.stat()
    special = special_reason(state)
    shown_path = prefix + shown(path.name)
    if special:
        return Tree(skipped=[Skipped(shown_path, special)])
    if not os.access(path, os.R_OK):
        return Tree(skipped=[Skipped(shown_path, "permission denied")])
    return Tree(files=[File(shown_path, os.fspath(path), state.st_size, state.st_mtime_ns)])


def _outside(root: Path, prefix: str, chosen: Run, own: list[Run]) -> list[Skipped]:
    """Entries beside the chosen run, on each level from the given path down to it."""
    other = {run.path for run in own if run is not chosen}
    entries: list[Skipped] = []
    level, path = root, prefix
    for part in chosen.path[len(prefix) :].split("/") if chosen.path != prefix else ():
        try:
            names = sorted(entry.name for entry in level.iterdir())
        except OSError:
            break
        following = level
        for name in names:
            if shown(name) == part:
                following = level / name
            elif path + shown(name) not in other:
                entries.append(Skipped(path + shown(name), "outside the five-step run"))
        level, path = following, f"{path}{part}/"
    return entries[:OUTSIDE_LISTED]


def _assemble(given: str, parts: list[_Part], chosen: Run | None, others: list[Run]) -> Bundle:
    taken: list[tuple[File, SourceKind]] = []
    skipped: list[Skipped] = []
    for part in parts:
        skipped += part.tree.skipped
        for file in part.tree.files:
            kind = kind_of(file, alone=part.alone)
            if kind.kind is None:
                skipped.append(Skipped(file.path, kind.skipped or "not read"))
            else:
                taken.append((file, kind.kind))
    paths = [file.path for file, _ in taken]
    nodes = nodes_of(paths, [file.path for file, kind in taken if kind in ("plog", "device-log")])
    run = chosen.path if chosen else None
    layout: Layout = "five-step" if chosen else layout_of(paths)
    return Bundle(
        path=given,
        layout=layout,
        run=run,
        other_runs=tuple(other.path for other in others),
        sources=tuple(_source(i, file, kind, nodes.get(file.path), run) for i, (file, kind) in enumerate(taken)),
        skipped=tuple(sorted(skipped, key=lambda entry: entry.path)),
        empty_dirs=tuple(directory for part in parts for directory in part.tree.empty_dirs),
    )


def _source(number: int, file: File, kind: SourceKind, node: str | None, run: str | None) -> Source:
    facts = NameFacts() if kind == "artefact" else facts_of(file.path)
    return Source(
        id=number,
        path=file.path,
        location=file.location,
        kind=kind,
        size=file.size,
        mtime_ns=file.mtime_ns,
        node=node,
        pid=facts.pid,
        device=facts.device,
        rank=facts.rank,
        local_rank=facts.local_rank,
        stamp_ns=facts.stamp_ns,
        step=_step(file.path, run),
        folder=facts.folder,
    )


def _step(path: str, run: str | None) -> str | None:
    """The step directory that a file of the chosen run lies in."""
    if run is None or not path.startswith(run):
        return None
    first, separator, _ = path[len(run) :].lstrip("/").partition("/")
    return first if separator and STEP_DIR.match(first) else None


def _require_logs(bundle: Bundle, parts: list[_Part], paths: Sequence[Path]) -> None:
    """Raises InputError unless there is something to analyse; a recognised run is, even when it is incomplete."""
    if bundle.layout == "five-step" or any(source.kind != "artefact" for source in bundle.sources):
        return
    name = shown(os.fspath(paths[0])) if len(paths) == 1 else "the given paths"
    if not bundle.sources and not bundle.skipped:
        raise InputError(f"{name} is empty", "give the folder that holds the logs")
    archive = next((entry for entry in bundle.skipped if entry.reason.startswith("archive")), None)
    if archive:
        raise InputError(f"{name} holds no log that can be read, only archives", "unpack them first")
    if len(parts) == 1 and parts[0].alone and bundle.skipped:
        raise InputError(f"{name} cannot be read as a log: {bundle.skipped[0].reason}", "give a text log or a folder")
    raise InputError(f"{name} holds nothing that can be read as a log", "give the folder that holds the logs")
