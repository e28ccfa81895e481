"""An explanation as JSON and as text for a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from plogscope.explain.answer import Answer, Entry, Explanation, Link
from plogscope.explain.names import NAMESPACES
from plogscope.explain.words import say
from plogscope.model.vocabulary import Text

WIDTH = 100
_MOST_LINKS = 6
_LABEL_COLUMNS = 14
_IN_FULL = 2
"""Of the meanings of a bare code this many are told in full; the others by name. Bits and parts are told in full."""


def as_json(explanation: Explanation) -> str:
    """The JSON of the package's documentation, indented, with a final newline."""
    return json.dumps(msgspec.to_builtins(explanation), ensure_ascii=False, indent=2) + "\n"


def as_text(explanation: Explanation, lang: str) -> str:
    """For people: the most likely meanings in full, the others by name."""
    blocks = ["\n".join(_answer_lines(answer, lang)) for answer in explanation.answers]
    return "\n\n".join(blocks) + "\n"


def _answer_lines(answer: Answer, lang: str) -> Iterator[str]:
    full = len(answer.entries) if answer.kind in ("bits", "parts", "line") else _IN_FULL
    if not answer.entries:
        yield _pick(say("label.unknown", query=visible(answer.query)), lang)
    for number, entry in enumerate(answer.entries[:full]):
        if number:
            yield ""
        yield from _entry_lines(entry, lang)
    rest = answer.entries[full:]
    if rest:
        yield ""
        yield _pick(say("label.also"), lang)
        yield from (f"  {entry.namespace}:{entry.code}  {_pick(entry.title, lang)}" for entry in rest)
    for hint in answer.hints:
        yield from _wrapped("  ", _pick(hint, lang), "  ")
    if answer.nearest:
        yield _pick(say("label.nearest"), lang)
        yield from (f"  {near.code}  {_pick(near.title, lang)}" for near in answer.nearest)


def _entry_lines(entry: Entry, lang: str) -> Iterator[str]:
    symbol = f" {entry.symbol}" if entry.symbol and entry.symbol != entry.code else ""
    kind = say(f"namespace.{entry.namespace}") if entry.namespace in NAMESPACES else Text(entry.namespace, "")
    yield f"{entry.namespace}:{entry.code}{symbol}: {_pick(entry.title, lang)} ({_pick(kind, lang)})"
    texts = [("note", entry.note), ("meaning", entry.meaning), ("role", entry.role_means)]
    for key, text in texts:
        if text is not None:
            yield from _labelled(key, _pick(text, lang), lang)
    for look in entry.look_at:
        yield from _labelled("look", _pick(look, lang), lang)
    yield from _labelled("next", _pick(entry.next_action, lang), lang)
    links = (
        ("wraps", entry.wraps), ("wrapped_by", entry.wrapped_by), ("follows", entry.follows),
        ("followed_by", entry.followed_by),
    )  # fmt: skip
    for key, found in links:
        if found:
            yield from _labelled(key, _link_list(found, lang), lang)
    if entry.signatures:
        yield from _labelled("signatures", ", ".join(signature.id for signature in entry.signatures), lang)


def _link_list(links: list[Link], lang: str) -> str:
    shown = [f"{link.code} ({_pick(link.title, lang)})" for link in links[:_MOST_LINKS]]
    if len(links) > _MOST_LINKS:
        shown.append(_pick(say("label.more", count=len(links) - _MOST_LINKS), lang))
    return ("；" if lang == "zh" else "; ").join(shown)


def _labelled(key: str, text: str, lang: str) -> Iterator[str]:
    label = _pick(say(f"label.{key}"), lang)
    pad = " " * max(1, _LABEL_COLUMNS - columns(label))
    yield from _wrapped(f"  {label}{pad}", text, " " * (_LABEL_COLUMNS + 2))


def _wrapped(first: str, text: str, rest: str) -> list[str]:
    """Lines of at most `WIDTH` columns, broken at spaces and between wide characters; never inside a word."""
    lines, line = list[str](), first
    for piece in _PIECE.findall(text):
        if columns(line) + columns(piece.rstrip()) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = rest + piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


_PIECE = re.compile(r"[\u3000-\u9fff\uff00-\uffef](?:[，。；：、）？！”] ?)*|[^\s\u3000-\u9fff\uff00-\uffef]+\s*|\s+")
_WIDE = 0x2E80


def columns(text: str) -> int:
    """Columns of a terminal that the text takes."""
    return sum(2 if ord(character) >= _WIDE else 1 for character in text)


def visible(text: str) -> str:
    """A query as a terminal may show it: one line, no control characters."""
    return "".join(character if character.isprintable() else "?" for character in text[:200])


def _pick(text: Text, lang: str) -> str:
    return text.zh if lang == "zh" and text.zh else text.en
