"""Sentences for people, read from `reports/reasons.toml`: code holds keys and values, never prose."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import lru_cache

from plogscope.data import report_root
from plogscope.model.vocabulary import Text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@lru_cache(maxsize=1)
def sentences() -> dict[str, Text]:
    """All sentences by `section.key`."""
    with (report_root() / "reasons.toml").open("rb") as stream:
        tables = tomllib.load(stream)
    return {f"{section}.{key}": Text(**text) for section, keys in tables.items() for key, text in keys.items()}


def say(key: str, **values: object) -> Text:
    """The sentence with its `{placeholders}` filled in both languages. Unknown keys are a defect of the program.

    A value that is a `Text` is put in by language.
    """
    return fill(sentences()[key], values)


def fill(text: Text, values: Mapping[str, object]) -> Text:
    """A sentence with `{name}` replaced by values; a name without a value reads as `?`."""
    return Text(
        en=_fill(text.en, {name: value.en if isinstance(value, Text) else value for name, value in values.items()}),
        zh=_fill(text.zh, {name: value.zh if isinstance(value, Text) else value for name, value in values.items()}),
    )


def _fill(template: str, values: Mapping[str, object]) -> str:
    """Replaces `{name}` and nothing else: values come from logs and may hold braces themselves."""
    parts = template.split("{")
    filled = [parts[0]]
    for part in parts[1:]:
        name, brace, rest = part.partition("}")
        if brace and name.isidentifier():
            filled.append(f"{values.get(name, '?')}{rest}")
        else:
            filled.append("{" + part)
    return "".join(filled)


def spans(numbers: Iterable[int]) -> str:
    """Numbers as ranges: `0-7, 9`."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)
