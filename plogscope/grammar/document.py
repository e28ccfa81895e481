"""One TOML file as it was read: its text, its data, the line of every key, and the defects found in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CODES_FOLDER = "codes"
_HEADER = re.compile(r"\s*(\[\[?)\s*([\w.\- \"']+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w.\-]+|\"[^\"]*\"|'[^']*')\s*=\s*(.*)$")
_MANY_LINES = ("'''", '"""')


class Defect(msgspec.Struct, frozen=True, order=True):
    """One thing wrong in one file: where, which rule, what, and what to do about it."""

    file: str
    line: int
    rule: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}; {self.remedy} [{self.rule}]"


class Document(msgspec.Struct, frozen=True):
    """A TOML file below a grammar folder; `id` is its path below the folder without suffix."""

    path: Path
    id: str
    text: str
    data: dict[str, Any]

    def line(self, *keys: str | int) -> int:
        """Line (1-based) of the key, or of the nearest key around it that stands on a line of its own."""
        lines = _lines_of_keys(self.text)
        for end in range(len(keys), 0, -1):
            if keys[:end] in lines:
                return lines[keys[:end]]
        return 1

    def defect(self, rule: str, keys: tuple[str | int, ...], message: str, remedy: str) -> Defect:
        """A defect of this file at the line of `keys`."""
        return Defect(str(self.path), self.line(*keys), rule, message, remedy)


def signature_paths(root: Path) -> list[Path]:
    """All signature files below `root`, sorted by path; the code tables are not among them."""
    paths = (path for path in root.rglob("*.toml") if path.relative_to(root).parts[0] != CODES_FOLDER)
    return sorted(paths, key=lambda path: path.relative_to(root).as_posix())


def is_domain(folder: Path) -> bool:
    """True when all files stand in the folder itself: ids begin with its name, so its parent is the root."""
    paths = signature_paths(folder)
    return bool(paths) and all(path.parent == folder for path in paths)


def read_document(path: Path, root: Path) -> Document | Defect:
    """Reads one file; a file that is not TOML is a defect."""
    name = path.relative_to(root).with_suffix("").as_posix()
    try:
        text = path.read_text(encoding="utf-8")
        return Document(path, name, text, tomllib.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        return Defect(str(path), 1, "readable", f"cannot be read ({error})", "make it a readable UTF-8 file")
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"at line (\d+)", str(error))
        return Defect(
            str(path), int(where[1]) if where else 1, "toml", f"is not TOML ({error})", "mend the syntax at this line"
        )


def read_documents(root: Path) -> tuple[list[Document], list[Defect]]:
    """Reads all signature files below `root`: those that are TOML, and a defect for each one that is not."""
    read = [read_document(path, root) for path in signature_paths(root)]
    return [item for item in read if isinstance(item, Document)], [item for item in read if isinstance(item, Defect)]


def format_defects(defects: Iterable[Defect]) -> str:
    """One line per defect, ordered by file and line: `file:line: what is wrong; remedy [rule]`."""
    return "\n".join(str(defect) for defect in sorted(defects))


def _lines_of_keys(text: str) -> dict[tuple[str | int, ...], int]:
    lines: dict[tuple[str | int, ...], int] = {}
    counts: dict[str, int] = {}
    table: tuple[str | int, ...] = ()
    for number, line in _logical_lines(text):
        header = _HEADER.match(line)
        if header:
            name = header[2]
            table = _parts(name)
            if header[1] == "[[":
                table = (*table, counts.get(name, 0))
                counts[name] = counts.get(name, 0) + 1
            lines.setdefault(table, number)
            continue
        key = _KEY.match(line)
        if key:
            for end in range(1, len(_parts(key[1])) + 1):
                lines.setdefault((*table, *_parts(key[1])[:end]), number)
    return lines


def _parts(name: str) -> tuple[str, ...]:
    if name[:1] in ("'", '"'):
        return (name[1:-1],)
    return tuple(part.strip() for part in name.split("."))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number, without the inner lines of multi-line strings (which may look like keys)."""
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):
        if closing:
            if closing in line:
                closing = ""
            continue
        yield number, line
        key = _KEY.match(line)
        value = key[2] if key else ""
        for quote in _MANY_LINES:
            if value.startswith(quote) and quote not in value[3:]:
                closing = quote
