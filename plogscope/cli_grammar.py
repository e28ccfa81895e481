"""`plogscope grammar …`: the signatures, and help for writing them. The work is done by `plogscope.workbench`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from plogscope.cli_explain import View
from plogscope.cli_language import Lang, language
from plogscope.errors import EXIT_GRAMMAR

grammar_app = typer.Typer(no_args_is_help=True, help="The signatures: what plogscope knows.")

Folders = Annotated[Optional[list[Path]], typer.Option("--grammars", help="Folder of further signatures, repeatable.")]
Format = Annotated[View, typer.Option("--format", help="text or json.")]
Language = Annotated[Optional[Lang], typer.Option("--lang", help="en or zh; default by LANG.")]


@grammar_app.command("list")
def grammar_list(
    domain: Annotated[Optional[str], typer.Option("--domain", help="Only this folder, for example hccl.")] = None,
    category: Annotated[Optional[str], typer.Option("--category", help="Only this category.")] = None,
    role: Annotated[Optional[str], typer.Option("--role", help="Only this role.")] = None,
    status: Annotated[Optional[str], typer.Option("--status", help="experimental, test or stable.")] = None,
    view: Format = View.text,
    lang: Language = None,
    grammars: Folders = None,
) -> None:
    """List the signatures: id, role, category, title."""
    from plogscope.workbench import list_signatures  # noqa: PLC0415 - keeps --help fast

    wanted = {"domain": domain, "category": category, "role": role, "status": status}
    _print(list_signatures(grammars or (), wanted, view.value, language(lang)))


@grammar_app.command("show")
def grammar_show(
    name: Annotated[str, typer.Argument(help="Id of the signature, for example hccl/notify-wait-timeout.")],
    view: Format = View.text,
    lang: Language = None,
    grammars: Folders = None,
) -> None:
    """Show one signature: pattern, fields, advice, examples, and what explains it."""
    from plogscope.workbench import show_signature  # noqa: PLC0415 - keeps --help fast

    _print(show_signature(grammars or (), name, view.value, language(lang)))


@grammar_app.command("new")
def grammar_new(
    line: Annotated[str, typer.Option("--from-line", help="A real line of the log.")],
    name: Annotated[str, typer.Option("--id", help="Id: folder and name of the file.")] = "my/new-signature",
) -> None:
    """Print a signature file that matches the line; what only a person knows is marked `<fill in …>`."""
    from plogscope.workbench import draft_signature  # noqa: PLC0415 - keeps --help fast

    _print(draft_signature(line, name))


@grammar_app.command("vocabulary")
def grammar_vocabulary(view: Format = View.text, lang: Language = None) -> None:
    """Print the words that a signature file may use: category, role, status, kind, type, meaning with its unit."""
    from plogscope.workbench import vocabulary  # noqa: PLC0415 - keeps --help fast

    _print(vocabulary(view.value, language(lang)))


@grammar_app.command("lint")
def grammar_lint(
    path: Annotated[
        Optional[Path], typer.Argument(help="Folder of signatures, or one file; default: the shipped ones.")
    ] = None,
    grammars: Folders = None,
) -> None:
    """Check signature files; each defect is named with file, line and remedy."""
    from plogscope.grammar.document import format_defects  # noqa: PLC0415 - keeps --help fast
    from plogscope.workbench import prove  # noqa: PLC0415

    paths = [*([path] if path else []), *(grammars or [])]
    proof = prove(paths)
    if proof.defects:
        typer.echo(format_defects(proof.defects))
        raise typer.Exit(EXIT_GRAMMAR)
    for notice in proof.notices:
        typer.echo(f"notice: {notice}")
    for one in paths or [Path("grammars")]:
        typer.echo(f"{one}: no defect")


@grammar_app.command("test")
def grammar_test(
    lines: Annotated[Path, typer.Option("--lines", help="File of log lines; - reads the standard input.")],
    expect: Annotated[
        Optional[str], typer.Option("--expect", help="Id of a signature: exit code 1 unless it takes every line.")
    ] = None,
    view: Format = View.text,
    grammars: Folders = None,
) -> None:
    """Say which signature takes each line, and what the lines look like that nobody takes."""
    from plogscope.workbench import try_lines  # noqa: PLC0415 - keeps --help fast

    outcome = try_lines(grammars or (), lines, view.value, expect)
    _print(outcome.text)
    for note in outcome.notes:
        typer.echo(note, err=True)
    raise typer.Exit(outcome.exit_code)


def _print(text: str) -> None:
    typer.echo(text.encode("utf-8", "replace").decode("utf-8"), nl=False)
