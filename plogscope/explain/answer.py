"""From queries to answers: the rows, what they hang together with, and the signatures that speak of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from plogscope.explain.find import Hit, hit_of_key, nearest
from plogscope.explain.names import namespace_of, public
from plogscope.explain.query import read
from plogscope.explain.words import say
from plogscope.grammar.relations import Edge, Relations, load_relations
from plogscope.model.signature import Grammar, Signature
from plogscope.model.vocabulary import Text

SCHEMA = "plogscope.explain/1"
_MOST_SIGNATURES = 8
_DISTINCT_CODE = 5
"""A code of this length is not a number that stands in texts by chance."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Another code, and why it hangs together with this one."""

    code: str
    title: Text
    note: Text | None
    evidence: str
    basis: str


class SignatureNote(msgspec.Struct, frozen=True):
    """A signature that speaks of a code."""

    id: str
    title: Text
    role: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One meaning of a query (see the package for the fields)."""

    namespace: str
    code: str
    symbol: str
    title: Text
    meaning: Text
    category: str
    role: str
    role_means: Text
    severity: str
    next_action: Text
    needs: str
    look_at: list[Text]
    wraps: list[Link]
    wrapped_by: list[Link]
    follows: list[Link]
    followed_by: list[Link]
    signatures: list[SignatureNote]
    source: str
    note: Text | None


class Near(msgspec.Struct, frozen=True):
    """A code that is spelled like an unknown one."""

    code: str
    title: Text


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one query; no entries if nothing is."""

    query: str
    kind: str
    entries: list[Entry]
    hints: list[Text]
    nearest: list[Near]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The whole JSON."""

    schema: str
    answers: list[Answer]


def explain(queries: Sequence[str], grammar: Grammar | None = None) -> Explanation:
    """Answers each query, in order.

    Args:
        queries: Codes in any form (see the package).
        grammar: Signatures to look the codes up in; None = no signatures in the answer.

    Raises:
        GrammarError: A code table cannot be read.
    """
    relations = load_relations()
    signatures = () if grammar is None else grammar.signatures
    return Explanation(schema=SCHEMA, answers=[_answer(query, relations, signatures) for query in queries])


def _answer(query: str, relations: Relations, signatures: Sequence[Signature]) -> Answer:
    reading = read(query)
    near = [] if reading.hits else [Near(public(hit.key), hit.row.title) for hit in nearest(query)]
    return Answer(
        query=query,
        kind=reading.kind,
        entries=[_entry(hit, relations, signatures) for hit in reading.hits],
        hints=reading.hints,
        nearest=near,
    )


def _entry(hit: Hit, relations: Relations, signatures: Sequence[Signature]) -> Entry:
    row, key = hit.row, hit.key
    inside, outside = relations.inside(key), relations.outside(key)
    return Entry(
        namespace=namespace_of(hit.table),
        code=row.code,
        symbol=row.symbol,
        title=row.title,
        meaning=row.meaning,
        category=row.category,
        role=row.role,
        role_means=say(f"role.{row.role}"),
        severity=row.severity,
        next_action=row.next_action,
        needs=row.needs,
        look_at=relations.looks_for(key),
        wraps=_links(inside, "wraps"),
        wrapped_by=_links(outside, "wraps"),
        follows=_links(inside, "leads"),
        followed_by=_links(outside, "leads"),
        signatures=_speakers(hit, signatures),
        source=row.source,
        note=hit.note,
    )


def _links(found: Iterable[tuple[str, Edge]], how: str) -> list[Link]:
    """Each code once: of several edges the first one, which the file gives a note if there is one."""
    links: dict[str, Link] = {}
    for key, edge in found:
        other = hit_of_key(key)
        if edge.how == how and other is not None and key not in links:
            links[key] = Link(
                code=public(key), title=other.row.title, note=edge.note, evidence=edge.evidence, basis=edge.basis
            )
    return list(links.values())


def _speakers(hit: Hit, signatures: Sequence[Signature]) -> list[SignatureNote]:
    """Signatures that have the code in their pattern or title, then those with an example of it, then the table's."""
    ranked = [(rank, signature) for signature in signatures if (rank := _rank(hit, signature)) is not None]
    ranked.sort(key=lambda pair: (pair[0], pair[1].match.generic, pair[1].id))
    return [SignatureNote(s.id, s.title, s.role) for _, s in ranked[:_MOST_SIGNATURES]]


def _rank(hit: Hit, signature: Signature) -> int | None:
    code = hit.row.code
    if len(code) >= _DISTINCT_CODE:
        whole = re.compile(rf"(?<![0-9A-Za-z]){re.escape(code)}(?![0-9A-Za-z])", re.IGNORECASE)
        if whole.search(signature.match.pattern) or whole.search(signature.title.en):
            return 0
        if any(value.casefold() == code.casefold() for e in signature.examples for value in e.fields.values()):
            return 1
        if any(whole.search(example.line) for example in signature.examples):
            return 2
    return 3 if signature.chain.codes == hit.table and _would_take(signature, code) else None


def _would_take(signature: Signature, code: str) -> bool:
    """True when an example of the signature, with this code in the place of its own, still matches."""
    pattern = re.compile(signature.match.pattern, re.MULTILINE)
    for example in signature.examples:
        own = example.fields.get("code", "")
        found = pattern.search(example.line.replace(own, code)) if own else None
        if found is not None and found["code"] == code:
            return True
    return False
