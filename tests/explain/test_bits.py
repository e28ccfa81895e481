from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plogscope.explain.bits import bits_of, decode_words


@given(st.integers(0, 2**128))
def test_the_bits_make_up_the_value(value: int) -> None:
    assert sum(1 << bit for bit in bits_of(value)) == value
    assert bits_of(value) == sorted(bits_of(value))


def test_the_words_are_numbered_on_and_the_third_in_two_halves() -> None:
    assert [bit.number for bit in decode_words((1 << 63, 1, (1 << 16) | (1 << 32) | (1 << 62)))] == [
        63, 64, 144, 145, 175,
    ]  # fmt: skip


def test_a_bit_between_the_halves_of_the_third_word_has_no_number() -> None:
    assert [bit.number for bit in decode_words((0, 0, 1 << 17))] == [None]
    assert [bit.number for bit in decode_words((1 << 70,))] == [None]
