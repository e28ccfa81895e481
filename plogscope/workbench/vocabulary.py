"""The words that a signature file may use, from `reports/vocabulary.toml`."""

from __future__ import annotations

import json
import sys

from plogscope.data import report_root
from plogscope.model.signature import FIELD_TYPES, MATURITIES, MEANINGS, SCOPES
from plogscope.model.vocabulary import ACTION_KINDS, CATEGORIES, ROLES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS: dict[str, tuple[str, ...]] = {
    "category": CATEGORIES,
    "role": ROLES,
    "status": MATURITIES,
    "advice.kind": ACTION_KINDS,
    "type": FIELD_TYPES,
    "meaning": MEANINGS,
    "scope": SCOPES,
}
"""The words of each key, as the schema has them; a test holds the file equal to them."""


def vocabulary(view: str, lang: str) -> str:
    """All words with what each is for: a paragraph for each key, or JSON with both languages.

    Args:
        view: `text` or `json`.
        lang: `en` or `zh`, for the text view.
    """
    tables = read_vocabulary()
    if view == "json":
        return json.dumps(tables, ensure_ascii=False, indent=2) + "\n"
    width = max(len(word) for words in KEYS.values() for word in words)
    paragraphs = [
        "\n".join([f"{key}:", *(f"  {word:{width}}  {tables[key][word][lang]}" for word in words)])
        for key, words in KEYS.items()
    ]
    return "\n\n".join(paragraphs) + "\n"


def read_vocabulary() -> dict[str, dict[str, dict[str, str]]]:
    """Key, word, language: what the word is for."""
    with (report_root() / "vocabulary.toml").open("rb") as stream:
        return tomllib.load(stream)
