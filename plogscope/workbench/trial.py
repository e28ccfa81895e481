"""A trial of the grammar on lines: which signature takes each, and what the others look like."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from plogscope.errors import InputError
from plogscope.grammar.load import load_grammar
from plogscope.grammar.match import Matcher
from plogscope.scan.mask import mask
from plogscope.scan.parse import Piece, parse_line

_EACH_LINE_UP_TO = 60
"""Of longer files the text view tells counts only; the JSON has every line."""

_MOST_SHAPES = 40
_SHOWN_LINES = 5


class Taken(msgspec.Struct):
    """A line and the signatures that take it, with the fields that they read."""

    line: int
    signatures: list[dict[str, object]]


class Shape(msgspec.Struct):
    """Lines that nobody takes and that differ only in numbers, names and addresses."""

    shape: str
    level: str | None
    count: int
    first_line: int
    example: str


class Trial(msgspec.Struct):
    """The outcome for all lines; empty lines are not counted."""

    lines: int
    taken: list[Taken]
    untaken: list[Shape]


def try_lines(folders: Sequence[Path], path: Path, view: str) -> str:
    """The outcome for the lines of a file, as text or JSON.

    Args:
        folders: Folders of further signatures.
        path: The file; `-` is the standard input.
        view: `text` or `json`.

    Raises:
        GrammarError: A signature file has defects.
        InputError: The file cannot be read.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "name a file of log lines") from error
    trial = run_trial(data.split(b"\n"), Matcher(load_grammar(folders)))
    if view == "json":
        return json.dumps(msgspec.to_builtins(trial), ensure_ascii=False, indent=2) + "\n"
    return "\n".join(_as_text(trial)) + "\n"


def run_trial(lines: Iterable[bytes], matcher: Matcher) -> Trial:
    """Each line as the scan sees it: peeled, with the format and level of the record that it continues."""
    trial = Trial(0, [], [])
    shapes: dict[tuple[str, str | None], Shape] = {}
    heads: dict[str, tuple[str, str | None]] = {}
    for number, raw in enumerate(lines, 1):
        pieces = [piece for piece in parse_line(raw) if piece.text.strip()]
        trial.lines += bool(pieces)
        taken: list[dict[str, object]] = []
        for piece in pieces:
            taken += _takers(matcher, piece, heads)
        if taken:
            trial.taken.append(Taken(number, taken))
        elif pieces:
            _note_shape(shapes, pieces[0], number)
    trial.untaken = sorted(shapes.values(), key=lambda shape: (-shape.count, shape.first_line))
    return trial


def _takers(matcher: Matcher, piece: Piece, heads: dict[str, tuple[str, str | None]]) -> list[dict[str, object]]:
    if piece.head is not None:
        heads[piece.facts.stream] = (piece.head.format, piece.head.level)
    elif not piece.indented:
        heads[piece.facts.stream] = ("text", None)
    format_name, level = heads.get(piece.facts.stream, ("text", None))
    return [
        {"id": matcher.grammar.signatures[match.signature].id, "fields": match.fields}
        for match in matcher.match(piece.text, format_name, level)
    ]


def _note_shape(shapes: dict[tuple[str, str | None], Shape], piece: Piece, number: int) -> None:
    message = piece.head.message if piece.head is not None else piece.text
    level = piece.head.level if piece.head is not None else None
    key = (mask(message), level)
    shape = shapes.get(key)
    if shape is None:
        shapes[key] = Shape(key[0], level, 1, number, piece.text[:500])
    else:
        shape.count += 1


def _as_text(trial: Trial) -> list[str]:
    count = len(trial.taken)
    out = [f"{trial.lines} lines, {count} taken, {trial.lines - count} not"]
    if trial.lines <= _EACH_LINE_UP_TO:
        out += [
            f"  line {taken.line}: {one['id']}  {_fields(one)}".rstrip()
            for taken in trial.taken
            for one in taken.signatures
        ]
    else:
        by_id: dict[str, list[int]] = {}
        for taken in trial.taken:
            for one in taken.signatures:
                by_id.setdefault(str(one["id"]), []).append(taken.line)
        for name, numbers in sorted(by_id.items(), key=lambda item: (-len(item[1]), item[0])):
            more = ", …" if len(numbers) > _SHOWN_LINES else ""
            out.append(f"  {len(numbers)} x {name} (lines {', '.join(map(str, numbers[:_SHOWN_LINES]))}{more})")
    if trial.untaken:
        out.append("Not taken, by shape:")
        for shape in trial.untaken[:_MOST_SHAPES]:
            level = f"[{shape.level}] " if shape.level else ""
            out.append(f"  {shape.count} x {level}{_printable(shape.shape)} (first: line {shape.first_line})")
        if len(trial.untaken) > _MOST_SHAPES:
            out.append(f"  … {len(trial.untaken) - _MOST_SHAPES} more shapes; --format json has all")
    return out


def _fields(one: dict[str, object]) -> str:
    fields = one["fields"]
    assert isinstance(fields, dict)
    return " ".join(f"{name}={_printable(str(value))[:80]}" for name, value in fields.items())


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
