from __future__ import annotations

import re
from pathlib import Path

import pytest

from plogscope.data import code_families, grammar_root
from plogscope.errors import GrammarError
from plogscope.grammar import codes
from plogscope.grammar.codes import find_codes, load_codes
from plogscope.grammar.compile import compile_codes, decode_codes

CHINESE = re.compile(r"[\u3400-\u9fff]")


@pytest.mark.parametrize("family", code_families())
def test_every_code_is_told_in_both_languages(family: str) -> None:
    rows = load_codes(family)
    assert rows
    for key, code in rows.items():
        assert key == code.code
        assert code.source
        for text in (code.title, code.meaning, code.next_action):
            assert text.en.strip(), code
            assert CHINESE.search(text.zh), code
            assert not CHINESE.search(text.en), code


def test_twenty_families_hold_the_whole_catalogue() -> None:
    assert len(code_families()) == 20
    assert sum(len(load_codes(family)) for family in code_families()) >= 2281


def test_a_wrapper_is_a_symptom_and_success_is_no_failure() -> None:
    assert load_codes("cann_em")["EI9999"].role == "symptom"
    assert load_codes("acl")["0"].role == "context"


@pytest.mark.parametrize(
    ("query", "family", "code"),
    [
        ("EI0006", "cann_em", "EI0006"),
        ("ei0006", "cann_em", "EI0006"),
        (" 507015 ", "acl", "507015"),
        ("0x7BC87", "acl", "507015"),
        ("118620163", "rt", "0x7120003"),
        ("acl_error_rt_aicore_exception", "acl", "507015"),
        ("heartbeat: stuck", "hccl_event", "STUCK"),
    ],
)
def test_a_code_is_found_as_people_write_it(query: str, family: str, code: str) -> None:
    assert (family, code) in [(found, row.code) for found, row in find_codes(query)]


def test_a_number_that_several_tables_have_is_found_in_all_of_them() -> None:
    assert {family for family, _ in find_codes("9")} >= {"aicore_errcode", "drv", "hccl_result"}


def test_nothing_is_found_for_nothing() -> None:
    assert find_codes("") == []
    assert find_codes("no such code anywhere") == []


def test_an_unknown_family_is_said_so() -> None:
    with pytest.raises(GrammarError, match="there is no code table acl2: use one of acl, "):
        load_codes("acl2")


def test_the_compiled_table_says_what_the_file_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = grammar_root()
    assert root is not None
    from_file = load_codes("ts")
    compiled = tmp_path / "ts.json"
    compiled.write_bytes(compile_codes(root / "codes" / "ts.toml"))
    monkeypatch.setattr(codes, "compiled_codes", lambda _: compiled)
    monkeypatch.setattr(codes, "grammar_root", lambda: None)
    load_codes.cache_clear()
    assert load_codes("ts") == from_file
    assert list(load_codes("ts")) == list(from_file)


def test_a_table_is_read_from_the_cache_the_second_time(own_cache: Path) -> None:
    first = load_codes("sdma_cqe")
    cached = next((own_cache / "plogscope").glob("codes-sdma_cqe-*.json"))
    cached.write_bytes(cached.read_bytes().replace(b"reserved", b"spare"))
    load_codes.cache_clear()
    second = load_codes("sdma_cqe")
    assert (first["3"].title.en, second["3"].title.en) == ("reserved", "spare")
    cached.write_bytes(b"[")
    load_codes.cache_clear()
    assert load_codes("sdma_cqe") == first


ROW = """
[[codes]]
code = "1"
symbol = "A"
title = { en = "a", zh = "甲" }
meaning = { en = "a", zh = "甲" }
next_action = { en = "a", zh = "甲" }
category = "device"
role = "cause"
"""


def test_defects_of_a_table_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('title = { en = "x", zh = "某" }\n' + ROW, "utf-8")
    assert list(decode_codes(compile_codes(path))) == ["1"]
    path.write_text('title = { en = "x", zh = "某" }\n' + ROW + ROW, "utf-8")
    with pytest.raises(GrammarError, match=r"x\.toml:13: the code 1 has a row already; join the rows"):
        compile_codes(path)
    path.write_text('title = { en = "x", zh = "某" }\n' + ROW.replace('"device"', '"hardware"'), "utf-8")
    with pytest.raises(GrammarError, match=r"x\.toml:9: codes\[0\]\.category = 'hardware' is not in the vocabulary"):
        compile_codes(path)
    path.write_text("title = ", "utf-8")
    with pytest.raises(GrammarError, match=r"x\.toml:1: is not TOML"):
        compile_codes(path)
