"""What was read, so that a reader can tell whether a file at hand is the one of the report: digests of the inputs.

Only the page shows them, so only then the files are read again, and never more than a bound: files above 64 MB, and
all once 2 GB are read, are known by their first and last MiB.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from plogscope.model.report import Report

WHOLE_BYTES = 64_000_000
TOTAL_BYTES = 2_000_000_000
MAX_FILES = 2_000
_EDGE_BYTES = 1 << 20


class Digest(msgspec.Struct, frozen=True):
    """The SHA-256 of a file; `edges` = only of its first and last MiB."""

    sha256: str
    edges: bool


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The command line as typed, and the digests of the inputs by the path that the report shows."""

    command: str = ""
    digests: dict[str, Digest] = {}


def digest_inputs(report: Report, paths: Sequence[Path]) -> dict[str, Digest]:
    """Digests by path, as far as the files are still there; at most `MAX_FILES`."""
    digests: dict[str, Digest] = {}
    left = TOTAL_BYTES
    for file in report.bundle.files[:MAX_FILES]:
        location = _locate(file.path, paths)
        if file.skipped is not None or location is None:
            continue
        edges = file.bytes > min(WHOLE_BYTES, left)
        digest = _digest(location, edges=edges)
        if digest is not None:
            digests[file.path] = digest
            left -= min(file.bytes, 2 * _EDGE_BYTES) if edges else file.bytes
    return digests


def _locate(path: str, paths: Sequence[Path]) -> Path | None:
    """The file that a report shows as `path`: relative to the given path, `N:` in front when several were given."""
    number, colon, rest = path.partition(":")
    if len(paths) > 1 and colon and number.isdecimal() and 1 <= int(number) <= len(paths):
        root, path = paths[int(number) - 1], rest
    elif len(paths) == 1:
        root = paths[0]
    else:
        return None
    try:
        return root if root.is_file() else root / path
    except (OSError, ValueError):
        return None


def _digest(path: Path, *, edges: bool) -> Digest | None:
    """The digest of a regular file, None when it cannot be read: provenance never fails a report."""
    digest = hashlib.sha256()
    try:
        if not path.is_file():
            return None
        with path.open("rb") as stream:
            if edges:
                digest.update(stream.read(_EDGE_BYTES))
                stream.seek(max(_EDGE_BYTES, path.stat().st_size - _EDGE_BYTES))
                digest.update(stream.read(_EDGE_BYTES))
            else:
                left = WHOLE_BYTES
                while left > 0 and (block := stream.read(min(_EDGE_BYTES, left))):
                    digest.update(block)
                    left -= len(block)
    except (OSError, ValueError):
        return None
    return Digest(digest.hexdigest(), edges)
