"""The grammar that the program works with: compiled if it can be, cached if it must be read from TOML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from plogscope.data import compiled_grammar, grammar_root
from plogscope.errors import GrammarError, InputError
from plogscope.grammar.cache import digest_of, read_cache, write_cache
from plogscope.grammar.compile import assemble, compile_documents, decode_grammar, raise_defects
from plogscope.grammar.document import Defect, is_domain, read_documents, signature_paths
from plogscope.model.signature import Grammar, Signature

_KIND = "grammar"


def load_grammar(extra: Sequence[Path] = ()) -> Grammar:
    """All signatures: the shipped ones and those of the folders `extra` (a later folder wins).

    The files of `extra` must keep all laws (`plogscope.grammar.lint`); tests hold the shipped files to them.

    Args:
        extra: Folders of a user's own signature files. A file with the id of one that is known already replaces it
            only when it says `overrides = true`.

    Raises:
        GrammarError: With every defect of every file, one a line: `file:line: what is wrong; remedy`.
        InputError: A folder of `extra` does not exist.
    """
    folders = _checked(extra)
    shipped = _load_shipped()
    if not folders:
        return shipped
    digest = digest_of(path for folder in folders for path in signature_paths(folder))
    return _cached(f"{shipped.digest}{digest}") or _keep(f"{shipped.digest}{digest}", _extended(shipped, folders))


def load_drafts(extra: Sequence[Path]) -> tuple[Grammar, list[Defect]]:
    """As `load_grammar`, for a trial: files with defects take part as far as they can be read, and are told.

    Raises:
        GrammarError: The shipped grammar cannot be read.
        InputError: A folder of `extra` does not exist.
    """
    folders = _checked(extra)
    return _extend(_load_shipped(), folders)


def _checked(extra: Sequence[Path]) -> list[Path]:
    folders = [Path(folder) for folder in extra]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder", "give --grammars a folder of signature files")
        if not signature_paths(folder):
            raise InputError(f"{folder} holds no signature file", "give --grammars a folder of .toml files")
        if is_domain(folder):
            raise InputError(f"{folder} is the folder of one domain", f"name the folder above it: {folder.parent}")
    return folders


def _load_shipped() -> Grammar:
    compiled, root = compiled_grammar(), grammar_root()
    if compiled is not None:
        try:
            return decode_grammar(compiled.read_bytes())
        except (OSError, msgspec.MsgspecError) as error:
            raise GrammarError(f"the compiled grammar cannot be read ({error})", "install plogscope again") from error
    if root is None:
        raise GrammarError("the grammar is missing from this installation", "install plogscope again")
    digest = digest_of(signature_paths(root))
    return _cached(digest) or _keep(digest, _read(root))


def _cached(digest: str) -> Grammar | None:
    data = read_cache(_KIND, digest)
    try:
        return None if data is None else decode_grammar(data)
    except msgspec.MsgspecError:  # cut off or written by something else: made again
        return None


def _keep(digest: str, grammar: Grammar) -> Grammar:
    write_cache(_KIND, digest, msgspec.json.encode(grammar))
    return grammar


def _read(root: Path) -> Grammar:
    documents, defects = read_documents(root)
    signatures = compile_documents(documents, defects)
    raise_defects(defects)
    return assemble(signatures)


def _extended(shipped: Grammar, folders: Iterable[Path]) -> Grammar:
    grammar, defects = _extend(shipped, folders)
    raise_defects(defects)
    return grammar


def _extend(shipped: Grammar, folders: Iterable[Path]) -> tuple[Grammar, list[Defect]]:
    """The grammar with every file that can be read as a signature, and the defects of all files."""
    from plogscope.grammar.lint import lint_documents  # noqa: PLC0415 - only users' files are proved at start

    signatures = shipped.by_id()
    defects: list[Defect] = []
    for folder in folders:
        documents, unreadable = read_documents(folder)
        defects += [*unreadable, *lint_documents(documents, signatures.values())]
        read: list[Signature] = compile_documents(documents, [])
        signatures |= {signature.id: signature for signature in read}
    return assemble(signatures.values()), sorted(defects)
