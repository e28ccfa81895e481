"""What was found under the given path: record sources, artefacts and what was skipped."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

SourceKind = Literal[
    "plog",
    "device-log",
    "stdout",
    "device-system",
    "host-system",
    "npugraph-debug",
    "artefact",
]
"""`plog`: CANN host log; `device-log`: what the device wrote for a process; `stdout`: any printed log;
`device-system`: slog, hisi_logs, kbox; `host-system`: dmesg, messages; `npugraph-debug`: npugraph_ex/debug.log;
`artefact`: read by the checks that need it, not as log records (scripts, graph dumps, env.txt, rank tables)."""

Layout = Literal["five-step", "ascend-log", "loose"]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One file that can be read, with what its path alone says about its writer.

    Attributes:
        id: Position in `Bundle.sources`.
        path: As shown to people: relative to the given path, POSIX separators.
        location: Where to open it; never printed in a report.
        size: Bytes at `location`.
        mtime_ns: Modification time, ns since the epoch, UTC; 0 if unknown.
        stamp_ns: Local time in the file name, ns since 1970-01-01 read as if UTC; orders rotated files.
        step: Directory name of the five-step run that it belongs to.
        folder: Which of debug, run, security a plog lies in.
        copied: `location` is a temporary copy, unpacked or in UTF-8.
    """

    id: int
    path: str
    location: str
    kind: SourceKind
    size: int
    mtime_ns: int = 0
    node: str | None = None
    pid: int | None = None
    device: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    stamp_ns: int | None = None
    step: str | None = None
    folder: str | None = None
    copied: bool = False


_STATE = re.compile(r"(?:npu-?_?smi|hccn|ifconfig|lscpu|env|pip)(?:[-_.][\w-]*)?(?:\.\w+)?$", re.IGNORECASE)
"""Names of what was asked of a machine: its state, not what the job printed."""

CALM_FOLDERS = ("run", "security")
"""Plogs in them hold events, and no errors."""


def tells_of_failures(source: Source) -> bool:
    """True for a file in which a failure of the job would show: its output, or a plog of its errors."""
    if source.kind == "plog":
        return source.folder not in CALM_FOLDERS
    name = source.path.rpartition("/")[2]
    return source.kind == "stdout" and source.size > 0 and _STATE.match(name) is None


class Skipped(msgspec.Struct, frozen=True):
    """Something that was found and not read, and why."""

    path: str
    reason: str


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """Everything found under the given paths.

    Attributes:
        path: The path as the user gave it.
        layout: `five-step` if a run directory was recognised.
        run: Path of the chosen five-step run directory, relative as `Source.path` ("" = the given path itself).
        other_runs: Further five-step runs below the same parent, newest first; not analysed.
        sources: Record sources and artefacts, ordered by path.
        empty_dirs: Directories without any file (relative), because an empty `ascend_plog` is a fact.
        partial: What was read, but not to its end, and why.
    """

    path: str
    layout: Layout
    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...] = ()
    run: str | None = None
    other_runs: tuple[str, ...] = ()
    empty_dirs: tuple[str, ...] = ()
    partial: tuple[Skipped, ...] = ()

    @property
    def run_base(self) -> str:
        """What stands before a name in the chosen run directory to get its path; "" without one."""
        run = self.run or ""
        return run if not run or run.endswith("!") or re.fullmatch(r"\d+:", run) else f"{run}/"

    def find(self, path: str) -> Source | None:
        """The source with that shown path, or None."""
        return next((source for source in self.sources if source.path == path), None)
