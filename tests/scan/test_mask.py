"""Fingerprints of unknown messages."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plogscope.scan.mask import MAX_TEMPLATE_CHARS, mask


def test_numbers_addresses_paths_and_quotes_go() -> None:
    one = mask("open /data/run7/shard-0001.bin failed, ret=-5, addr=0x12c0c, name 'abc'")
    two = mask("open /srv/x/shard-0933.bin failed, ret=17, addr=0x99, name 'q'")

    assert one == two


def test_stage_tags_stay_and_values_in_brackets_go() -> None:
    assert mask("[InitGroupStage][RanktableCheck]rank[12] is bad") == "[InitGroupStage][RanktableCheck]rank[#] is bad"


def test_different_sentences_stay_different() -> None:
    assert mask("queue 5 is full") != mask("queue 5 is empty")


@given(st.text(max_size=2000))
def test_a_fingerprint_is_short_and_stable(text: str) -> None:
    assert len(mask(text)) <= MAX_TEMPLATE_CHARS
    assert mask(text) == mask(text)
