"""The words for people, in English and Chinese: `reports/words.toml`, one key each. No prose stands in the code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from plogscope.data import report_root
from plogscope.model.vocabulary import Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES: tuple[str, ...] = ("en", "zh")


class Words:
    """Looks up `section.key` and fills in values.

    A value may itself be a `Text`: each language then gets its own half.
    """

    def __init__(self, table: Mapping[str, Text]) -> None:
        self.table = table

    def __call__(self, key: str, **values: object) -> Text:
        """The words of `key` with `values` in their places.

        Raises:
            KeyError: There is no such key, or a place has no value.
        """
        text = self.table[key]
        if not values:
            return text
        return Text(en=_fill(text.en, values, "en"), zh=_fill(text.zh, values, "zh"))

    def find(self, key: str, default: str) -> Text:
        """The words of `key`; `default` in both languages when the key is not known (open word lists)."""
        return self.table.get(key) or Text(en=default, zh=default)


def _fill(pattern: str, values: Mapping[str, object], lang: str) -> str:
    return pattern.format_map({name: pick(value, lang) for name, value in values.items()})


def pick(value: object, lang: str) -> str:
    """The half of a `Text` for `lang` (everything but `zh` is English); other values as they print."""
    if isinstance(value, Text):
        return value.zh if lang == "zh" else value.en
    return str(value)


def parse_words(document: Mapping[str, Any]) -> dict[str, Text]:
    """The keys `section.key` of a parsed words file."""
    return {
        f"{section}.{key}": Text(en=entry["en"], zh=entry["zh"])
        for section, entries in document.items()
        for key, entry in entries.items()
    }


@lru_cache(maxsize=1)
def load_words() -> Words:
    """The words that are shipped."""
    with (report_root() / "words.toml").open("rb") as file:
        return Words(parse_words(tomllib.load(file)))
