"""How codes hang together: what one layer reports for a failure of the layer below, and where to look instead.

A code is written `<table>:<code>`, for example `acl:507015`. The file is `grammars/codes/relations.toml`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from plogscope.data import RELATIONS, compiled_relations, grammar_root
from plogscope.errors import GrammarError
from plogscope.grammar.cache import digest_of, read_cache, write_cache
from plogscope.grammar.compile import raise_defects
from plogscope.grammar.document import CODES_FOLDER, Defect, read_document
from plogscope.grammar.schema import shape_defects
from plogscope.model.vocabulary import Text

How = Literal["wraps", "leads"]
Basis = Literal["source", "document", "field", "inferred"]
"""How sure an edge is: read in source, said by a document, seen in public logs, or concluded."""


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """`wraps`: `outer` is how a layer reports that one of `inner` happened below it, in the same process.

    `leads`: `outer` is a consequence of one of `inner` somewhere else (a peer, a later call).
    """

    how: How
    outer: str
    inner: tuple[str, ...]
    evidence: str
    basis: Basis
    note: Text | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """Where to look when one of `codes` is all that is known."""

    codes: tuple[str, ...]
    at: Text


class Relations(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file."""

    edges: tuple[Edge, ...] = ()
    looks: tuple[Look, ...] = ()

    def inside(self, code: str) -> list[tuple[str, Edge]]:
        """What `code` may wrap or follow from, in the order of the file."""
        return [(inner, edge) for edge in self.edges if edge.outer == code for inner in edge.inner]

    def outside(self, code: str) -> list[tuple[str, Edge]]:
        """What may wrap `code` or follow from it, in the order of the file."""
        return [(edge.outer, edge) for edge in self.edges if code in edge.inner]

    def looks_for(self, code: str) -> list[Text]:
        """Where to look instead of at `code`."""
        return [look.at for look in self.looks if code in look.codes]


@cache
def load_relations() -> Relations:
    """The relations that are shipped; none if the installation has no such file.

    Raises:
        GrammarError: The file cannot be read or has defects.
    """
    compiled, root = compiled_relations(), grammar_root()
    try:
        if compiled is not None:
            return _decode(compiled.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise GrammarError(f"the relations of codes cannot be read ({error})", "install plogscope again") from error
    path = None if root is None else root / CODES_FOLDER / f"{RELATIONS}.toml"
    return Relations() if path is None or not path.is_file() else _load_toml(path)


def compile_relations(path: Path) -> bytes:
    """The JSON of the file.

    Raises:
        GrammarError: The file is not TOML or has not the right shape.
    """
    document = read_document(path, path.parent)
    raise_defects([document] if isinstance(document, Defect) else shape_defects(document, document.data, Relations))
    assert not isinstance(document, Defect)
    return msgspec.json.encode(msgspec.convert(document.data, Relations))


def _load_toml(path: Path) -> Relations:
    digest = digest_of([path])
    data = read_cache(RELATIONS, digest)
    if data is not None:
        try:
            return _decode(data)
        except msgspec.MsgspecError:  # cut off or written by something else: made again
            pass
    data = compile_relations(path)
    write_cache(RELATIONS, digest, data)
    return _decode(data)


def _decode(data: bytes) -> Relations:
    return msgspec.json.decode(data, type=Relations)
