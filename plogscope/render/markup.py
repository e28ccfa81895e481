"""Markdown that log text cannot break: fences longer than any run of backticks inside, prose with every marker escaped.

Beyond layout, this keeps a pasted report from notifying people (`@name`), linking issues (`#12`) and loading images.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plogscope.render.visible import one_line, visible

_BACKTICKS = re.compile(r"`+")
_MARKERS = re.compile(r"([\\`*\[\]<>|~!&])")
_LONE_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_REFERENCE = re.compile(r"([@#])(?=\w)")
_LINE_START = re.compile(r"^(\s*)([-+=#])|^(\s*\d{1,9})([.)])(?=\s|$)")
_BREAK_REFERENCE = r"\1<!-- -->"
_MIN_FENCE = 3


def prose(text: str) -> str:
    """`text` on one line as words, never as markup."""
    escaped = _MARKERS.sub(r"\\\1", one_line(text).strip())
    escaped = _LONE_UNDERSCORE.sub(r"\\_", escaped)
    escaped = _REFERENCE.sub(_BREAK_REFERENCE, escaped)
    return _LINE_START.sub(lambda found: f"{found[1] or found[3] or ''}\\{found[2] or found[4]}", escaped)


def code(text: str) -> str:
    """`text` on one line as a code span that no backtick inside can end."""
    shown = one_line(text)
    if not shown.strip():
        return ""
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def cell(text: str) -> str:
    """A code span or prose for a table cell: a vertical bar would end the cell, inside a code span as well."""
    return text.replace("\\|", "|").replace("|", "\\|")


def fenced(lines: Sequence[str], indent: str = "", info: str = "text") -> str:
    """`lines` as a fenced block, indented to stand in a list."""
    shown = [part for line in lines for part in visible(line).split("\n")]
    fence = "`" * max(_MIN_FENCE, max((_longest_run(line) for line in shown), default=0) + 1)
    return "\n".join(f"{indent}{line}".rstrip() for line in [f"{fence}{info}", *shown, fence])


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; cells are already escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell(value) for value in row) + " |" for row in lines)
