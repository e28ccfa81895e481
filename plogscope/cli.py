"""The command line: parse arguments, call the API, print, exit code. No logic."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from plogscope.cli_explain import explain
from plogscope.cli_grammar import grammar_app
from plogscope.cli_language import Lang, language
from plogscope.cli_table import table
from plogscope.errors import (
    EXIT_BUG,
    EXIT_FAIL_ON,
    EXIT_INPUT,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    InputError,
    PlogscopeError,
    UsageError,
)
from plogscope.version import __version__

if TYPE_CHECKING:
    from plogscope.model.report import Report

app = typer.Typer(
    name="plogscope", add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
app.add_typer(grammar_app, name="grammar")


class Format(str, Enum):
    """Output formats."""

    html = "html"
    md = "md"
    json = "json"
    text = "text"


class SymptomChoice(str, Enum):
    """What is wrong, as the user sees it."""

    crash = "crash"
    mismatch = "mismatch"
    slow = "slow"


class Template(str, Enum):
    """Issue forms."""

    vllm_ascend = "vllm-ascend"
    torchair = "torchair"
    cann = "cann"
    generic = "generic"


def _version(show: bool) -> None:  # noqa: FBT001 - typer calls it with the value of the flag
    if show:
        typer.echo(f"plogscope {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Finds the first cause in Huawei Ascend logs: category, evidence, most likely root cause, smallest next action."""
    del version


PathsArgument = Annotated[list[Path], typer.Argument(help="Folders or files of one job.", metavar="PATH...")]
OutputOption = Annotated[
    Optional[Path], typer.Option("-o", "--output", help="File, - for stdout, or folder for several formats.")
]
FormatsOption = Annotated[Optional[list[Format]], typer.Option("-f", "--format", help="Output format, repeatable.")]
LangOption = Annotated[Optional[Lang], typer.Option("--lang", help="en or zh; default by LANG.")]
GrammarsOption = Annotated[Optional[list[Path]], typer.Option("--grammars", help="Folder of further signatures.")]
JobsOption = Annotated[Optional[int], typer.Option("--jobs", min=1, help="Processes; default one per core.")]
SymptomOption = Annotated[Optional[SymptomChoice], typer.Option("--symptom", help="What is wrong, if nothing crashed.")]
FailOnOption = Annotated[Optional[str], typer.Option("--fail-on", help="Exit with 1 when the status is this one.")]
KeepTableOption = Annotated[
    Optional[Path], typer.Option("--keep-table", help="Also write the records of findings: .parquet, .arrow, .csv.")
]
TemplateOption = Annotated[Optional[Template], typer.Option("--template", help="Issue form that the Markdown fills.")]
RedactOption = Annotated[bool, typer.Option("--redact", help="Pseudonyms for addresses, hosts, users and buckets.")]
RedactWordOption = Annotated[
    Optional[list[str]], typer.Option("--redact-word", help="A further name for --redact, repeatable.")
]


@app.command()
def analyze(
    paths: PathsArgument,
    output: OutputOption = None,
    formats: FormatsOption = None,
    lang: LangOption = None,
    grammars: GrammarsOption = None,
    jobs: JobsOption = None,
    symptom: SymptomOption = None,
    fail_on: FailOnOption = None,
    keep_table: KeepTableOption = None,
    template: TemplateOption = None,
    redact: RedactOption = False,
    redact_word: RedactWordOption = None,
) -> None:
    """Analyse the logs of one job and write the report."""
    from plogscope.output import Wish, write_report  # noqa: PLC0415 - keeps --help fast

    wanted = list(dict.fromkeys(formats or []))
    if output is not None and str(output) == "-":
        if len(wanted) != 1:
            raise UsageError("the standard output takes one format", "add one -f: html, md, json or text")
        output = None
    _check_wishes(paths, wanted, output, fail_on)
    if redact_word and not all(word.strip() for word in redact_word):
        raise UsageError("--redact-word is empty", "give the name that must not be in the report")
    report = _run(paths, grammars, jobs, symptom, keep_table)
    wish = Wish(
        formats=[one.value for one in wanted],
        output=output,
        lang=language(lang, template.value if template else None),
        template=template.value if template else "generic",
        redact=redact or bool(redact_word),
        redact_words=redact_word or (),
        paths=paths,
        command=_command_line(),
    )
    write_report(report, wish)
    if fail_on is not None and report.verdict.status == fail_on:
        raise typer.Exit(EXIT_FAIL_ON)


def _run(
    paths: list[Path],
    grammars: list[Path] | None,
    jobs: int | None,
    symptom: SymptomChoice | None,
    keep_table: Path | None,
) -> Report:
    from plogscope.pipeline import Options  # noqa: PLC0415 - keeps --help fast
    from plogscope.pipeline import analyze as run  # noqa: PLC0415

    options = Options(
        grammar_folders=tuple(grammars or ()),
        jobs=jobs,
        symptom=symptom.value if symptom else None,
        keep_table=keep_table,
    )
    return run(paths, options)


def _check_wishes(paths: list[Path], wanted: list[Format], output: Path | None, fail_on: str | None) -> None:
    """Refuses what makes no sense before anything is read."""
    from plogscope.model.vocabulary import STATUSES  # noqa: PLC0415 - keeps --help fast

    if fail_on is not None and fail_on not in STATUSES:
        raise UsageError(f"--fail-on {fail_on} is not a status", f"use one of {', '.join(STATUSES)}")
    if any(not str(path) or (str(path) == "." and "" in sys.argv[1:]) for path in paths):
        raise UsageError("an empty path names nothing", "give the folder of the logs")
    try:
        _check_output(wanted, output)
        replaced = output is not None and output.is_file() and _is_input(output, paths)
    except OSError as error:
        raise InputError(f"{output} cannot be written ({error.strerror})", "choose another place with -o") from error
    if replaced:
        raise UsageError(f"{output} is one of the logs", "choose another place with -o")


def _is_input(output: Path, paths: list[Path]) -> bool:
    return any(output.samefile(path) for path in paths if path.is_file()) or (
        _is_among(output, paths) and _is_log(output)
    )


def _is_among(file: Path, paths: list[Path]) -> bool:
    return any(file.resolve().is_relative_to(path.resolve()) for path in paths if path.is_dir())


def _is_log(file: Path) -> bool:
    """True when an analysis would read it as a log, which a report of an earlier run never is."""
    from plogscope.discover.kinds import kind_of  # noqa: PLC0415 - keeps --help fast
    from plogscope.discover.walk import File  # noqa: PLC0415

    kind = kind_of(File(str(file), str(file), file.stat().st_size, 0), alone=False).kind
    return kind not in (None, "artefact")


def _command_line() -> str:
    """What was typed, with the program by its name: where it is installed says nothing about the report."""
    return shlex.join(["plogscope", *sys.argv[1:]])


app.command()(explain)
app.command()(table)


def _check_output(wanted: list[Format], output: Path | None) -> None:
    if len(wanted) > 1 and output is None:
        raise UsageError("several formats cannot share the standard output", "name a folder with -o DIR")
    if len(wanted) > 1 and output is not None and output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file", "several formats need a folder: -o DIR")


def main() -> None:
    """Entry point: defects of the user are one line on stderr, defects of the program ask for a report."""
    try:
        code = app(standalone_mode=False)  # typer.Exit ends here as its code
        if code == EXIT_INTERRUPTED:  # typer's word for an interrupt
            _fail("plogscope: interrupted", EXIT_INTERRUPTED)
        sys.exit(code if isinstance(code, int) else EXIT_OK)
    except PlogscopeError as error:
        _fail(f"plogscope: {error}", error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_OK)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        _fail(f"plogscope: the output cannot be written ({error.strerror})", EXIT_INPUT)
    except (KeyboardInterrupt, typer.Abort):
        _fail("plogscope: interrupted", EXIT_INTERRUPTED)
    except Exception as error:
        if type(error).__module__.startswith(("click", "typer")) and hasattr(error, "format_message"):
            _fail(f"plogscope: {error.format_message()}", EXIT_USAGE)
        if os.environ.get("PLOGSCOPE_DEBUG"):
            raise
        _fail(
            f"plogscope: internal error {type(error).__name__}: {error}; report what PLOGSCOPE_DEBUG=1 prints",
            EXIT_BUG,
        )


def _fail(message: str, code: int) -> None:
    with suppress(OSError, ValueError, AttributeError):  # a closed or full stderr must not change the exit code
        sys.stderr.write(message.encode("utf-8", "replace").decode("utf-8") + "\n")
        sys.stderr.flush()
    sys.exit(code)


if __name__ == "__main__":
    main()
