"""A private place for what is unpacked: bounded, and removed at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable

import msgspec

CHUNK_BYTES = 1 << 20


class Limits(msgspec.Struct, frozen=True):
    """Where unpacking stops. All bundles of a job that people send are far below.

    Attributes:
        total_bytes: Written for all archives of one analysis; half of what the disk has free is a limit as well.
        passed_bytes: Unpacked of one archive, written or not.
        ratio: Unpacked bytes for each packed one, from `ratio_from_bytes` on.
        entries: Members of all archives.
        nesting: Archives within archives.
        depth: Folders above a member.
    """

    total_bytes: int = 64 << 30
    passed_bytes: int = 256 << 30
    ratio: int = 300
    ratio_from_bytes: int = 256 << 20
    entries: int = 500_000
    nesting: int = 3
    depth: int = 40


class Stop(Exception):  # noqa: N818 - it ends the reading of one archive, and is no error
    """A limit is reached: what is written stays, the rest is not read."""


class Scratch:
    """A private folder below the system's temporary folder: made when it is needed, removed by `close`."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.entries = 0
        self._root: str | None = None
        self._made = 0
        self._left = self.limits.total_bytes

    def close(self) -> None:
        """Removes everything."""
        if self._root is not None:
            shutil.rmtree(self._root, ignore_errors=True)
            self._root = None

    def folder(self) -> str:
        """A new empty folder.

        Raises:
            OSError: There is no temporary folder, or no room in it.
        """
        if self._root is None:
            self._root = os.path.realpath(tempfile.mkdtemp(prefix="plogscope-"))
            self._left = min(self._left, shutil.disk_usage(self._root).free // 2)
        self._made += 1
        folder = os.path.join(self._root, str(self._made))  # noqa: PTH118 - as all paths of discover
        os.mkdir(folder)  # noqa: PTH102
        return folder

    def write(self, read: Callable[[int], bytes], path: str) -> None:
        """Writes a new file from what `read(n)` gives until it gives nothing.

        Raises:
            Stop: There is no room left; what fitted is in the file.
            OSError: The file cannot be written.
        """
        with open(path, "xb") as target:
            while chunk := read(CHUNK_BYTES):
                if len(chunk) > self._left:
                    raise Stop("no room to unpack more")
                self._left -= len(chunk)
                target.write(chunk)
