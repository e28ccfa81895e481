"""`discover`: the given paths become one Bundle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from plogscope.discover.archives import STDIN, Archives, Folder, standard_input
from plogscope.discover.kinds import is_artefact_name, kind_of
from plogscope.discover.layout import STEP_DIR, Run, find_runs, layout_of
from plogscope.discover.names import NameFacts, facts_of, nodes_of
from plogscope.discover.scratch import Scratch
from plogscope.discover.unpack import rewritten
from plogscope.discover.walk import File, Tree, exists_as_directory, reason_of, shown, special_reason, walk
from plogscope.errors import InputError
from plogscope.model.source import Bundle, Layout, Skipped, Source, SourceKind

OUTSIDE_LISTED = 100
"""How many entries beside a run are listed as not read; the rest would only fill the report."""


class _Part(msgspec.Struct):
    """One given path: its tree, the archives that were opened in it, and the runs that lie in it."""

    prefix: str
    tree: Tree
    root: Path | None = None
    folders: list[Folder] = []
    runs: list[Run] = []
    alone: bool = False


def discover(paths: Sequence[Path], *, follow: int = 3, scratch: Scratch | None = None) -> Bundle:
    """Finds everything that can be read under the given paths.

    A five-step run at a path or up to `follow` levels below it is recognised; of several runs the newest is taken and
    the others are only named. Links are never followed out of a path. A file is read once, however often it is given.

    Args:
        paths: Files or directories, `-` for the standard input; several give shown paths with the prefix `1:`, `2:` ….
        follow: How deep a run directory is looked for.
        scratch: Where archives and text in UTF-16 are unpacked to; it must stay until the bundle has been read.
            None = they are not read.

    Returns:
        The bundle, sources ordered by path.

    Raises:
        InputError: A path does not exist, is an empty folder, or holds nothing that can be read as a log.
    """
    if not paths:
        raise InputError("no path given", "name a folder or a log file")
    prefixes = [f"{number}:" for number in range(1, len(paths) + 1)] if len(paths) > 1 else [""]
    parts = [_given(path, prefix, follow, scratch) for path, prefix in zip(paths, prefixes, strict=True)]
    runs = _newest_first(run for part in parts for run in part.runs)
    chosen = runs[0] if runs else None
    for part in parts:
        _read_part(part, chosen)
        if scratch is not None:
            part.folders = Archives(scratch).open_all(part.tree, alone=part.alone)
    if chosen is None:
        runs = _newest_first(run for part in parts for run in _packed_runs(part, follow))
        chosen = runs[0] if runs else None
        if chosen is not None:
            _keep_run(parts, chosen)
    _read_once(parts)
    given = " ".join(shown(os.fspath(path)) for path in paths)
    bundle = _assemble(given, parts, runs, scratch)
    if bundle.layout != "five-step" and all(source.kind == "artefact" for source in bundle.sources):
        bundle = _assemble(given, parts, runs, scratch, any_text=True)
    _require_logs(bundle, parts, paths)
    return bundle


def _given(path: Path, prefix: str, follow: int, scratch: Scratch | None) -> _Part:
    if os.fspath(path) == STDIN and scratch is not None:
        return _Part(prefix, standard_input(scratch, prefix), alone=True)
    root = _existing(path)
    if not exists_as_directory(root):
        return _Part(prefix, _single(root, prefix), alone=True)
    runs = [Run(run.location, prefix + run.path, run.age) for run in find_runs(root, follow)]
    return _Part(prefix, Tree(), root=root, runs=runs)


def _newest_first(runs: Iterable[Run]) -> list[Run]:
    """Each run once, whatever paths it was found under."""
    by_location: dict[str, Run] = {}
    for run in runs:
        by_location.setdefault(os.path.realpath(run.location), run)
    return sorted(by_location.values(), key=lambda run: run.age, reverse=True)


def _read_part(part: _Part, chosen: Run | None) -> None:
    """Lists a folder: all of it, or the chosen run, or nothing where only other runs are."""
    if part.root is None:
        return
    name = f"{part.root.name}/" if part.prefix else None
    if not part.runs:
        part.tree = walk(os.fspath(part.root), part.prefix, name)
        return
    target = os.path.realpath(chosen.location) if chosen else ""
    mine = next((run for run in part.runs if os.path.realpath(run.location) == target), None)
    if mine is not None:
        within = mine.path[len(part.prefix) :]
        inside = f"{within}/" if within else ""
        part.tree = walk(mine.location, part.prefix + inside, None if name is None else name + inside)
        part.tree.skipped.extend(_outside(part.root, part.prefix, mine, part.runs))


def _packed_runs(part: _Part, follow: int) -> Iterator[Run]:
    for folder in part.folders:
        for run in find_runs(Path(folder.location), follow):
            yield Run(run.location, folder.prefix + run.path, run.age)


def _keep_run(parts: list[_Part], chosen: Run) -> None:
    """Of the archive that holds the chosen run only that run is read."""
    archive = max((f.prefix for part in parts for f in part.folders if chosen.path.startswith(f.prefix)), key=len)
    base = chosen.path if chosen.path == archive else f"{chosen.path}/"
    for part in parts:
        tree = part.tree
        beside = [file for file in tree.files if file.path.startswith(archive) and not file.path.startswith(base)]
        if beside:
            left_out = {file.path for file in beside}
            tree.files = [file for file in tree.files if file.path not in left_out]
            tree.skipped += [Skipped(file.path, "outside the five-step run") for file in beside[:OUTSIDE_LISTED]]


def _read_once(parts: list[_Part]) -> None:
    """Leaves out what is read under another name: hard links, a folder given twice, a file given with its folder."""
    read: dict[tuple[int, int], str] = {}
    for part in sorted(parts, key=lambda part: not part.alone):
        again: list[Skipped] = []
        kept: list[File] = []
        for file in part.tree.files:
            known = read.setdefault(file.inode, file.path) if file.inode is not None else file.path
            if known == file.path:
                kept.append(file)
            else:
                again.append(Skipped(file.path, f"read as {known}"))
        if again and not kept and len(again) > 1:
            again = [Skipped(part.prefix, f"all of it is read under other names: {again[0].reason} …")]
        part.tree.files = kept
        part.tree.skipped += again


def _existing(path: Path) -> Path:
    try:
        path.stat()
        return Path(os.path.realpath(path))
    except FileNotFoundError:
        raise InputError(f"{shown(os.fspath(path))} does not exist", "check the path") from None
    except (OSError, ValueError) as error:
        reason = reason_of(error) if isinstance(error, OSError) else "not a usable path"
        raise InputError(f"{shown(os.fspath(path))} cannot be read: {reason}", "check the path") from None


def _single(path: Path, prefix: str) -> Tree:
    state = path.stat()
    special = special_reason(state)
    shown_path = prefix + shown(path.name)
    if special:
        return Tree(skipped=[Skipped(shown_path, special)])
    if not os.access(path, os.R_OK):
        return Tree(skipped=[Skipped(shown_path, "permission denied")])
    inode = (state.st_dev, state.st_ino)
    return Tree(files=[File(shown_path, os.fspath(path), state.st_size, state.st_mtime_ns, shown(path.name), inode)])


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


def _assemble(
    given: str, parts: list[_Part], runs: list[Run], scratch: Scratch | None, *, any_text: bool = False
) -> Bundle:
    """The bundle of what was found. `any_text`: what has no other known purpose is taken for a log."""
    taken: list[tuple[File, SourceKind]] = []
    skipped: list[Skipped] = []
    partial: list[Skipped] = []
    for part in parts:
        skipped += part.tree.skipped
        partial += part.tree.partial
        for file in part.tree.files:
            kind = kind_of(file, alone=part.alone or (any_text and not is_artefact_name(file.named)))
            readable = file if kind.encoding is None else _in_utf8(file, kind.encoding, scratch, partial)
            if kind.kind is None:
                skipped.append(Skipped(file.path, kind.skipped or "not read"))
            elif readable is None:
                skipped.append(Skipped(file.path, "its copy in UTF-8 cannot be written"))
            else:
                taken.append((readable, kind.kind))
    names = [file.named for file, _ in taken]
    nodes = nodes_of(names, [file.named for file, kind in taken if kind in ("plog", "device-log")])
    run = runs[0].path if runs else None
    layout: Layout = "five-step" if runs else layout_of(names)
    return Bundle(
        path=given,
        layout=layout,
        run=run,
        other_runs=tuple(other.path for other in runs[1:]),
        sources=tuple(_source(i, file, kind, nodes.get(file.named), run) for i, (file, kind) in enumerate(taken)),
        skipped=tuple(sorted(skipped, key=lambda entry: entry.path)),
        empty_dirs=tuple(directory for part in parts for directory in part.tree.empty_dirs),
        partial=tuple(partial),
    )


def _in_utf8(file: File, encoding: str, scratch: Scratch | None, partial: list[Skipped]) -> File | None:
    """A copy of text whose characters have two bytes; without a place for copies it is read as it is."""
    if scratch is None:
        return file
    copy = rewritten(file.location, encoding, scratch)
    if copy.damage is not None:
        partial.append(Skipped(file.path, copy.damage))
    if copy.file is None:
        return None
    size = os.path.getsize(copy.file)  # noqa: PTH202 - as all paths of discover
    return msgspec.structs.replace(file, location=copy.file, size=size, copied=True)


def _source(number: int, file: File, kind: SourceKind, node: str | None, run: str | None) -> Source:
    facts = NameFacts() if kind == "artefact" else facts_of(file.named)
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
        copied=file.copied,
    )


def _step(path: str, run: str | None) -> str | None:
    """The step directory that a file of the chosen run lies in."""
    if run is None or not path.startswith(run):
        return None
    first, separator, _ = path[len(run) :].lstrip("/").partition("/")
    return first if separator and STEP_DIR.match(first) else None


def _in_words(path: Path) -> str:
    return "the standard input" if os.fspath(path) == STDIN else shown(os.fspath(path))


def _require_logs(bundle: Bundle, parts: list[_Part], paths: Sequence[Path]) -> None:
    """Raises InputError unless there is something to analyse; a recognised run is, even when it is incomplete."""
    logs = [source for source in bundle.sources if source.kind != "artefact" and (source.size or source.path != STDIN)]
    if bundle.layout == "five-step" or logs:
        return
    name = "the given paths" if len(paths) > 1 else _in_words(paths[0])
    nothing_came = bool(bundle.sources) and all(s.path == STDIN and not s.size for s in bundle.sources)
    if nothing_came or not (bundle.sources or bundle.skipped):
        raise InputError(f"{name} is empty", "give the folder that holds the logs")
    archive = next((entry for entry in bundle.skipped if entry.reason.startswith("archive")), None)
    if archive:
        raise InputError(f"{name} holds no log that can be read, only archives", "unpack them first")
    if len(parts) == 1 and parts[0].alone and bundle.skipped:
        raise InputError(f"{name} cannot be read as a log: {bundle.skipped[0].reason}", "give a text log or a folder")
    denied = sum(entry.reason == "permission denied" for entry in bundle.skipped)
    if denied:
        hint = "give yourself the right to read them, or copy them with sudo"
        raise InputError(f"{name} holds nothing that can be read: {denied} times permission denied", hint)
    raise InputError(f"{name} holds nothing that can be read as a log", "give the folder that holds the logs")
