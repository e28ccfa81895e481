from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plogscope.grammar.literals import MOST, are_implied, required_literals, sample_parts


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"device lost", ("device lost",)),
        (r"stream \d+ aborted by watchdog", (" aborted by watchdog",)),
        (r"(?:no space|disk quota) left", ("disk quota left", "no space left")),
        (r"exec(?:ute|ution)? failed", ("exec failed", "execute failed", "execution failed")),
        (r"[Ff]ailed", ("Failed", "failed")),
        (r"(?P<code>E[IJ]\d{4}): *", ("EI", "EJ")),
        (r"^Killed$", ("Killed",)),
        (r"(?:ab){2}c+d", ("ababc",)),
        (r"rank[ =]{1,2}\d+", ("rank ", "rank=")),
        (r"device_id=\d+, [Ll]ost link", (", Lost link", ", lost link")),
        (r"torch(?:_npu)?(?:==|=| version )\d", ("torch version ", "torch=", "torch_npu version ", "torch_npu=")),
        (r"lost(?=\.\.\.)", ("lost",)),
        (r"first line\nsecond line of it", ("second line of it",)),
        (r"(?i:Lost) contact", (" contact",)),
        (r"\d+|timeout", ()),
        (r"x?", ()),
        (r".*", ()),
    ],
)
def test_the_longest_text_that_must_be_there_is_found(pattern: str, literals: tuple[str, ...]) -> None:
    assert required_literals(pattern) == literals


def test_many_variants_are_given_up_for_a_shorter_text_that_covers_all_alternatives() -> None:
    pattern = r"(?:[Aa][Bb][Cc][Dd][Ee] of device|[Ff][Gg][Hh][Ii] of stream)"
    literals = required_literals(pattern)
    assert 0 < len(literals) <= MOST
    for text in ("aBcDe of device", "fgHI of stream"):
        assert any(literal in text for literal in literals)


def test_given_literals_are_implied_only_if_every_alternative_holds_one() -> None:
    assert are_implied(r"version [^\n]{0,9} mismatch|version is too old", ["version"])
    assert not are_implied(r"version mismatch|Version mismatch", ["version"])
    assert not are_implied(r"(?:version )?mismatch", ["version"])


def test_sample_parts_make_a_text_that_the_pattern_matches() -> None:
    pattern = r"task (?P<task>\d{1,9}) (?:failed|timed out) at [^\n]{1,20} \[\w+\]"
    for variant in range(2):
        assert re.search(pattern, "".join(sample_parts(pattern, variant)))


CHARACTERS = st.sampled_from("abcXY 0=")
PIECES = st.one_of(
    st.text(CHARACTERS, min_size=1, max_size=4).map(re.escape),
    st.sampled_from([r"\d", "[ab]", "[^c]", "[a-c]", ".", r"\w", "^", "$", r"\b", "(?=a)", "(?!b)", "\n"]),
)


def _wrap(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    suffixes = st.sampled_from(["", "?", "*", "+", "{2}", "{1,3}", "{0,2}", "*?"])
    groups = st.builds("(?:{}){}".format, inner, suffixes)
    branches = st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})")
    return st.one_of(groups, branches, st.lists(inner, min_size=1, max_size=4).map("".join))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(st.recursive(PIECES, _wrap, max_leaves=8), st.data())
def test_every_text_that_matches_holds_a_literal(pattern: str, data: st.DataObject) -> None:
    literals = required_literals(pattern)
    if not literals:
        return
    samples = ["".join(sample_parts(pattern, variant)) for variant in range(3)]
    text = data.draw(st.one_of(st.text(CHARACTERS, max_size=24), st.sampled_from(samples)))
    for hit in re.finditer(pattern, text, re.MULTILINE):
        assert any(literal in hit[0] for literal in literals), (hit[0], literals)


@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
@given(
    st.recursive(
        PIECES.filter(lambda piece: piece not in "^$" and "\\b" not in piece and "(" not in piece), _wrap, max_leaves=5
    ),
    st.data(),
)
def test_texts_made_to_match_hold_a_literal(pattern: str, data: st.DataObject) -> None:
    literals = required_literals(pattern)
    text = data.draw(st.from_regex(pattern, fullmatch=True))
    assert not literals or any(literal in text for literal in literals)
