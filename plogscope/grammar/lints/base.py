"""What a lint is, and what it is given to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, ClassVar

import regex

from plogscope.grammar.document import Defect, Document
from plogscope.model.signature import Signature

Keys = tuple[str | int, ...]


class Entry:
    """A file that has the right shape: its document, its signature and its pattern, compiled by both modules."""

    def __init__(self, document: Document, signature: Signature) -> None:
        self.document = document
        self.signature = signature

    @cached_property
    def by_re(self) -> re.Pattern[str]:
        """The pattern as `re` reads it."""
        return re.compile(self.signature.match.pattern, re.MULTILINE)

    @cached_property
    def by_regex(self) -> regex.Pattern[str]:
        """The pattern as `regex` reads it: the one that the program uses."""
        return regex.compile(self.signature.match.pattern, regex.MULTILINE)

    def fields_by_re(self, text: str) -> dict[str, str] | None:
        """Fields of the first match by `re`, None if there is none."""
        hit = self.by_re.search(text)
        return None if hit is None else {name: value for name, value in hit.groupdict().items() if value is not None}

    def fields_by_regex(self, text: str) -> dict[str, str] | None:
        """Fields of the first match by `regex`, None if there is none."""
        hit = self.by_regex.search(text)
        return None if hit is None else {name: value for name, value in hit.groupdict().items() if value is not None}


class Lint:
    """One law. `check` sees one file at a time; `finish` sees all of them and those that were known before.

    Attributes:
        id: Name of the rule, as it is shown behind a defect.
        meaning: What a defect of this rule means for the program.
    """

    id: ClassVar[str]
    meaning: ClassVar[str]

    def check(self, entry: Entry) -> Iterator[Defect]:
        """Defects of one file."""
        del entry
        yield from ()

    def finish(self, entries: list[Entry], known: tuple[Signature, ...]) -> Iterator[Defect]:
        """Defects between files. `known` are signatures of other folders, also those that these files replace."""
        del entries, known
        yield from ()

    def defect(self, entry: Entry, keys: Keys, message: str, remedy: str) -> Defect:
        """A defect of this rule at the line of `keys`."""
        return entry.document.defect(self.id, keys, message, remedy)


def named(items: Iterable[Any]) -> str:
    """Names for a message: sorted, joined by commas."""
    return ", ".join(sorted(map(str, items)))


def covers(target: str, name: str) -> bool:
    """True when `target`, an id or a prefix that ends in `/`, means the signature `name`."""
    return name.startswith(target) if target.endswith("/") else name == target
