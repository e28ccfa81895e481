"""The language of the words around codes and quotes: an option of several commands."""

from __future__ import annotations

import os
from enum import Enum


class Lang(str, Enum):
    """Languages of the words around the quotes."""

    en = "en"
    zh = "zh"


def language(chosen: Lang | None, template: str | None = None) -> str:
    """The chosen language, else that of the issue form, else `zh` in a Chinese locale, else `en`."""
    if chosen is not None:
        return chosen.value
    if template is not None:
        from plogscope.render.issue_forms import load_forms  # noqa: PLC0415 - rarely wanted

        form = load_forms().get(template)
        if form is not None:
            return form.language
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"
