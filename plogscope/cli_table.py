"""`plogscope table`: all records as Parquet, Arrow or CSV. Arguments in, a file out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def table(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files of one job.", metavar="PATH...")],
    output: Annotated[Path, typer.Option("-o", "--output", help="File: .parquet, .arrow or .csv.")],
    grammars: Annotated[Optional[list[Path]], typer.Option("--grammars", help="Folder of further signatures.")] = None,
    jobs: Annotated[Optional[int], typer.Option("--jobs", min=1, help="Processes; default one per core.")] = None,
) -> None:
    """Write every record of every log as a table, with sources, clocks and processes beside it."""
    from plogscope.pipeline import Options, write_rows  # noqa: PLC0415 - keeps --help fast

    write_rows(paths, output, Options(grammar_folders=tuple(grammars or ()), jobs=jobs))
