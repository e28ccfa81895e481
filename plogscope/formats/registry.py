"""All formats in the order in which they are asked, and the one question: which head is this line?

Formats are found, not listed: every module of this package that has `FORMAT` or `FORMATS` and an `ORDER` takes part.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable

import plogscope.formats
from plogscope.errors import GrammarError
from plogscope.formats.base import Format, Head

_HELPERS = frozenset({"base", "epochs", "launchers", "parse", "prefixes", "registry", "stamps"})
"""Modules that hold no format; `prefixes` and `parse` ask this module, so they cannot be imported from here."""


def _formats_of(name: str) -> tuple[int, tuple[Format, ...]]:
    """The order and the formats of one module; no formats for helper modules."""
    module = importlib.import_module(f"{plogscope.formats.__name__}.{name}")
    formats: tuple[Format, ...] = getattr(module, "FORMATS", ())
    single: Format | None = getattr(module, "FORMAT", None)
    if single is not None:
        formats = (*formats, single)
    return getattr(module, "ORDER", 0), formats


def check(formats: Iterable[Format]) -> tuple[Format, ...]:
    """The formats, if every one of them brings samples.

    Raises:
        GrammarError: A format without samples: nothing would prove that it works.
    """
    checked = tuple(formats)
    for found in checked:
        if not found.samples:
            raise GrammarError(f"format {found.name} has no samples", "add at least one real line")
    return checked


def _load() -> tuple[Format, ...]:
    names = sorted(info.name for info in pkgutil.iter_modules(plogscope.formats.__path__) if info.name not in _HELPERS)
    ordered = sorted((_formats_of(name) for name in names), key=lambda pair: pair[0])
    return check(found for _, formats in ordered for found in formats)


FORMATS: tuple[Format, ...] = _load()
"""Every format in the order in which it is asked: the frequent first. plog leaves alone the lines of TSCH,
firmware, MindSpore and TorchAir, which share its head."""

_ANY: tuple[Callable[[str], Head | None], ...] = tuple(found.head for found in FORMATS if not found.starts)
_BY_START: dict[str, tuple[Callable[[str], Head | None], ...]] = {
    start: tuple(found.head for found in FORMATS if not found.starts or start in found.starts)
    for start in {character for found in FORMATS for character in found.starts}
}
_BLANKS = frozenset(" \t")
_INDENTED_HEADS = frozenset("[+")
"""What can start a head behind a blank: a bracket, and the `+` of an exception group."""


def classify(text: str) -> Head | None:
    """The head of one line whose prefixes are peeled; None for a continuation line and for plain text."""
    first = text[:1]
    if first in _BLANKS and text.lstrip()[:1] not in _INDENTED_HEADS:
        return None
    for head in _BY_START.get(first, _ANY):
        found = head(text)
        if found is not None:
            return found
    return None
