"""Proves signature files: shape, then the laws of each file, then the laws between files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import regex

from plogscope.grammar.compile import pattern_defects
from plogscope.grammar.document import Defect, Document, format_defects, read_documents
from plogscope.grammar.lints import links, pattern, proof, wording
from plogscope.grammar.lints.base import Entry, Lint
from plogscope.grammar.schema import read_signature
from plogscope.model.signature import Signature

__all__ = ["LINTS", "NOTICES", "Defect", "format_defects", "lint_documents", "lint_folder"]

LINTS: tuple[type[Lint], ...] = (
    links.IdIsPath,
    pattern.GroupsExtracted,
    pattern.NoUnnamedGroups,
    pattern.NoInlineFlags,
    pattern.NoNestedQuantifiers,
    pattern.FastOnHostileText,
    pattern.LiteralsImplied,
    pattern.GateWorks,
    proof.HasExamples,
    proof.ExamplesMatch,
    proof.NearMissesDoNotMatch,
    proof.UnitsMeant,
    proof.Provenance,
    proof.Supported,
    wording.Finished,
    wording.BothLanguages,
    wording.PlaceholdersExtracted,
    wording.AdviceForCauses,
    links.OverridesMeant,
    links.HintsFit,
    links.TargetsExist,
    links.NoCircles,
    links.TakesItsLines,
    links.OverlapsMeant,
)

NOTICES: tuple[type[Lint], ...] = (wording.CategoryKnown,)
"""What a person may leave as it is: shown, and no defect."""


def lint_folder(root: Path, known: Iterable[Signature] = ()) -> list[Defect]:
    """All defects of the signature files below `root`, ordered by file and line.

    Args:
        root: Folder of signature files; its `codes` folder is not looked at.
        known: Signatures of other folders, which these files may point at, or replace with `overrides = true`.
    """
    documents, defects = read_documents(root)
    return sorted([*defects, *lint_documents(documents, known)])


def lint_documents(
    documents: Iterable[Document], known: Iterable[Signature] = (), lints: Iterable[type[Lint]] = LINTS
) -> list[Defect]:
    """All defects of these files; a file that has not the right shape is not held to the other laws.

    Args:
        documents: The files.
        known: Signatures of other folders, which these files may point at, or replace with `overrides = true`.
        lints: The laws to hold them to.
    """
    defects: list[Defect] = []
    entries: list[Entry] = []
    for document in documents:
        read = read_signature(document)
        wrong = [*(read if isinstance(read, list) else []), *pattern_defects(document), *_regex_defects(document)]
        defects += wrong
        if isinstance(read, Signature) and not wrong:
            entries.append(Entry(document, read))
    others = tuple(known)
    for lint in (kind() for kind in lints):
        for entry in entries:
            defects += lint.check(entry)
        defects += lint.finish(entries, others)
    return sorted(defects)


def _regex_defects(document: Document) -> list[Defect]:
    """A pattern that `re` takes and `regex` does not. It stands here: the build has no `regex`."""
    if pattern_defects(document):
        return []
    try:
        regex.compile(str(document.data.get("match", {}).get("pattern", "")), regex.MULTILINE)
    except regex.error as error:
        message = f"the pattern does not compile with regex ({error})"
        return [
            document.defect("pattern-compiles", ("match", "pattern"), message, "use the syntax that re and regex share")
        ]
    return []
