"""The sentences of `explain`, from `reports/explain.toml`."""

from __future__ import annotations

import sys
from functools import lru_cache

from plogscope.data import report_root
from plogscope.model.vocabulary import Text
from plogscope.wording import fill

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@lru_cache(maxsize=1)
def _sentences() -> dict[str, Text]:
    with (report_root() / "explain.toml").open("rb") as stream:
        tables = tomllib.load(stream)
    return {f"{section}.{key}": Text(**text) for section, keys in tables.items() for key, text in keys.items()}


def say(sentence: str, /, **values: object) -> Text:
    """The sentence `section.key` with its `{placeholders}` filled. An unknown key is a defect of the program."""
    return fill(_sentences()[sentence], values)
