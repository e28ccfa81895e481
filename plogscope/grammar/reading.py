"""Lines as the analysis reads them: prefixes taken off, each part with the head of the record that it belongs to."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from plogscope.formats.parse import Piece, parse_line
from plogscope.grammar.match import Match, Matcher
from plogscope.model.signature import Match as Wanted


class Part(msgspec.Struct, frozen=True):
    """What a signature sees of a line.

    Attributes:
        piece: Text, writer and head as they were cut out of the line.
        format: Format of the record that the part opens or continues; `text` when it has no head.
        level: Level of that record, None if it has none.
        opens: False for a continuation: conditions on the record are then tested after the search.
    """

    piece: Piece
    format: str
    level: str | None
    opens: bool


class Reader:
    """Reads the lines of one file in order, and knows which record each stream is in."""

    def __init__(self) -> None:
        self._heads: dict[str, tuple[str, str | None]] = {}

    def parts(self, raw: bytes) -> list[Part]:
        """The parts of one line that are not blank."""
        return [self._part(piece) for piece in parse_line(raw) if piece.text.strip()]

    def _part(self, piece: Piece) -> Part:
        stream, opens = piece.facts.stream, piece.head is not None or not piece.indented
        if piece.head is not None:
            self._heads[stream] = (piece.head.format, piece.head.level)
        elif opens:
            self._heads[stream] = ("text", None)
        return Part(piece, *self._heads.get(stream, ("text", None)), opens)


def read_parts(line: str) -> list[Part]:
    """The parts of an example: one line of a log, or several that follow each other."""
    reader = Reader()
    return [part for raw in line.split("\n") for part in reader.parts(raw.encode("utf-8", "surrogatepass"))]


def takes(matcher: Matcher, part: Part) -> list[Match]:
    """The matches that the analysis keeps for this part: conditions tested, overlaps resolved."""
    if part.opens:
        return matcher.match(part.piece.text, part.format, part.level)
    return [
        match
        for match in matcher.match(part.piece.text, None, None)
        if admits(matcher.grammar.signatures[match.signature].match, part)
    ]


def front_of(line: str, parts: Iterable[Part]) -> str:
    """What stands in front of the first part and was taken off: names of ranks and workers, receipt times."""
    first = next(iter(parts), None)
    at = -1 if first is None else line.find(first.piece.text)
    return line[:at] if at > 0 else ""


def admits(wanted: Wanted, part: Part) -> bool:
    """True when the record has one of the formats and one of the levels that the signature asks for, if any."""
    return (not wanted.formats or part.format in wanted.formats) and (not wanted.levels or part.level in wanted.levels)
