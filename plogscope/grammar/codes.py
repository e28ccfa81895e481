"""Code tables: what a number or code in a log line means."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from plogscope.data import code_families, compiled_codes, grammar_root
from plogscope.errors import GrammarError
from plogscope.grammar.cache import digest_of, read_cache, write_cache
from plogscope.grammar.compile import compile_codes, decode_codes
from plogscope.grammar.document import CODES_FOLDER
from plogscope.model.signature import Code


@cache
def load_codes(family: str) -> dict[str, Code]:
    """The rows of one table by code.

    Raises:
        GrammarError: There is no such table, or its file has defects.
    """
    if family not in code_families():
        raise GrammarError(f"there is no code table {family}", "use one of " + ", ".join(code_families()))
    compiled, root = compiled_codes(family), grammar_root()
    try:
        if compiled is not None:
            return decode_codes(compiled.read_bytes())
    except (OSError, msgspec.MsgspecError) as error:
        raise GrammarError(f"the code table {family} cannot be read ({error})", "install plogscope again") from error
    if root is None:
        raise GrammarError("the code tables are missing from this installation", "install plogscope again")
    return _load_toml(root / CODES_FOLDER / f"{family}.toml")


def find_codes(query: str) -> list[tuple[str, Code]]:
    """Rows that a person means by `query`, with their family; the tables in order of name.

    A code is found as it is printed, in any case, and as the same number in hex or decimal; else a symbol; else rows
    whose symbol or title holds the words.
    """
    wanted = query.strip().casefold()
    if not wanted:
        return []
    rows = [(family, code) for family in code_families() for code in load_codes(family).values()]
    number = _number(wanted)
    same = [row for row in rows if row[1].code.casefold() == wanted]
    same += [row for row in rows if number is not None and row not in same and _number(row[1].code) == number]
    same = same or [row for row in rows if row[1].symbol.casefold() == wanted]
    return same or [
        row for row in rows if wanted in f"{row[1].symbol}\n{row[1].title.en}\n{row[1].title.zh}".casefold()
    ]


def _load_toml(path: Path) -> dict[str, Code]:
    digest = digest_of([path])
    data = read_cache(f"codes-{path.stem}", digest)
    if data is not None:
        try:
            return decode_codes(data)
        except msgspec.MsgspecError:  # cut off or written by something else: made again
            pass
    data = compile_codes(path)
    write_cache(f"codes-{path.stem}", digest, data)
    return decode_codes(data)


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
