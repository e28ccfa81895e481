"""Laws of the examples: a file proves what it claims, with lines that are really printed somewhere."""

# ruff: noqa: D102 - the class says what its check does

from __future__ import annotations

import re
from collections.abc import Iterator

from plogscope.grammar.document import Defect
from plogscope.grammar.lints.base import Entry, Lint
from plogscope.grammar.reading import front_of, read_parts


class HasExamples(Lint):
    """At least one line that matches and one that does not."""

    id = "unproved"
    meaning = "nobody knows whether the pattern works"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if not entry.signature.examples:
            yield self.defect(entry, (), "there is no example", "add [[examples]] with a real line")
        if not entry.signature.near_misses:
            remedy = "add [[near_misses]] with a line of another signature or a benign one, and why"
            yield self.defect(entry, (), "there is no near miss", remedy)


class ExamplesMatch(Lint):
    """Each example matches as the analysis reads it, with exactly its fields, read by `re` and by `regex`."""

    id = "example"
    meaning = "the pattern does not recognise what it is for"

    def check(self, entry: Entry) -> Iterator[Defect]:
        for index, example in enumerate(entry.signature.examples):
            parts = read_parts(example.line)
            texts = [part.piece.text for part in parts]
            for read in (entry.fields_by_regex, entry.fields_by_re):
                found = next((fields for text in texts if (fields := read(text)) is not None), None)
                if found is None:
                    front = front_of(example.line, parts) if read(example.line) is not None else ""
                    yield self.defect(entry, ("examples", index, "line"), *_no_match(index + 1, front))
                elif found != example.fields:
                    message = f"example {index + 1} has other fields: {_difference(found, example.fields)}"
                    remedy = "mend the pattern or the fields"
                    yield self.defect(entry, ("examples", index, "fields"), message, remedy)
                else:
                    continue
                break


class NearMissesDoNotMatch(Lint):
    """No near miss matches, and each says why it should not."""

    id = "near-miss"
    meaning = "the pattern recognises too much"

    def check(self, entry: Entry) -> Iterator[Defect]:
        for index, near_miss in enumerate(entry.signature.near_misses):
            texts = [part.piece.text for part in read_parts(near_miss.line)]
            if any(entry.by_regex.search(text) or entry.by_re.search(text) for text in texts):
                message = f"near miss {index + 1} matches"
                yield self.defect(entry, ("near_misses", index, "line"), message, "make the pattern more specific")
            if not near_miss.why.strip():
                message = f"near miss {index + 1} does not say why it must not match"
                yield self.defect(entry, ("near_misses", index, "why"), message, "fill why")


class Provenance(Lint):
    """Each line says where such a line is printed."""

    id = "provenance"
    meaning = "a line that nobody can look up may be invented"

    def check(self, entry: Entry) -> Iterator[Defect]:
        tables = {
            "examples": [example.source for example in entry.signature.examples],
            "near_misses": [near_miss.source for near_miss in entry.signature.near_misses],
        }
        for table, sources in tables.items():
            for index, source in enumerate(sources):
                if not source.strip():
                    remedy = "name the source file, document or version that prints it"
                    message = f"the source of {table}[{index}] is empty"
                    yield self.defect(entry, (table, index, "source"), message, remedy)


class Supported(Lint):
    """A program or document that others can look up prints what blames something; a log at hand is no support."""

    id = "support"
    meaning = "the pattern may fit nothing but one log"

    def check(self, entry: Entry) -> Iterator[Defect]:
        sources = [example.source.strip() for example in entry.signature.examples]
        if entry.signature.role not in BLAMING or not all(sources) or not all(map(_NO_SUPPORT.fullmatch, sources)):
            return
        for index in range(len(sources)):
            message = f"the source of examples[{index}] names no program and no document: {sources[index]!r}"
            remedy = "name the source file, document or version that prints it, or add an example of one"
            yield self.defect(entry, ("examples", index, "source"), message, remedy)


class UnitsMeant(Lint):
    """A duration has the unit that stands beside it."""

    id = "unit"
    meaning = "a wait would be taken for one a thousand times as long, or as short"

    def check(self, entry: Entry) -> Iterator[Defect]:
        for name, field in entry.signature.extract.items():
            other = _OTHER_UNIT.get(field.meaning)
            if other is not None and any(
                other[0].match(after) or other[1].search(before) for before, after in _around(entry, name)
            ):
                message = f"the meaning of {name} is {field.meaning}, but beside it stands another unit"
                yield self.defect(entry, ("extract", name), message, f"write meaning = {other[2]}")


_MS = (re.compile(r"\s?(?:ms|msecs?|milli\w+)\b"), re.compile(r"_ms\W{0,3}$"))
_S = (re.compile(r"\s?(?:s|secs?|seconds?)\b"), re.compile(r"_s(?:ec)?\W{0,3}$"))
_OTHER_UNIT = {
    "limit_s": (*_MS, '"limit_ms"'),
    "limit_ms": (*_S, '"limit_s"'),
    "elapsed_ms": (*_S, '"limit_s", or "value" if it is no limit'),
}


def _around(entry: Entry, name: str) -> Iterator[tuple[str, str]]:
    """What stands before and behind the group in each example."""
    for example in entry.signature.examples:
        for part in read_parts(example.line):
            hit = entry.by_re.search(part.piece.text)
            if hit is not None and name in hit.groupdict() and hit[name] is not None:
                yield part.piece.text[: hit.start(name)], part.piece.text[hit.end(name) :]


BLAMING = ("cause", "either", "symptom")
"""What progress looks like is up to every program; what is blamed has to be known from more than a log."""

_NO_SUPPORT = re.compile(
    r"(?:(?:a|an|the|one|our|own|some|real|field|user'?s?) ){0,4}"
    r"(?:log|logs|case|cases|bundle|ticket|issue|sample|example|report|run|application|program|script|training script"
    r"|path|user|unknown|observed)(?: (?:file|line|no\.?|number|#)?.{0,20})?",
    re.IGNORECASE,
)


def _no_match(number: int, front: str) -> tuple[str, str]:
    """Message and remedy; `front` is what only the pattern looks at, and the analysis takes off."""
    if not front:
        return f"example {number} does not match", "mend the pattern or the line"
    message = f"example {number} does not match as the analysis reads it: without {front!r} in front"
    return message, "leave the prefix out of the pattern (rank, worker and receipt time are read from it anyway)"


def _difference(found: dict[str, str], wanted: dict[str, str]) -> str:
    parts = [
        f"{name} is {found.get(name, '(none)')!r}, not {wanted.get(name, '(none)')!r}"
        for name in sorted(found.keys() | wanted.keys())
        if found.get(name) != wanted.get(name)
    ]
    return "; ".join(parts)
