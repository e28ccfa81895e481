"""TOML files → one JSON: with the literals derived and a digest of what the files say.

The build of the wheel imports this file, so it needs nothing beyond msgspec and a TOML reader.
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable
from pathlib import Path

import msgspec

from plogscope.errors import GrammarError
from plogscope.grammar.conditions import conditions
from plogscope.grammar.document import Defect, Document, format_defects, read_document, read_documents
from plogscope.grammar.literals import required_literals
from plogscope.grammar.schema import read_signature, shape_defects
from plogscope.model.signature import Code, Grammar, Signature
from plogscope.model.vocabulary import Text


class CodeTable(msgspec.Struct, frozen=True):
    """One file of `grammars/codes`."""

    title: Text
    codes: tuple[Code, ...]


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


def compile_codes(path: Path) -> bytes:
    """The JSON of one code table.

    Raises:
        GrammarError: The file is not what the schema wants, or two rows have the same code.
    """
    document = read_document(path, path.parent)
    if isinstance(document, Defect):
        raise_defects([document])
        return b""
    defects = shape_defects(document, document.data, CodeTable)
    raise_defects(defects)
    table = msgspec.convert(document.data, CodeTable)
    seen: set[str] = set()
    for index, code in enumerate(table.codes):
        if code.code in seen:
            message = f"the code {code.code} has a row already"
            defects.append(document.defect("code-once", ("codes", index, "code"), message, "join the rows"))
        seen.add(code.code)
    raise_defects(defects)
    return msgspec.json.encode(table)


def decode_codes(data: bytes) -> dict[str, Code]:
    """Rows by code, from what `compile_codes` wrote.

    Raises:
        msgspec.MsgspecError: The bytes are something else.
    """
    return {code.code: code for code in msgspec.json.decode(data, type=CodeTable).codes}


def compile_documents(documents: Iterable[Document], defects: list[Defect]) -> list[Signature]:
    """Signatures of those documents that have the right shape; what is wrong with the others goes to `defects`."""
    signatures = []
    for document in documents:
        read = read_signature(document)
        wrong = [*(read if isinstance(read, list) else []), *pattern_defects(document)]
        defects.extend(wrong)
        if isinstance(read, Signature) and not wrong:
            signatures.append(with_literals(read))
    return signatures


def pattern_defects(document: Document) -> list[Defect]:
    """A defect if the file has a pattern and it does not compile, or only with a warning (`[[` means two things)."""
    match = document.data.get("match")
    pattern = match.get("pattern") if isinstance(match, dict) else None
    if not isinstance(pattern, str):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern, re.MULTILINE)
    except (re.error, Warning) as error:
        message = f"the pattern does not compile ({error})"
        remedy = "mend it; it must be valid for re and regex"
        return [document.defect("pattern-compiles", ("match", "pattern"), message, remedy)]
    return []


def with_literals(signature: Signature) -> Signature:
    """The signature with its literals filled: those the file gives, else those derived; and with its conditions.

    Raises:
        re.error: The pattern does not compile.
    """
    literals = signature.match.literals or required_literals(signature.match.pattern)
    return msgspec.structs.replace(
        signature,
        match=msgspec.structs.replace(signature.match, literals=literals),
        conditions=conditions(signature.match.pattern, literals),
    )


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
