"""What was compiled from TOML, kept in the user's cache folder under a digest of the files it was made of."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from plogscope.version import __version__

MOST_KEPT = 8
"""Entries of one kind that stay: every edit of a file makes another one."""


def digest_of(paths: Iterable[Path]) -> str:
    """Digest of the names, sizes and mtimes of these files, and of the code that reads and compiles them."""
    digest = hashlib.sha256(f"{__version__} {sys.version_info[:2]}".encode())
    for path in [*paths, *sorted(Path(__file__).parent.glob("*.py"))]:
        with contextlib.suppress(OSError):
            status = path.stat()
            line = f"\0{path.absolute()}\0{status.st_size}\0{status.st_mtime_ns}"
            digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()[:24]


def read_cache(kind: str, digest: str) -> bytes | None:
    """The entry, None if there is none or it cannot be read."""
    folder = _folder()
    with contextlib.suppress(OSError):
        return None if folder is None else (folder / f"{kind}-{digest}.json").read_bytes()
    return None


def write_cache(kind: str, digest: str, data: bytes) -> None:
    """Writes whole or not at all; a cache that cannot be written only makes the next start slower."""
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f"{kind}-{digest}.json.{os.getpid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(folder / f"{kind}-{digest}.json")
        finally:
            temporary.unlink(missing_ok=True)
        by_age = sorted(folder.glob(f"{kind}-*.json"), key=lambda path: path.stat().st_mtime_ns)
        for old in by_age[:-MOST_KEPT]:
            old.unlink()


def _folder() -> Path | None:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():
        return base / "plogscope"
    try:
        return Path.home() / ".cache" / "plogscope"
    except RuntimeError:  # a user without a home folder
        return None
