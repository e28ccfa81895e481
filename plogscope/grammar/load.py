"""The grammar that the program works with: compiled if it can be, cached if it must be read from TOML."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from plogscope import __version__
from plogscope.data import compiled_grammar, grammar_root
from plogscope.errors import GrammarError, InputError
from plogscope.grammar.compile import assemble, compile_documents, decode_grammar, raise_defects
from plogscope.grammar.document import Defect, Document, read_documents, signature_paths
from plogscope.grammar.schema import OVERRIDES
from plogscope.model.signature import Grammar, Signature

MOST_CACHED = 8
"""Compiled grammars that stay in the cache: every edit of a signature file makes another one."""


def load_grammar(extra: Sequence[Path] = ()) -> Grammar:
    """All signatures: the shipped ones and those of the folders `extra` (a later folder wins).

    Args:
        extra: Folders of a user's own signature files. A file with the id of one that is known already replaces it
            only when it says `overrides = true`.

    Raises:
        GrammarError: With every defect of every file, one a line: `file:line: what is wrong; remedy`.
        InputError: A folder of `extra` does not exist.
    """
    folders = [Path(folder) for folder in extra]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder} is not a folder", "give --grammars a folder of signature files")
    compiled = compiled_grammar()
    if compiled is not None and not folders:
        return _read_shipped(compiled)
    return _load_cached(compiled, folders)


def _load_cached(compiled: Path | None, folders: list[Path]) -> Grammar:
    root = grammar_root()
    if compiled is None and root is None:
        raise GrammarError("the grammar is missing from this installation", "install plogscope again")
    roots = folders if root is None else [root, *folders]
    key = _key([*roots, Path(__file__).parent], compiled)
    cache = _cache_folder()
    if cache:
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            return decode_grammar((cache / f"grammar-{key}.json").read_bytes())
    known = _read_shipped(compiled).signatures if compiled is not None else ()
    grammar = _merge(known, roots)
    if cache:
        _write_cache(cache / f"grammar-{key}.json", msgspec.json.encode(grammar))
    return grammar


def _read_shipped(path: Path) -> Grammar:
    try:
        return decode_grammar(path.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise GrammarError(f"the compiled grammar cannot be read ({error})", "install plogscope again") from error


def _merge(known: Iterable[Signature], roots: Iterable[Path]) -> Grammar:
    signatures = {signature.id: signature for signature in known}
    defects: list[Defect] = []
    for root in roots:
        documents, unreadable = read_documents(root)
        defects += unreadable
        taken = [document for document in documents if document.id in signatures]
        defects += [_clash(document) for document in taken if document.data.get(OVERRIDES) is not True]
        signatures.update({signature.id: signature for signature in compile_documents(documents, defects)})
    raise_defects(defects)
    return assemble(signatures.values())


def _clash(document: Document) -> Defect:
    message = f"the id {document.id} is taken by a signature that is loaded before"
    return document.defect(
        "override", (), message, "write overrides = true to replace it, or give the file another name"
    )


def _key(roots: Iterable[Path], compiled: Path | None) -> str:
    """Digest of the names, sizes and mtimes of all files that the grammar is made of, and of the code that makes it."""
    digest = hashlib.sha256(f"{__version__} {sys.version_info[:2]}".encode())
    for root in roots:
        files = [*signature_paths(root), *sorted(root.glob("*.py"))]
        digest.update(f"\0{root.resolve()}".encode(errors="surrogateescape"))
        for path in files if compiled is None else [*files, compiled]:
            with contextlib.suppress(OSError):
                status = path.stat()
                line = f"\0{path.name}\0{path}\0{status.st_size}\0{status.st_mtime_ns}"
                digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()[:24]


def _cache_folder() -> Path | None:
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():
        return base / "plogscope"
    try:
        return Path.home() / ".cache" / "plogscope"
    except RuntimeError:  # a user without a home folder
        return None


def _write_cache(path: Path, data: bytes) -> None:
    """Writes whole or not at all; a cache that cannot be written only makes the next start slower."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        by_age = sorted(path.parent.glob("grammar-*.json"), key=lambda file: file.stat().st_mtime_ns)
        for old in by_age[:-MOST_CACHED]:
            old.unlink()
