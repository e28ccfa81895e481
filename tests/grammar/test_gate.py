from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from plogscope.grammar.compile import assemble
from plogscope.grammar.gate import Gate
from plogscope.model.signature import Example, Grammar, Signature

WORDS = ("lost", "device lost", "设备丢失", "t dev", "ab")


def _grammar(sign: Callable[..., Signature]) -> Grammar:
    return assemble(sign(f"a/{number}", word) for number, word in enumerate(WORDS))


def test_a_text_has_the_signatures_whose_literals_it_holds(sign: Callable[..., Signature]) -> None:
    gate = Gate(_grammar(sign))

    @given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=3)), max_size=6).map("".join))
    def check(text: str) -> None:
        assert gate.candidates(text.encode()) == {i for i, word in enumerate(WORDS) if word in text}

    check()


def test_a_signature_without_literals_is_always_a_candidate(sign: Callable[..., Signature]) -> None:
    gate = Gate(assemble([sign("a/digits", r"\d+"), sign("a/lost", "lost")]))
    assert gate.always == {0}
    assert gate.candidates(b"nothing here") == {0}
    assert gate.candidates(b"lost") == {0, 1}


def test_an_empty_grammar_lets_nothing_through() -> None:
    gate = Gate(assemble([]))
    assert gate.candidates(b"device lost") == frozenset()


def test_only_a_signature_with_an_example_below_error_speaks_of_such_records(sign: Callable[..., Signature]) -> None:
    head = "DRV(1,p):2026-01-01-00:00:00.000.000 [a.c:1]"
    loud = replace(sign("a/loud", "lost"), examples=(Example(line=f"[ERROR] {head}lost", source="test"),))
    quiet = replace(sign("a/quiet", "found"), examples=(Example(line=f"[INFO] {head}found", source="test"),))
    gate = Gate(assemble([loud, quiet]))

    assert gate.in_quiet == {1}
    assert [gate.literals[index] for index in gate.quiet_literals] == [b"found"]
    literals = frozenset(range(2))
    assert gate.among(literals, b"lost and found", whole=True) == {0, 1}
    assert gate.among(literals, b"lost and found", whole=True, quiet=True) == {1}
