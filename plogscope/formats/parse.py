"""One physical line → pieces with head and stream. Stateless: what a line is does not depend on its neighbours."""

from __future__ import annotations

import msgspec

from plogscope.formats.base import Facts, Head
from plogscope.formats.json_log import START, Entry, read_entry
from plogscope.formats.prefixes import clean, peel, split_glued
from plogscope.formats.registry import classify

MAX_PEELED_CHARS = 1 << 16
"""Heads and signatures look no further into a line."""


class Piece(msgspec.Struct, frozen=True):
    """One record's part of a physical line (nearly always the whole line).

    Attributes:
        text: The piece without prefixes and colours, head included.
        head: None for a continuation of the last record of the stream, or for text that has no head.
        indented: The text starts with white space, so it continues whatever came before in its stream.
        inside: The text stands, with its line ends escaped, in the same bytes as the piece before it.
        carrier: What the logging library says that framed a line that continues; its time is that of the line.
    """

    text: str
    facts: Facts
    head: Head | None
    indented: bool
    inside: bool = False
    carrier: Head | None = None


def parse_line(raw: bytes) -> list[Piece]:
    """Cuts one physical line into pieces and finds prefix facts and head of each.

    A carrier (a logging library that frames every line of somebody else's text) is taken off like a prefix: its
    level and time fill what the inner head does not say.
    """
    pieces: list[Piece] = []
    for _, part in split_glued(clean(raw)[:MAX_PEELED_CHARS]):
        facts, text = peel(part)
        entry = read_entry(text) if text.startswith(START) else None
        if entry is None:
            pieces.append(_parse_piece(facts, text, classify(text)))
        else:
            pieces += _parse_entry(facts, entry)
    return pieces


def _parse_entry(facts: Facts, entry: Entry) -> list[Piece]:
    """What a structured record says: its first line, and those below it, which no other record can continue."""
    first = _parse_piece(facts, entry.head.message, entry.head)
    pieces = [first if first.head is not None else Piece(first.text, facts, entry.head, indented=False)]
    for text in entry.below:
        head = classify(text)
        if head is not None and not head.carrier:
            head = _inherit(head, entry.head)
        piece = _parse_piece(facts, text, head)
        pieces.append(Piece(piece.text, facts, piece.head, indented=piece.head is None, inside=True))
    return pieces


def _parse_piece(facts: Facts, text: str, head: Head | None) -> Piece:
    if head is None:
        return Piece(text, facts, None, text[:1] in (" ", "\t", ""))
    if not head.carrier:
        return Piece(text, facts, head, indented=False)
    inner_facts, inner_text = peel(head.message)
    inner = classify(inner_text)
    if inner is not None and inner.carrier:
        inner_text, inner = inner.message, classify(inner.message)
    merged = _merge_facts(facts, inner_facts)
    if inner is None:
        if inner_text[:1] in (" ", "\t", ""):
            return Piece(inner_text, merged, None, indented=True, carrier=head)
        return Piece(text, merged, head, indented=False)
    if head.format == _OF_A_MACHINE and inner.format == _OF_ANY_PROGRAM:
        return Piece(text, merged, msgspec.structs.replace(head, level=inner.level or head.level), indented=False)
    return Piece(inner_text, merged, _inherit(inner, head), indented=False)


_OF_A_MACHINE, _OF_ANY_PROGRAM = "syslog", "py-logging"
"""What a service of the machine writes into its log stays the machine's, in whatever style it logs."""


def _merge_facts(outer: Facts, inner: Facts) -> Facts:
    if not inner.stream:
        return outer
    return msgspec.structs.replace(
        inner,
        stream=f"{outer.stream}|{inner.stream}" if outer.stream else inner.stream,
        rank=inner.rank if inner.rank is not None else outer.rank,
        local_rank=inner.local_rank if inner.local_rank is not None else outer.local_rank,
        pid=inner.pid if inner.pid is not None else outer.pid,
        proc=inner.proc or outer.proc,
        host=inner.host or outer.host,
    )


def _inherit(inner: Head, outer: Head) -> Head:
    """The inner head, with level, time and place of the carrier where it has none."""
    least = inner if inner.clock_ns is not None else outer
    timed = next((head for head in (inner, outer) if head.time_ns is not None), least)
    return msgspec.structs.replace(
        inner,
        level=inner.level or outer.level,
        time_ns=timed.time_ns,
        time_quality=timed.time_quality,
        clock_ns=timed.clock_ns,
        pid=inner.pid if inner.pid is not None else outer.pid,
        rank=inner.rank if inner.rank is not None else outer.rank,
        local_rank=inner.local_rank if inner.local_rank is not None else outer.local_rank,
    )
