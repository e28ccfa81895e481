"""What a code means, offline: the code tables, the relations between codes, and the signatures that speak of them.

`explain` answers any number of queries. A query is a code as it is printed (`507015`, `EI0002`, `0x7150026`), with its
namespace (`hccl:9`), with the words around it (`retCode=0x26`, `errNo[0x0000000005010009]`), an AI Core error word or
triple (`0x800000`, `errcode:(0x800000, 0, 0)`), a symbol, words of a title, or a whole line that holds codes.

The JSON of `plogscope explain --format json` is one object; fields may be added, these stay:

    schema    "plogscope.explain/1"
    answers   [{query, kind, entries, hints, nearest}]
      kind      code | bits | parts | name | line | unknown: how the query was read
      entries   [{namespace, code, symbol, title, meaning, category, role, role_means, severity, next_action, needs,
                  look_at, wraps, wrapped_by, follows, followed_by, signatures, source, note}]   most likely first
        look_at     [text]: where to look instead of at this code
        wraps       [{code, title, note, evidence, basis}]: what may be inside it; wrapped_by: what reports it
        follows     [the same]: what elsewhere may have caused it; followed_by: what it causes elsewhere
        signatures  [{id, title, role}]: signatures that speak of the code
        note        how the entry follows from the query (which bit, which part), null if it is the query itself
      hints     [text]: what the form of the query tells besides, also when nothing is known about it
      nearest   [{code, title}]: for an unknown query, what is spelled like it

`code` in a link is `namespace:code`, which is itself a query. Every text is `{en, zh}`; codes are never translated.
"""

from __future__ import annotations

from plogscope.explain.answer import SCHEMA, Answer, Entry, Explanation, Link, SignatureNote, explain
from plogscope.explain.names import NAMESPACES
from plogscope.explain.view import as_json, as_text

__all__ = [
    "NAMESPACES",
    "SCHEMA",
    "Answer",
    "Entry",
    "Explanation",
    "Link",
    "SignatureNote",
    "as_json",
    "as_text",
    "explain",
]
