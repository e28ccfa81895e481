"""The signatures as a list, and one of them in full."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from plogscope.errors import UsageError
from plogscope.explain.words import say
from plogscope.grammar.load import load_grammar
from plogscope.model.signature import MATURITIES, Grammar, Signature
from plogscope.model.vocabulary import CATEGORIES, ROLES, Text


def list_signatures(folders: Sequence[Path], wanted: Mapping[str, str | None], view: str, lang: str) -> str:
    """All signatures that fit, one a line, or as JSON.

    Args:
        folders: Folders of further signatures.
        wanted: `domain`, `category`, `role`, `status`; None = any.
        view: `text` or `json`.
        lang: `en` or `zh`, for the titles of the text view.

    Raises:
        GrammarError: A signature file has defects.
        UsageError: A value is not in the vocabulary.
    """
    signatures = load_grammar(folders).signatures
    domains = tuple(sorted({signature.id.split("/")[0] for signature in signatures}))
    for key, words in (("domain", domains), ("category", CATEGORIES), ("role", ROLES), ("status", MATURITIES)):
        value = wanted.get(key)
        if value is not None and value not in words:
            raise UsageError(f"--{key} {value} does not exist", "use one of " + ", ".join(words))
    rows = [signature for signature in signatures if _fits(signature, wanted)]
    if view == "json":
        return _json([_summary(signature) for signature in rows])
    width = max((len(signature.id) for signature in rows), default=0)
    lines = [f"{s.id:{width}}  {s.role:8}  {s.category:13}  {_pick(s.title, lang)}" for s in rows]
    return "\n".join([*lines, _pick(say("grammar.count", count=len(rows)), lang)]) + "\n"


def show_signature(folders: Sequence[Path], name: str, view: str, lang: str) -> str:
    """One signature in full, with what explains it and what it explains.

    Raises:
        GrammarError: A signature file has defects.
        UsageError: There is no such signature.
    """
    grammar = load_grammar(folders)
    signature = find_signature(grammar, name)
    if view == "json":
        links = {
            "explained_by": _explained_by(grammar, signature),
            "refined_by": _refined_by(grammar, signature),
        }
        return _json(msgspec.to_builtins(signature) | links)
    return "\n".join(_in_full(grammar, signature, lang)) + "\n"


def find_signature(grammar: Grammar, name: str) -> Signature:
    """The signature of that id.

    Raises:
        UsageError: There is none; the nearest ids are named.
    """
    signature = grammar.by_id().get(name)
    if signature is None:
        near = difflib.get_close_matches(name, list(grammar.by_id()), 3, 0.5)
        hint = f"perhaps {', '.join(near)}" if near else "see plogscope grammar list"
        raise UsageError(f"there is no signature {name}", f"{hint}; --grammars DIR adds a folder of your own")
    return signature


def _fits(signature: Signature, wanted: Mapping[str, str | None]) -> bool:
    own = {
        "domain": signature.id.split("/")[0],
        "category": signature.category,
        "role": signature.role,
        "status": signature.status,
    }
    return all(wanted.get(key) in (None, value) for key, value in own.items())


def _summary(signature: Signature) -> dict[str, object]:
    return {
        "id": signature.id,
        "title": msgspec.to_builtins(signature.title),
        "role": signature.role,
        "category": signature.category,
        "status": signature.status,
    }


def _in_full(grammar: Grammar, signature: Signature, lang: str) -> list[str]:
    def label(key: str) -> str:
        return _pick(say(f"grammar.{key}"), lang)

    role = say(f"role.{signature.role}")
    lines = [f"{signature.id}: {_pick(signature.title, lang)}", f"  {_pick(role, lang)}"]
    facts = [signature.category, signature.subcategory or "", signature.status]
    lines.append("  " + " · ".join(fact for fact in facts if fact))
    if signature.caution is not None:
        lines.append(f"  {label('caution')}: {_pick(signature.caution, lang)}")
    lines.append(f"{label('pattern')}:\n  {signature.match.pattern}")
    if signature.extract:
        fields = ", ".join(f"{name} ({field.type}, {field.meaning})" for name, field in signature.extract.items())
        lines.append(f"{label('fields')}: {fields}")
    advice = signature.advice
    if advice is not None:
        lines.append(f"{label('advice')} ({advice.kind}): {_pick(advice.next_action, lang)}")
        lines += [f"  $ {advice.command}"] if advice.command else []
        lines += [f"  {name}={value}" for name, value in advice.env.items()]
    chain = signature.chain
    links = {
        "explains": [f"{link.id} ({link.scope}, {link.within_s:g} s)" for link in chain.explains],
        "explained_by": _explained_by(grammar, signature),
        "refines": list(chain.refines),
        "refined_by": _refined_by(grammar, signature),
        "codes": [chain.codes] if chain.codes else [],
    }
    lines += [f"{label(key)}: {', '.join(names)}" for key, names in links.items() if names]
    for example in signature.examples:
        lines += [f"{label('example')} ({example.source}):", f"  {example.line}"]
    for near_miss in signature.near_misses:
        lines += [f"{label('near_miss')} ({near_miss.why}):", f"  {near_miss.line}"]
    return lines


def _explained_by(grammar: Grammar, signature: Signature) -> list[str]:
    return [
        other.id
        for other in grammar.signatures
        if other.id != signature.id and any(_covers(link.id, signature.id) for link in other.chain.explains)
    ]


def _refined_by(grammar: Grammar, signature: Signature) -> list[str]:
    return [
        other.id
        for other in grammar.signatures
        if other.id != signature.id and any(_covers(name, signature.id) for name in other.chain.refines)
    ]


def _covers(target: str, name: str) -> bool:
    return name.startswith(target) if target.endswith("/") else name == target


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _pick(text: Text, lang: str) -> str:
    return text.zh if lang == "zh" else text.en
