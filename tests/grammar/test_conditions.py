"""The law of conditions: they hide no match. What they are good for is shown by a few patterns of every kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plogscope.data import grammar_root
from plogscope.grammar.cases import MOST_CASES
from plogscope.grammar.compile import assemble, read_grammar
from plogscope.grammar.conditions import conditions
from plogscope.grammar.gate import LONGEST, Gate
from plogscope.grammar.literals import required_literals, sample_parts
from plogscope.model.signature import Grammar, Signature

Sign = Callable[..., Signature]


@pytest.mark.parametrize(
    ("pattern", "passes", "fails"),
    [
        (r"link \w+ down, port \d", "link a down, port 1", "a system down, port 1"),
        (r"(?:EXT4|XFS)\b[^\n]{0,60}? corrupted", "XFS is corrupted", "a file is corrupted"),
        (r"^[EF]\d{4} .* process died", "E0101 a process died", "a process died"),
        (r"(?:^[ |]{0,4}|CRITICAL: )[A-Z]\w+Error", "|  KeyError", "[an old KeyError]"),
        (r"[Ll]oss is (?:nan|inf)|[Ff]ound (?:a )?NaN", "loss is inf", "found a way"),
        (r"(?:Lustre: \w+ evicted|error on sector \d)", "Lustre: x evicted", "evicted, an error"),
        (r"[Ll]oss[ :=]{1,3}'?(?:nan|inf)", "the loss =  nan", "loss 3.1, no information"),
        (r"(?:b|abc)+y found it", "abcy found it", "y found it"),
    ],
)
def test_what_stands_beside_the_literal_is_asked_for(sign: Sign, pattern: str, passes: str, fails: str) -> None:
    gate = Gate(assemble([sign("a/x", pattern)]))
    assert gate.candidates(passes.encode()) == {0}
    assert gate.candidates(fails.encode()) == set()


def test_a_line_that_is_not_alone_or_begins_with_a_prefix_may_begin_anyhow(sign: Sign) -> None:
    gate = Gate(assemble([sign("a/x", "^Killed by")]))
    assert gate.candidates(b"(Killed by") == set()
    assert gate.candidates(b"(\nKilled by") == {0}
    assert gate.among(frozenset([0]), b"(Killed by", whole=False) == {0}


def test_many_alternatives_are_united(sign: Sign) -> None:
    ways = "|".join(f"first{number} .* last{number}" for number in range(2 * MOST_CASES))
    pattern = f"(?:{ways}) of the ring"
    assert len(conditions(pattern, required_literals(pattern))) <= MOST_CASES
    gate = Gate(assemble([sign("a/x", pattern)]))
    assert gate.candidates(b"first7 and last7 of the ring") == {0}


CHARACTERS = st.sampled_from("abcXY 0=\n\xe4")
PIECES = st.one_of(
    st.text(st.sampled_from("abcXY 0="), min_size=1, max_size=4).map(re.escape),
    st.sampled_from(
        [r"\d", "[ab]", "[^c]", "[a-c]", ".", r"\w", r"\W", r"\s", "^", "$", r"\b", "(?=a)", "(?!b)", "\n", "(?i:Ab)"]
    ),
)


def _wrap(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    suffixes = st.sampled_from(["", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "*?"])
    groups = st.builds("(?:{}){}".format, inner, suffixes)
    branches = st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
    return st.one_of(groups, branches, st.lists(inner, min_size=1, max_size=4).map("".join))


def test_no_match_of_any_pattern_is_hidden(sign: Sign) -> None:
    @settings(max_examples=300, suppress_health_check=list(HealthCheck), deadline=None)
    @given(st.recursive(PIECES, _wrap, max_leaves=10), st.data())
    def check(pattern: str, data: st.DataObject) -> None:
        gate = Gate(assemble([sign("a/x", pattern)]))
        samples = ["".join(sample_parts(pattern, variant)) for variant in range(3)]
        middle = data.draw(st.one_of(st.text(CHARACTERS, max_size=24), st.sampled_from(samples)))
        text = data.draw(st.text(CHARACTERS, max_size=3)) + middle + data.draw(st.text(CHARACTERS, max_size=3))
        found = re.search(pattern, text, re.MULTILINE)
        if found is not None:
            assert gate.candidates(text.encode()) == {0}, text
            begins = found.start() == 0 or text[found.start() - 1] == "\n"
            assert begins or not gate.only_at_start(0, text.encode()), text

    check()


def test_a_text_that_is_not_searched_as_a_whole_is_not_looked_at_as_a_whole(sign: Sign) -> None:
    gate = Gate(assemble([sign("a/x", r"link \w+ down, port \d")]))
    filler = b"x" * LONGEST
    assert gate.candidates(b"system down, port " + filler) == {0}
    assert gate.candidates(b"link " + filler) == set()


def test_where_only_a_way_from_the_start_of_a_line_is_open(sign: Sign) -> None:
    gate = Gate(assemble([sign("a/x", r"(?:^[A-Z]|Note: )\w+ lost"), sign("a/y", "lost")]))
    assert gate.only_at_start(0, b"Card lost")
    assert not gate.only_at_start(0, b"Note: card lost")
    assert not gate.only_at_start(1, b"Card lost")


@pytest.mark.parametrize("pattern", [r"(?:b|abc)+yz", r"(?:bb|abbc){1,2}yz\d", r"(?:x|axb)+(?:yy|xyyy) z"])
def test_the_two_ends_of_a_repeat_may_be_one_text(sign: Sign, pattern: str) -> None:
    gate = Gate(assemble([sign("a/x", pattern)]))
    for variant in range(4):
        text = "".join(sample_parts(pattern, variant))
        assert gate.candidates(text.encode()) == {0}, text


@cache
def shipped() -> tuple[Grammar, Gate]:
    root = grammar_root()
    assert root is not None
    grammar = read_grammar(root)
    return grammar, Gate(grammar)


def _texts(signature: Signature) -> Iterator[str]:
    """Examples, what the pattern (nearly) matches, and both in the middle of something else."""
    samples = ["".join(sample_parts(signature.match.pattern, variant)) for variant in range(8)]
    for text in [*(example.line for example in signature.examples), *samples]:
        yield text
        yield f"[ERROR] x: {text} "
        yield f"1\n{text}\n2"


def test_no_match_of_a_shipped_pattern_is_hidden() -> None:
    grammar, gate = shipped()
    for index, signature in enumerate(grammar.signatures):
        pattern = re.compile(signature.match.pattern, re.MULTILINE)
        for text in _texts(signature):
            for found in pattern.finditer(text):
                raw = text.encode("utf-8", "surrogatepass")
                assert index in gate.candidates(raw), (signature.id, text)
                begins = found.start() == 0 or text[found.start() - 1] == "\n"
                assert begins or not gate.only_at_start(index, raw), (signature.id, text)
