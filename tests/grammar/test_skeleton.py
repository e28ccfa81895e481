from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.registry import FORMATS, classify
from plogscope.grammar.skeleton import PLACEHOLDER, make_pattern, skeleton

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SAMPLES = [sample.line for found in FORMATS for sample in found.samples]
TOKENS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([
        "device_id=3", "rank[5]", "'x'", '"y z"', "/a/b.c", "10.0.0.7:60000", "0x1f", "-12", "4.5",
        "2026-01-02-03:04:05", "name=", "[]", "[a b]",
        "kernel_name=MatMul_1", "(a|b)*+?", "\\d", "timeout 120 s", "'''", "{x}", "\t", "  ",
    ]),
)  # fmt: skip


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        (
            "Task failed, device_id=3, stream_id=17, task_id=9, retCode=0x26",
            {"device_id": "3", "stream_id": "17", "task_id": "9", "code": "0x26"},
        ),
        (
            "wait for remote rank[7] of group[hccl_world_group_2] timeout[120]",
            {"remote_rank": "7", "communicator": "hccl_world_group_2", "limit_s": "120"},
        ),
        ("fault kernel_name=MatMul_77ab_4, pc=0x1240", {"kernel_name": "MatMul_77ab_4", "address": "0x1240"}),
        ("connect 10.44.3.17:60000 failed", {"address": "10.44.3.17:60000"}),
        ("open /data/a/b.bin failed, errno 2", {"path": "/data/a/b.bin", "code": "2"}),
        ("expected rack[2], got rack[7]", {"expected_rack": "2", "got_rack": "7"}),
        ("rank 1 and rank 2", {"rank": "1", "rank_2": "2"}),
        ("No module named 'acme.ops'", {"named": "acme.ops"}),
        ("{'rank': 3, 'mode': 'fast'} lost", {"rank": "3", "mode": "fast"}),
        ('{"stream_id":17,"why":"x y"}', {"stream_id": "17", "why": "x y"}),
        ("libacme_ext.so.2: cannot open shared object file", {"library": "libacme_ext.so.2"}),
        ("timeout 30000 ms", {"limit_ms": "30000"}),
        ("fetch timed out after 30000 ms", {"limit_ms": "30000"}),
        ("fetch timed out after 30 s", {"limit_s": "30"}),
        ("timeout_ms=30000", {"limit_ms": "30000"}),
    ],
)
def test_values_are_named_by_the_words_before_them(message: str, fields: dict[str, str]) -> None:
    pattern, pieces = make_pattern(message)
    hit = re.fullmatch(pattern, message)
    assert hit is not None
    assert hit.groupdict() == fields
    assert [piece.name for piece in pieces] == list(fields)


def test_meanings_are_those_that_the_analysis_knows() -> None:
    _, pieces = make_pattern("device_id=3 stream_id=17 rank=2 size=4096 kernel_name=a_1 code=5 timeout=120")
    assert {piece.name: piece.meaning for piece in pieces} == {
        "device_id": "device", "stream_id": "stream", "rank": "rank", "size_bytes": "size_bytes",
        "kernel_name": "kernel", "code": "code", "limit_s": "limit_s",
    }  # fmt: skip


def test_words_codes_and_tags_stay_as_they_are() -> None:
    pattern, pieces = make_pattern("EI0099: [InitGroupStage][Check]float32 is not (supported).")
    assert pieces == []
    assert pattern == r"EI0099: \[InitGroupStage\]\[Check\]float32 is not \(supported\)\."


def test_a_stamp_is_no_field_and_the_place_in_the_source_is_dropped() -> None:
    pattern, pieces = make_pattern("at 2026-01-02-03:04:05.678.901 it failed[FUNC:Run][FILE:a.cc][LINE:12]")
    assert pieces == []
    assert "2026" not in pattern
    assert "FUNC" not in pattern


@pytest.mark.parametrize("line", SAMPLES)
def test_the_draft_of_a_line_of_any_format_matches_it_with_its_fields(line: str) -> None:
    head = classify(line)
    assert head is not None
    check(line, head.message)


@given(st.lists(TOKENS, max_size=8).map(" ".join).filter(lambda text: "\n" not in text and "\r" not in text))
def test_the_draft_of_any_line_is_a_file_that_matches_it(line: str) -> None:
    check(line, line)


def check(text: str, message: str) -> None:
    document = tomllib.loads(skeleton(text, message, name="my/new"))
    (example,) = document["examples"]
    assert example["line"] == text.split("\n", 1)[0]
    hit = re.search(document["match"]["pattern"], example["line"], re.MULTILINE)
    assert hit is not None
    assert {name: value for name, value in hit.groupdict().items() if value is not None} == example["fields"]
    assert set(hit.re.groupindex) == set(document.get("extract", {}))
    assert hit.re.groups == len(hit.re.groupindex)
    assert document["title"]["zh"].startswith(PLACEHOLDER)


def test_keys_of_a_dictionary_stay_and_a_quoted_value_before_a_colon_does_not() -> None:
    pattern, _ = make_pattern("{'rank': 3} of 'acme': lost")
    assert "'rank': (?P<rank>" in pattern
    assert "acme" not in pattern


def test_a_library_is_a_path() -> None:
    for message in ("libacme.so failed", "cannot open 'libacme.so'"):
        assert [(piece.type, piece.meaning) for piece in make_pattern(message)[1]] == [("text", "path")]


def test_places_in_the_source_are_no_part_of_what_tells_a_message_apart() -> None:
    assert make_pattern("[shard.py:39] shard lost")[0] == "shard lost"
    assert make_pattern("shard lost (acme/shard.py:39)")[0] == "shard lost"
    pattern, pieces = make_pattern("shard lost in /opt/acme/shard.cc:39, gave up")
    assert pieces == []
    assert "shard.cc" not in pattern
    assert re.fullmatch(pattern, "shard lost in /srv/shard.cc:41, gave up")


def test_a_warning_is_drafted_as_context_and_says_why() -> None:
    assert "because the line is of level WARNING" in skeleton("a warning", "a warning", name="my/new", level="WARNING")
    assert "because the line is of level" not in skeleton("an error", "an error", name="my/new", level="ERROR")
    assert tomllib.loads(skeleton("a warning", "a warning", name="my/new", level="WARNING"))["role"] == "context"
    assert tomllib.loads(skeleton("an error", "an error", name="my/new", level="ERROR"))["role"] == "either"
