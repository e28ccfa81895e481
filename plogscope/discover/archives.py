"""Archives of a tree become the files that they hold: `logs.tar.gz!node-0/train.log`."""

from __future__ import annotations

import os
import re
import sys

import msgspec

from plogscope.discover.kinds import is_binary_name
from plogscope.discover.scratch import Scratch
from plogscope.discover.unpack import Unpacked, form_of, spool, unpack, without_suffix
from plogscope.discover.walk import File, Tree, walk
from plogscope.model.source import Skipped

STDIN = "-"
_HEAD_BYTES = 512
_TEXT_OF_PROGRAMS = re.compile(r"\.(?:json|jsonl|csv|svg|html?|dot|db|py|md)\.\w+$", re.IGNORECASE)
"""Profiler traces and exports are packed one by one as well, are huge, and hold no records."""


class Folder(msgspec.Struct, frozen=True):
    """Where an archive was unpacked to, and what stands before the paths of its members."""

    location: str
    prefix: str


class Archives:
    """Opens what a tree holds, level by level."""

    def __init__(self, scratch: Scratch) -> None:
        self.scratch = scratch

    def open_all(self, tree: Tree, *, alone: bool = False, level: int = 0) -> list[Folder]:
        """Replaces every archive of the tree by what it holds.

        Args:
            tree: Is changed.
            alone: The user named this very file.
            level: Archives around this tree.

        Returns:
            The folders of the archives of this level, in the order of their paths.
        """
        kept: list[File] = []
        folders: list[Folder] = []
        for file in tree.files:
            form = None if _is_no_log(file.named) and not alone else form_of(file.named, _head(file), alone=alone)
            if form is None:
                kept.append(file)
            elif level >= self.scratch.limits.nesting:
                tree.skipped.append(Skipped(file.path, "archive in too many archives"))
            else:
                found = unpack(file.location, file.named, form, self.scratch, _unwanted)
                inner = self._inner(file, found, folders, level=level + 1, alone=alone)
                kept += inner.files
                _join(tree, inner)
        tree.files = kept
        return folders

    def _inner(self, file: File, found: Unpacked, folders: list[Folder], *, level: int, alone: bool) -> Tree:
        """What came out of one archive, with the archives in it opened as well."""
        prefix = f"{file.path}!"
        tree = Tree()
        if found.folder is not None:
            only = alone and file.path in (
                file.named,
                STDIN,
            )  # its name is that of the given folder, which says nothing
            tree = walk(found.folder, prefix, "" if only else f"{without_suffix(file.named)}/")
            tree.files = [msgspec.structs.replace(one, copied=True) for one in tree.files]
            folders.append(Folder(found.folder, prefix))
            self.open_all(tree, level=level)
        elif found.file is not None:
            tree.files = [_copy_of(file, found.file, without_suffix(file.named))]
            folders += self.open_all(tree, level=level, alone=alone)
        tree.skipped += [Skipped(prefix + entry.path, entry.reason) for entry in found.skipped]
        if found.damage is not None and (found.folder is not None or found.file is not None):
            tree.partial.append(Skipped(file.path, found.damage))
        elif found.damage is not None:
            tree.skipped.append(Skipped(file.path, found.damage))
        return tree


def _join(tree: Tree, inner: Tree) -> None:
    tree.skipped += inner.skipped
    tree.partial += inner.partial
    tree.empty_dirs += inner.empty_dirs
    tree.dirs += inner.dirs


def _copy_of(file: File, location: str, name: str) -> File:
    state = os.stat(location)  # noqa: PTH116 - as all paths of discover
    return File(
        file.path, location, state.st_size, state.st_mtime_ns,
        name=name, inode=(state.st_dev, state.st_ino), copied=True,
    )  # fmt: skip


def standard_input(scratch: Scratch, prefix: str) -> Tree:
    """What comes on the standard input, as one file `-`."""
    path = prefix + STDIN
    if sys.stdin is None:
        return Tree(skipped=[Skipped(path, "the standard input is closed")])
    found = spool(sys.stdin.buffer, scratch)
    if found.file is None or not os.path.exists(found.file):  # noqa: PTH110 - as all paths of discover
        return Tree(skipped=[Skipped(path, found.damage or "cannot be read")])
    file = _copy_of(File(path, "", 0, 0), found.file, "")
    return Tree(files=[file], partial=[Skipped(path, found.damage)] if found.damage else [])


def _head(file: File) -> bytes:
    try:
        with open(file.location, "rb", buffering=0) as stream:
            return stream.read(_HEAD_BYTES)
    except OSError:
        return b""


def _is_no_log(path: str) -> bool:
    return is_binary_name(without_suffix(path)) or bool(_TEXT_OF_PROGRAMS.search(path))


def _unwanted(path: str) -> str | None:
    return "binary" if is_binary_name(path) else None
