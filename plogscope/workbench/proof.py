"""Signature files held to the laws, for a person who writes one: a folder of them, or one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from plogscope.data import grammar_root
from plogscope.errors import UsageError
from plogscope.grammar.compile import compile_documents
from plogscope.grammar.document import (
    CODES_FOLDER,
    Defect,
    Document,
    is_domain,
    read_document,
    read_documents,
    signature_paths,
)
from plogscope.grammar.lint import NOTICES, lint_documents
from plogscope.grammar.load import load_grammar
from plogscope.model.signature import Signature


class Proof(msgspec.Struct, frozen=True):
    """What is wrong with the files, and what only deserves a look: neither is empty by accident."""

    defects: list[Defect]
    notices: list[Defect]


def prove(paths: Sequence[Path]) -> Proof:
    """Defects and notices of folders of signature files, or of single files.

    Args:
        paths: Folders in the order in which they are loaded, or files; none = the shipped folder.

    Raises:
        GrammarError: The shipped grammar cannot be read.
        UsageError: A path is no folder of signature files and no such file.
    """
    shipped = grammar_root()
    chosen = list(paths) or ([shipped] if shipped is not None else [])
    if not chosen:
        raise UsageError("there is no folder of signature files here", "name one: plogscope grammar lint DIR")
    for path in chosen:
        _check(path)
    known: list[Signature] | None = None
    defects: list[Defect] = []
    notices: list[Defect] = []
    for path in chosen:
        if shipped is not None and path.resolve() == shipped.resolve():
            documents, wrong = read_documents(path)
            others: list[Signature] = []
        else:
            known = list(load_grammar().signatures) if known is None else known
            documents, wrong = read_documents(path) if path.is_dir() else _read_file(path)
            others = [*known, *_siblings(path, shipped)] if path.is_file() else known
            others = _without_itself(path, others, documents, shipped)
        found = [*wrong, *lint_documents(documents, others)]
        seen = lint_documents(documents, others, NOTICES) if not found else []
        defects += _as_given(path, found)
        notices += _as_given(path, seen)
        if known is not None:
            known = list({one.id: one for one in [*known, *compile_documents(documents, [])]}.values())
    return Proof(sorted(defects), sorted(notices))


def _check(path: Path) -> None:
    if path.is_file() and path.suffix != ".toml":
        raise UsageError(f"{path} is no signature file", "name a .toml file, or a folder of them")
    if not path.exists():
        raise UsageError(f"{path} does not exist", "name a folder of signature files, or one file")
    if path.is_dir() and not signature_paths(path):
        raise UsageError(f"{path} holds no signature file", "name a folder of .toml files")
    if path.is_dir() and is_domain(path):
        raise UsageError(f"{path} is the folder of one domain", f"lint the folder above it: {path.absolute().parent}")


def _read_file(path: Path) -> tuple[list[Document], list[Defect]]:
    whole = path.absolute()
    read = read_document(whole, whole.parent.parent)
    return ([read], []) if isinstance(read, Document) else ([], [read])


def _siblings(path: Path, shipped: Path | None) -> list[Signature]:
    """The other signatures of the folder that a single file belongs to."""
    whole = path.absolute()
    root = whole.parent.parent
    if shipped is not None and root.resolve() == shipped.resolve():
        return []
    others = [one for one in root.glob("*/*.toml") if one != whole and one.parent.name != CODES_FOLDER]
    read = [read_document(one, root) for one in sorted(others)]
    return compile_documents([one for one in read if isinstance(one, Document)], [])


def _without_itself(
    path: Path, others: list[Signature], documents: list[Document], shipped: Path | None
) -> list[Signature]:
    """A shipped file that is looked at alone does not replace itself."""
    if not path.is_file() or shipped is None or path.resolve().parent.parent != shipped.resolve():
        return others
    own = {document.id for document in documents}
    return [one for one in others if one.id not in own]


def _as_given(path: Path, defects: Sequence[Defect]) -> list[Defect]:
    """Defects of a single file name it as it was named."""
    return [msgspec.structs.replace(one, file=str(path)) for one in defects] if path.is_file() else list(defects)
