"""Rows of the code tables: as they are printed, as the same number, by name, by likeness."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache

import msgspec

from plogscope.data import code_families
from plogscope.explain.names import likelihood
from plogscope.grammar.codes import load_codes
from plogscope.model.signature import Code
from plogscope.model.vocabulary import Text

LONGEST = 4096
"""Characters of a query that are looked at."""

_MOST_NEAR = 5
_LONGEST_CODE = 32


class Hit(msgspec.Struct, frozen=True):
    """A row and its table; `note` says how it follows from the query, None if it is the query itself."""

    table: str
    row: Code
    note: Text | None = None

    @property
    def key(self) -> str:
        """`<table>:<code>`, as relations are written."""
        return f"{self.table}:{self.row.code}"


@cache
def tables() -> tuple[str, ...]:
    """All tables, the most likely first."""
    return tuple(sorted(code_families(), key=lambda table: (likelihood(table), table)))


def hit_of(table: str, code: str) -> Hit | None:
    """The row with exactly this code."""
    row = load_codes(table).get(code) if table in code_families() else None
    return None if row is None else Hit(table, row)


def hit_of_key(key: str) -> Hit | None:
    """The row of `<table>:<code>`."""
    table, _, code = key.partition(":")
    return hit_of(table, code)


def exactly(code: str, within: Iterable[str] | None = None) -> list[Hit]:
    """Rows printed like this, in any case, by likelihood."""
    folded = code.casefold()
    return [Hit(table, row) for table in within or tables() for row in _by_code(table).get(folded, ())]


def by_number(code: str, within: Iterable[str] | None = None) -> list[Hit]:
    """Rows that are the same number, in hex or decimal, by likelihood."""
    number = _number(code)
    if number is None:
        return []
    return [Hit(table, row) for table in within or tables() for row in _by_value(table).get(number, ())]


def by_name(words: str, within: Iterable[str] | None = None) -> list[Hit]:
    """Rows with this symbol; else those whose symbol or title, else whose meaning, holds the words.

    Words of three letters at least.
    """
    wanted = words.casefold()
    rows = [Hit(table, row) for table in within or tables() for row in load_codes(table).values()]
    same = [hit for hit in rows if hit.row.symbol.casefold() == wanted]
    if same or len(wanted) < 3 or not any(character.isalpha() for character in wanted):  # noqa: PLR2004
        return same
    named = [hit for hit in rows if wanted in _names(hit.row)]
    return named or [hit for hit in rows if wanted in f"{hit.row.meaning.en}\n{hit.row.meaning.zh}".casefold()]


def _names(row: Code) -> str:
    return f"{row.symbol}\n{row.symbol.replace('_', ' ')}\n{row.title.en}\n{row.title.zh}".casefold()


def nearest(query: str) -> list[Hit]:
    """Rows whose code or symbol is spelled like the query, the nearest first."""
    wanted = query.strip()[:_LONGEST_CODE].casefold()
    spelled: dict[str, Hit] = {}
    for table in tables():
        for row in load_codes(table).values():
            spelled.setdefault(row.code.casefold(), Hit(table, row))
            if row.symbol:
                spelled.setdefault(row.symbol.casefold(), Hit(table, row))
    if len(wanted) < 2:  # noqa: PLR2004 - one character is like everything
        return []
    found = difflib.get_close_matches(wanted, spelled, _MOST_NEAR, 0.7)
    return list({spelled[name].key: spelled[name] for name in found}.values())


@cache
def _by_code(table: str) -> dict[str, list[Code]]:
    rows: dict[str, list[Code]] = {}
    for row in load_codes(table).values():
        rows.setdefault(row.code.casefold(), []).append(row)
    return rows


@cache
def _by_value(table: str) -> dict[int, list[Code]]:
    rows: dict[int, list[Code]] = {}
    for row in load_codes(table).values():
        number = _number(row.code)
        if number is not None:
            rows.setdefault(number, []).append(row)
    return rows


def _number(text: str) -> int | None:
    """The number that a code is; leading zeros of a decimal do not matter."""
    folded = text.strip().lower()
    try:
        return int(folded, 16) if folded.startswith("0x") else int(folded, 10)
    except ValueError:
        return None
