"""The shipped signature files, one test id for each file and law."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from plogscope.data import grammar_root
from plogscope.grammar.compile import compile_grammar, decode_grammar, read_grammar
from plogscope.grammar.document import Document, format_defects, read_document, read_documents, signature_paths
from plogscope.grammar.lint import LINTS, lint_documents
from plogscope.grammar.match import Matcher
from plogscope.grammar.schema import read_signature
from plogscope.model.signature import Grammar, Signature

ROOT = grammar_root() or Path()
PATHS = [path.relative_to(ROOT).with_suffix("").as_posix() for path in signature_paths(ROOT)]
BETWEEN_FILES = [lint for lint in LINTS if "finish" in vars(lint)]
OF_ONE_FILE = [lint for lint in LINTS if lint not in BETWEEN_FILES]


@cache
def shipped() -> Grammar:
    return read_grammar(ROOT)


@cache
def matchers() -> tuple[Matcher, Matcher]:
    return Matcher(shipped()), Matcher(shipped(), gated=False)


@pytest.fixture(params=PATHS)
def document(request: pytest.FixtureRequest) -> Document:
    read = read_document(ROOT / f"{request.param}.toml", ROOT)
    assert isinstance(read, Document), str(read)
    return read


@pytest.fixture
def signature(document: Document) -> Signature:
    read = read_signature(document)
    assert isinstance(read, Signature), format_defects(read)
    return read


def test_a_file_keeps_its_laws(document: Document) -> None:
    defects = lint_documents([document], lints=OF_ONE_FILE)
    assert not defects, format_defects(defects)


def test_the_gate_hides_no_match(signature: Signature) -> None:
    gated, ungated = matchers()
    texts = [text for example in signature.examples for text in variants(example.line)[:4]]
    for text in [*texts, *(near_miss.line for near_miss in signature.near_misses)]:
        assert gated.matching(text) == ungated.matching(text), text
    long = f"{signature.examples[0].line}\n{'x' * 20_000}\n{signature.examples[0].line}"
    own = [found.id for found in shipped().signatures].index(signature.id)
    assert own in gated.matching(long)


def test_every_match_of_an_example_holds_a_literal(signature: Signature) -> None:
    literals = shipped().by_id()[signature.id].match.literals
    for example in signature.examples:
        for text in variants(example.line):
            for hit in re.finditer(signature.match.pattern, text, re.MULTILINE):
                assert any(literal in hit[0] for literal in literals)


def test_the_files_agree_with_each_other() -> None:
    documents, unreadable = read_documents(ROOT)
    assert not unreadable, format_defects(unreadable)
    defects = lint_documents(documents, lints=BETWEEN_FILES)
    assert not defects, format_defects(defects)


def test_the_compiled_grammar_says_what_the_files_say() -> None:
    assert decode_grammar(compile_grammar(ROOT)) == read_grammar(ROOT)


def variants(line: str) -> list[str]:
    """The line as logs spoil it: coloured, behind prefixes, cut on either side, in the middle of a record, repeated."""
    middle = len(line) // 2
    return [
        line,
        f"{line[:middle]}\x1b[0m{line[middle:]}",
        f"[rank3]: \x1b[31m{line}\x1b[0m\r",
        line[5:-5],
        line[:middle],
        line[middle:],
        f"first line\n{line}\nlast line",
        f"{line} {line}",
        line.replace(" ", "  "),
    ]
