"""Where a table may be written: it replaces no input, and in the folder of a job only tables of plogscope."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from plogscope.errors import UsageError
from plogscope.model.rows import CLOCKS, PROCESSES, ROWS, SOURCES

SIDE_TABLES: Mapping[str, pa.Schema] = {"sources": SOURCES, "clocks": CLOCKS, "processes": PROCESSES}


def side_path(path: Path, name: str) -> Path:
    """Where the side table of that name stands beside the table of rows."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def check_target(path: Path, inputs: Sequence[Path]) -> None:
    """Refuses to replace a file that a job left behind.

    Args:
        path: Of the table of rows; its side tables are looked at as well.
        inputs: Files and folders of the job.

    Raises:
        UsageError: A file stands there that is an input, or lies in the folder of one and is no table of plogscope.
    """
    targets = {path: ROWS} | {side_path(path, name): schema for name, schema in SIDE_TABLES.items()}
    for target, schema in targets.items():
        if not target.is_file():
            continue
        is_input = any(target.samefile(given) for given in inputs if given.is_file())
        if is_input or (_lies_in(target, inputs) and _names(target) != schema.names):
            raise UsageError(f"{target} is a file of the job", "choose another place for the table")


def _lies_in(target: Path, inputs: Sequence[Path]) -> bool:
    """Whether the file, or the link that stands for it, lies in a folder of the job."""
    places = (target.resolve(), target.parent.resolve() / target.name)
    folders = [given.resolve() for given in inputs if given.is_dir()]
    return any(place.is_relative_to(folder) for place in places for folder in folders)


def _names(path: Path) -> list[str]:
    """The columns of a table; none if the file is no table of the format that its suffix names."""
    try:
        if path.suffix.lower() == ".csv":
            with path.open(newline="", encoding="utf-8") as stream:
                return next(csv.reader([stream.readline(1 << 16)]), [])
        if path.suffix.lower() == ".arrow":
            return list(pa.ipc.open_file(str(path)).schema.names)
        from pyarrow import parquet  # noqa: PLC0415 - only this format pays for it

        return list(parquet.read_schema(path).names)
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return []
