"""TOML files → one JSON: with the literals derived and a digest of what the files say.

The build of the wheel imports this file, so it needs nothing beyond msgspec and a TOML reader.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from plogscope.errors import GrammarError
from plogscope.grammar.document import Defect, Document, format_defects, read_documents
from plogscope.grammar.literals import required_literals
from plogscope.grammar.schema import read_signature
from plogscope.model.signature import Grammar, Signature


def compile_grammar(root: Path) -> bytes:
    """The JSON of all signatures below `root` (see `read_grammar`).

    Raises:
        GrammarError: A file is not what the schema wants, or its pattern does not compile.
    """
    return msgspec.json.encode(read_grammar(root))


def decode_grammar(data: bytes) -> Grammar:
    """The grammar that `compile_grammar` wrote.

    Raises:
        msgspec.MsgspecError: The bytes are something else.
    """
    return msgspec.json.decode(data, type=Grammar)


def read_grammar(root: Path) -> Grammar:
    """All signatures below `root`, in memory.

    Raises:
        GrammarError: With every defect of every file.
    """
    documents, defects = read_documents(root)
    signatures = compile_documents(documents, defects)
    raise_defects(defects)
    return assemble(signatures)


def compile_documents(documents: Iterable[Document], defects: list[Defect]) -> list[Signature]:
    """Signatures of those documents that have the right shape; what is wrong with the others goes to `defects`."""
    signatures = []
    for document in documents:
        read = read_signature(document)
        if isinstance(read, list):
            defects.extend(read)
            continue
        try:
            signatures.append(with_literals(read))
        except re.error as error:
            defects.append(pattern_defect(document, error))
    return signatures


def pattern_defect(document: Document, error: Exception) -> Defect:
    """The defect of a pattern that does not compile."""
    message = f"the pattern does not compile ({error})"
    return document.defect(
        "pattern-compiles", ("match", "pattern"), message, "mend it; it must be valid for re and regex"
    )


def with_literals(signature: Signature) -> Signature:
    """The signature with its literals filled: those the file gives, else those derived from the pattern.

    Raises:
        re.error: The pattern does not compile.
    """
    re.compile(signature.match.pattern, re.MULTILINE)
    literals = signature.match.literals or required_literals(signature.match.pattern)
    return msgspec.structs.replace(signature, match=msgspec.structs.replace(signature.match, literals=literals))


def assemble(signatures: Iterable[Signature]) -> Grammar:
    """A grammar of these signatures, ordered by id, with its digest."""
    ordered = tuple(sorted(signatures, key=lambda signature: signature.id))
    return Grammar(digest=hashlib.sha256(msgspec.json.encode(ordered)).hexdigest()[:16], signatures=ordered)


def raise_defects(defects: list[Defect]) -> None:
    """Raises one GrammarError that lists all defects; nothing if there are none.

    Raises:
        GrammarError: There is at least one defect.
    """
    if defects:
        count = f"{len(defects)} defect{'s' if len(defects) > 1 else ''} in the grammar files"
        raise GrammarError(f"{count}\n{format_defects(defects)}")
