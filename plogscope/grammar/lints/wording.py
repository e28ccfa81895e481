"""Laws of the words for people: both languages are filled and say the same facts."""

# ruff: noqa: D102 - the class says what its check does

from __future__ import annotations

import re
from collections.abc import Iterator

from plogscope.grammar.document import Defect
from plogscope.grammar.lints.base import Entry, Keys, Lint, named
from plogscope.grammar.lints.proof import BLAMING
from plogscope.grammar.skeleton import PLACEHOLDER as UNFINISHED
from plogscope.model.signature import NPU, Signature
from plogscope.model.vocabulary import Text

PLACEHOLDER = re.compile(r"\{(\w+)\}")
_FACT = re.compile(r"0x[0-9A-Fa-f]+|\d+(?:\.\d+)+|[A-Z]+[A-Z0-9]*_[A-Z0-9_]+|[A-Z]+\d[A-Z0-9]*|(?<![A-Za-z_])\d+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


class BothLanguages(Lint):
    """The Chinese text is filled, is Chinese, and keeps codes, numbers and placeholders."""

    id = "zh"
    meaning = "a report in Chinese would be empty, English, or say another fact"

    def check(self, entry: Entry) -> Iterator[Defect]:
        for keys, text in texts(entry.signature):
            name = ".".join(map(str, keys))
            for language, words in (("en", text.en), ("zh", text.zh)):
                if not words.strip():
                    yield self.defect(entry, (*keys, language), f"{name}.{language} is empty", "fill it")
            if not text.zh.strip() or not text.en.strip() or UNFINISHED in text.en + text.zh:
                continue
            if not _CHINESE.search(text.zh):
                yield self.defect(entry, (*keys, "zh"), f"{name}.zh is not Chinese", "translate it")
            lost = _facts(text.en) - _facts(text.zh)
            if lost:
                message = f"{name}.zh loses {named(lost)} of the English text"
                yield self.defect(entry, (*keys, "zh"), message, "keep codes, numbers and {placeholders} as they are")


class PlaceholdersExtracted(Lint):
    """A placeholder in a text is the name of an extracted field, or the device that failed."""

    id = "placeholder"
    meaning = "the report would show the braces"

    def check(self, entry: Entry) -> Iterator[Defect]:
        fields = set(entry.signature.extract)
        for keys, words in _filled(entry.signature):
            for name in sorted(set(PLACEHOLDER.findall(words)) - fields - {NPU}):
                message = f"{{{name}}} in {'.'.join(map(str, keys))} is not an extracted field"
                yield self.defect(entry, keys, message, f"use one of {named(fields)}" if fields else "extract it")


class AdviceForCauses(Lint):
    """A signature that can be a root cause says what to do."""

    id = "advice"
    meaning = "the report would end without a next action"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if entry.signature.role in ("cause", "either") and entry.signature.advice is None:
            message = f"role {entry.signature.role} has no [advice]"
            yield self.defect(entry, ("role",), message, "add [advice] with the smallest next action")


class Finished(Lint):
    """Nothing that `plogscope grammar new` left for a person to write is still there."""

    id = "unfinished"
    meaning = "a report would show the request to fill something in"

    def check(self, entry: Entry) -> Iterator[Defect]:
        signature = entry.signature
        places: list[tuple[Keys, str]] = list(_filled(signature))
        for number, example in enumerate(signature.examples):
            places.append((("examples", number, "source"), example.source))
        for number, near_miss in enumerate(signature.near_misses):
            lines = {"line": near_miss.line, "why": near_miss.why, "source": near_miss.source}
            places += [(("near_misses", number, name), words) for name, words in lines.items()]
        for keys, words in places:
            if UNFINISHED in words:
                asked = words.partition(UNFINISHED)[2].strip(" :>")
                yield self.defect(entry, keys, f"{'.'.join(map(str, keys))} is not filled in", f"write {asked}")


class CategoryKnown(Lint):
    """What blames something says whose remedy it is. A notice: for some messages nobody can know."""

    id = "category"
    meaning = "the report cannot say who is to look at it"

    def check(self, entry: Entry) -> Iterator[Defect]:
        if entry.signature.category == "unknown" and entry.signature.role in BLAMING:
            remedy = "say whose remedy it is, if that can be known (plogscope grammar vocabulary)"
            yield self.defect(entry, ("category",), "category is unknown", remedy)


def texts(signature: Signature) -> Iterator[tuple[Keys, Text]]:
    """All texts of a signature that exist in both languages, with their place in the file."""
    yield ("title",), signature.title
    if signature.caution is not None:
        yield ("caution",), signature.caution
    if signature.advice is not None:
        yield ("advice", "next_action"), signature.advice.next_action


def _filled(signature: Signature) -> Iterator[tuple[Keys, str]]:
    for keys, text in texts(signature):
        yield (*keys, "en"), text.en
        yield (*keys, "zh"), text.zh
    if signature.advice is not None and signature.advice.command is not None:
        yield ("advice", "command"), signature.advice.command


def _facts(words: str) -> set[str]:
    bare = PLACEHOLDER.sub(" ", words)
    return {f"{{{name}}}" for name in PLACEHOLDER.findall(words)} | set(_FACT.findall(bare))
