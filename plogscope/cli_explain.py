"""`plogscope explain`: what a code means. Arguments in, text out; the answers come from `plogscope.explain`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from plogscope.cli_language import Lang, language


class View(str, Enum):
    """Output formats of what is for a terminal or a program."""

    text = "text"
    json = "json"


def explain(
    codes: Annotated[list[str], typer.Argument(help="507015, EI0002, hccl:9, 'errcode:(0x800000, 0, 0)', a line …")],
    lang: Annotated[Optional[Lang], typer.Option("--lang", help="en or zh; default by LANG.")] = None,
    view: Annotated[View, typer.Option("--format", help="text or json (schema plogscope.explain/1).")] = View.text,
    grammars: Annotated[Optional[list[Path]], typer.Option("--grammars", help="Folder of further signatures.")] = None,
) -> None:
    """Explain error codes, offline: meaning, role, what wraps them, where to look, next action."""
    from plogscope.explain import as_json, as_text  # noqa: PLC0415 - keeps --help fast
    from plogscope.explain import explain as answer  # noqa: PLC0415
    from plogscope.grammar.load import load_grammar  # noqa: PLC0415

    explanation = answer(codes, load_grammar(grammars or ()))
    text = as_json(explanation) if view is View.json else as_text(explanation, language(lang))
    typer.echo(text.encode("utf-8", "replace").decode("utf-8"), nl=False)
