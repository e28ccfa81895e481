"""Everything below a path, without leaving it: regular files, empty directories, and what is not read and why."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import msgspec

from plogscope.model.source import Skipped

PRUNED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "site-packages"})
"""Directories that hold programs, not logs."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_SPECIAL = (
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device file"),
    (stat.S_ISBLK, "device file"),
)


class File(msgspec.Struct, frozen=True):
    """One regular file: `path` as shown (POSIX, relative), `location` to open it, `size` bytes, `mtime_ns` UTC.

    Attributes:
        name: The path that tells about the writer, where that is not the shown one.
        inode: Device and number: equal for two names of one file.
        copied: `location` is a copy of ours, unpacked or in another encoding.
    """

    path: str
    location: str
    size: int
    mtime_ns: int
    name: str | None = None
    inode: tuple[int, int] | None = None
    copied: bool = False

    @property
    def named(self) -> str:
        """The path that tells what it is and who wrote it."""
        return self.path if self.name is None else self.name


class Tree(msgspec.Struct):
    """What was found below one path; the lists are ordered by path. `partial`: read, but not to its end, and why."""

    files: list[File] = []
    skipped: list[Skipped] = []
    partial: list[Skipped] = []
    empty_dirs: list[str] = []
    dirs: list[str] = []


def shown(name: str) -> str:
    """A file name as text that can be printed: undecodable bytes and control characters become escapes.

    Args:
        name: As the operating system gives it (undecodable bytes are surrogates).

    Returns:
        Valid text on one line; equal names stay equal and different names stay different in practice.
    """
    if name.isprintable():  # most names; neither surrogates nor controls nor direction marks are printable
        return name
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def walk(root: str, prefix: str = "", name_prefix: str | None = None) -> Tree:
    """Lists `root`, a directory, without following links out of it.

    Args:
        root: Absolute path of a directory, links resolved.
        prefix: Put before every shown path (with its separator).
        name_prefix: Put before the path that tells about the writer; None = the same.

    Returns:
        Files, skipped entries and empty directories. Nothing is raised: what cannot be read is a value.
    """
    walker = _Walker(os.path.realpath(root), prefix, name_prefix)
    walker.run(root)
    walker.settle_links()
    tree = walker.tree
    tree.files.sort(key=lambda file: file.path)
    tree.skipped.sort(key=lambda entry: entry.path)
    tree.dirs.sort()
    tree.empty_dirs = sorted(_without_files(tree))
    return tree


class _Walker:
    """The state of one walk: links are settled last, when every real file is known."""

    def __init__(self, root: str, prefix: str, name_prefix: str | None) -> None:
        self.root = root
        self.prefix = prefix
        self.name_prefix = name_prefix
        self.tree = Tree()
        self.links: list[tuple[str, str]] = []
        self.read: dict[tuple[int, int], str] = {}

    def run(self, start: str) -> None:
        """Lists every directory from `start` down, without recursion: depth is hostile input too."""
        pending = [(start, self.prefix)]
        while pending:
            directory, path = pending.pop()
            try:
                with os.scandir(directory) as entries:
                    found = list(entries)
            except OSError as error:
                self.skip(path.rstrip("/") or ".", reason_of(error))
                continue
            if path != self.prefix:
                self.tree.dirs.append(path.rstrip("/"))
            for entry in found:
                child = path + shown(entry.name)
                if self._is_directory(entry):
                    if entry.name in PRUNED:
                        self.skip(child, "not a log folder")
                    else:
                        pending.append((entry.path, child + "/"))
                else:
                    self._take(entry, child)

    @staticmethod
    def _is_directory(entry: os.DirEntry[str]) -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            if entry.is_symlink():
                self.links.append((entry.path, path))
                return
            state = entry.stat(follow_symlinks=False)
        except OSError as error:
            self.skip(path, reason_of(error))
            return
        self._add(entry.path, path, state)

    def _add(self, location: str, path: str, state: os.stat_result) -> None:
        special = special_reason(state)
        if special:
            self.skip(path, special)
        elif not os.access(location, os.R_OK):
            self.skip(path, "permission denied")
        else:
            inode = (state.st_dev, state.st_ino)
            self.read[inode] = path
            name = None if self.name_prefix is None else self.name_prefix + path[len(self.prefix) :]
            self.tree.files.append(File(path, location, state.st_size, state.st_mtime_ns, name=name, inode=inode))

    def settle_links(self) -> None:
        """Reads a link only if its target is a regular file inside the tree that is not read under its own name."""
        for location, path in sorted(self.links, key=lambda link: link[1]):
            try:
                target = os.path.realpath(location, strict=True)
                state = os.stat(target)  # noqa: PTH116 - the name may hold undecodable bytes
            except OSError as error:
                self.skip(path, f"link: {reason_of(error)}")
                continue
            if os.path.commonpath([self.root, target]) != self.root:
                self.skip(path, "link out of the folder")
            elif stat.S_ISDIR(state.st_mode):
                self.skip(path, "link to a directory")
            elif (state.st_dev, state.st_ino) in self.read:
                self.skip(path, f"link: read as {self.read[state.st_dev, state.st_ino]}")
            else:
                self._add(target, path, state)

    def skip(self, path: str, reason: str) -> None:
        """Remembers something that is not read."""
        self.tree.skipped.append(Skipped(path, reason))


def special_reason(state: os.stat_result) -> str | None:
    """Why a file that is not regular is not read, or None for a regular file."""
    if stat.S_ISREG(state.st_mode):
        return None
    return next((reason for test, reason in _SPECIAL if test(state.st_mode)), "not a regular file")


def reason_of(error: OSError) -> str:
    """A short reason in words for an operating system error."""
    if isinstance(error, FileNotFoundError):
        return "target does not exist"
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror or type(error).__name__).lower()


def _without_files(tree: Tree) -> set[str]:
    """Directories that hold neither a file nor something skipped, at any depth."""
    full: set[str] = set()
    for path in [file.path for file in tree.files] + [entry.path for entry in tree.skipped]:
        parent = path.rpartition("/")[0]
        while parent and parent not in full:
            full.add(parent)
            parent = parent.rpartition("/")[0]
    unread = {entry.path for entry in tree.skipped}
    return {directory for directory in tree.dirs if directory not in full and directory not in unread}


def exists_as_directory(path: Path) -> bool:
    """True for a directory; False also where the path cannot be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False
