from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from plogscope.grammar.automaton import Automaton, literal

WORDS = (b"lost", b"device lost", "设备".encode(), b"t dev", b"a.b[", b"\\")
ALPHABET = st.lists(st.one_of(st.sampled_from([*WORDS, b"\n"]), st.binary(max_size=3)), max_size=20).map(b"".join)


@given(ALPHABET)
def test_every_end_of_every_literal_is_found(data: bytes) -> None:
    positions, patterns = Automaton([literal(word) for word in WORDS]).hits(data)
    wanted = {
        (found.start() + len(word) - 1, index)
        for index, word in enumerate(WORDS)
        for found in re.finditer(b"(?=" + re.escape(word) + b")", data)
    }

    assert set(zip(positions, patterns)) == wanted
    assert positions == sorted(positions)


def test_patterns_are_bytes_and_do_not_leave_their_line() -> None:
    positions, patterns = Automaton([rb"\r[^\n]", rb"a.b"]).hits(b"a\nb axb\r\n\rz")

    assert list(zip(positions, patterns)) == [(6, 1), (10, 0)]


def test_nothing_is_found_without_patterns_or_bytes() -> None:
    assert Automaton([]).hits(b"lost") == ([], [])
    assert Automaton([b"lost"]).hits(b"") == ([], [])
