"""plogscope finds the first cause in Huawei Ascend logs and shows the lines that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plogscope.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

    from plogscope.model.report import Report
    from plogscope.model.signature import Grammar
    from plogscope.model.vocabulary import Symptom

__all__ = ["__version__", "analyze", "load_grammar", "read_table"]


def analyze(
    paths: str | Path | Sequence[str | Path],
    *,
    grammars: Sequence[str | Path] = (),
    jobs: int | None = None,
    symptom: Symptom | None = None,
) -> Report:
    """Analyses the logs of one job.

    Args:
        paths: Folders or files.
        grammars: Folders of further signatures.
        jobs: Processes to use; None = one per core.
        symptom: What is wrong if nothing crashed.

    Raises:
        PlogscopeError: A path or a grammar that the user can mend.
    """
    from plogscope.pipeline import Options  # noqa: PLC0415 - keeps `import plogscope` cheap
    from plogscope.pipeline import analyze as run  # noqa: PLC0415

    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    options = Options(grammar_folders=tuple(Path(folder) for folder in grammars), jobs=jobs, symptom=symptom)
    return run([Path(path) for path in given], options)


def read_table(
    paths: str | Path | Sequence[str | Path], *, grammars: Sequence[str | Path] = (), jobs: int | None = None
) -> pa.Table:
    """All records of one job as one Arrow table in memory; `plogscope table` writes what is too large for that.

    Args:
        paths: Folders or files.
        grammars: Folders of further signatures: what they extract tells who is who.
        jobs: Processes to use; None = one per core.

    Returns:
        Columns as in `plogscope.model.rows.ROWS`.

    Raises:
        PlogscopeError: A path or a grammar that the user can mend.
    """
    from plogscope.pipeline import Options, read_rows  # noqa: PLC0415 - keeps `import plogscope` cheap

    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    options = Options(grammar_folders=tuple(Path(folder) for folder in grammars), jobs=jobs)
    return read_rows([Path(path) for path in given], options)


def load_grammar(grammars: Sequence[str | Path] = ()) -> Grammar:
    """The shipped signatures and those of the folders.

    Raises:
        GrammarError: With every defect of every file.
    """
    from plogscope.grammar.load import load_grammar as load  # noqa: PLC0415 - keeps `import plogscope` cheap

    return load([Path(folder) for folder in grammars])
