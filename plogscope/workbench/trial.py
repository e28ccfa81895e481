"""A trial of the grammar on lines: which signature takes each, and what the others look like."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from plogscope.errors import EXIT_FAIL_ON, EXIT_GRAMMAR, EXIT_OK, InputError
from plogscope.formats.parse import Piece
from plogscope.grammar.load import load_drafts
from plogscope.grammar.match import Matcher
from plogscope.grammar.reading import Reader, takes
from plogscope.scan.mask import mask
from plogscope.workbench.catalogue import find_signature

_EACH_LINE_UP_TO = 60
"""Of longer files the text view tells counts only; the JSON has every line."""

_MOST_SHAPES = 40
_REFUSED = (
    "nobody: the pattern matches, but not formats and levels; "
    "plog records below ERROR are searched only for signatures with an example of such a record"
)
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
    """The outcome for all lines; empty lines are not counted.

    Attributes:
        missed: Numbers of the lines that the expected signature does not take; None when none was expected.
        refused: Those of them that its pattern matches, and that what it asks of the record keeps from it.
    """

    lines: int
    taken: list[Taken]
    untaken: list[Shape]
    missed: list[int] | None = None
    refused: list[int] = []


class Outcome(msgspec.Struct, frozen=True):
    """What the command prints, and how it ends.

    Attributes:
        text: The trial, as text or JSON.
        notes: One line for each file of the folders that has defects.
        exit_code: 0; 1 when the expected signature does not take every line; 4 when a file that counts has defects:
            the one of the expected signature, or any if none is expected.
    """

    text: str
    notes: list[str]
    exit_code: int


def try_lines(folders: Sequence[Path], path: Path, view: str, expect: str | None = None) -> Outcome:
    """The outcome for the lines of a file. A draft with defects takes part as far as it can be read.

    Args:
        folders: Folders of further signatures.
        path: The file; `-` is the standard input.
        view: `text` or `json`.
        expect: Id of the signature that is to take every line.

    Raises:
        GrammarError: The shipped grammar cannot be read.
        InputError: The file cannot be read.
        UsageError: There is no signature of the expected id.
    """
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error})", "name a file of log lines") from error
    grammar, defects = load_drafts(folders)
    wrong = Counter(defect.file for defect in defects)
    own = {file for folder in folders for file in wrong if Path(file) == folder / f"{expect}.toml"}
    if expect is not None and not own:
        find_signature(grammar, expect)
    trial = run_trial(data.split(b"\n"), Matcher(grammar), expect)
    exit_code = EXIT_GRAMMAR if own or (wrong and expect is None) else EXIT_FAIL_ON if trial.missed else EXIT_OK
    notes = [
        f"{file}: {count} defect{'s' * (count > 1)}: plogscope grammar lint {file}" for file, count in wrong.items()
    ]
    if view == "json":
        return Outcome(json.dumps(msgspec.to_builtins(trial), ensure_ascii=False, indent=2) + "\n", notes, exit_code)
    return Outcome("\n".join(_as_text(trial, expect)) + "\n", notes, exit_code)


def run_trial(lines: Iterable[bytes], matcher: Matcher, expect: str | None = None) -> Trial:
    """Each line as the scan sees it: peeled, with the format and level of the record that it continues."""
    trial = Trial(0, [], [], None if expect is None else [])
    shapes: dict[tuple[str, str | None], Shape] = {}
    reader = Reader()
    for number, raw in enumerate(lines, 1):
        parts = reader.parts(raw)
        trial.lines += bool(parts)
        taken: list[dict[str, object]] = [
            {"id": matcher.grammar.signatures[match.signature].id, "fields": match.fields}
            for part in parts
            for match in takes(matcher, part)
        ]
        if taken:
            trial.taken.append(Taken(number, taken))
        elif parts:
            _note_shape(shapes, parts[0].piece, number)
        if trial.missed is not None and parts and all(one["id"] != expect for one in taken):
            trial.missed.append(number)
            if not taken and any(expect in _matching(matcher, part.piece.text) for part in parts):
                trial.refused.append(number)
    trial.untaken = sorted(shapes.values(), key=lambda shape: (-shape.count, shape.first_line))
    return trial


def _matching(matcher: Matcher, text: str) -> set[str]:
    """Ids of the signatures whose pattern matches, whatever they ask of the record."""
    return {matcher.grammar.signatures[index].id for index in matcher.matching(text)}


def _note_shape(shapes: dict[tuple[str, str | None], Shape], piece: Piece, number: int) -> None:
    message = piece.head.message if piece.head is not None else piece.text
    level = piece.head.level if piece.head is not None else None
    key = (mask(message), level)
    shape = shapes.get(key)
    if shape is None:
        shapes[key] = Shape(key[0], level, 1, number, piece.text[:500])
    else:
        shape.count += 1


def _as_text(trial: Trial, expect: str | None) -> list[str]:
    count = len(trial.taken)
    out = [f"{trial.lines} lines, {count} taken, {trial.lines - count} not"]
    out += _expectation(trial, expect)
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


def _expectation(trial: Trial, expect: str | None) -> list[str]:
    """How many lines the expected signature takes, and who takes those that it does not."""
    if trial.missed is None:
        return []
    out = [f"{expect} takes {trial.lines - len(trial.missed)} of {trial.lines} lines"]
    takers = {taken.line: ", ".join(str(one["id"]) for one in taken.signatures) for taken in trial.taken}
    takers |= dict.fromkeys(trial.refused, _REFUSED)
    out += [
        f"  line {number}: not taken by {expect}, but by {takers.get(number, 'nobody')}"
        for number in trial.missed[:_MOST_SHAPES]
    ]
    if len(trial.missed) > _MOST_SHAPES:
        out.append(f"  … {len(trial.missed) - _MOST_SHAPES} more; --format json has all")
    return out


def _fields(one: dict[str, object]) -> str:
    fields = one["fields"]
    assert isinstance(fields, dict)
    return " ".join(f"{name}={_printable(str(value))[:80]}" for name, value in fields.items())


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
