"""The language of the words around codes and quotes: an option of several commands."""

from __future__ import annotations

import os
from enum import Enum


class Lang(str, Enum):
    """Languages of the words around the quotes."""

    en = "en"
    zh = "zh"


def language(chosen: Lang | None) -> str:
    """The chosen language, else `zh` in a Chinese locale, else `en`."""
    if chosen is not None:
        return chosen.value
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"
