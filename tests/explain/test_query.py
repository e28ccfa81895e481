from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.explain.find import exactly, tables
from plogscope.explain.query import read
from plogscope.grammar.codes import load_codes

HEX_WORDS = st.integers(1, 2**64 - 1)


def keys(query: str) -> list[str]:
    return [hit.key for hit in read(query).hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("507015", "acl:507015"),
        ("EI0002", "cann_em:EI0002"),
        ("ei0002 ", "cann_em:EI0002"),
        ("ERR00100", "pta:ERR00100"),
        ("9", "hccl_result:9"),
        ("hccl:9", "hccl_result:9"),
        ("drv:9", "drv:9"),
        ("HCCL:9", "hccl_result:9"),
        ("hccl_result:9", "hccl_result:9"),
        ("0x26", "ts:0x26"),
        ("ts:38", "ts:0x26"),
        ("0x7150026", "rt:0x7150026"),
        ("retCode=0x7150026", "rt:0x7150026"),
        ("InnerCode=0x7150026", "rt:0x7150026"),
        ("retCode=0x26", "ts:0x26"),
        ("ErrCode=507015", "acl:507015"),
        ("error code is 507015", "acl:507015"),
        ("error code is 6", "hccl_result:6"),
        ("runtime result = 507899", "acl:507899"),
        ("hcclRet -> 4", "hccl_result:4"),
        ("errNo[0x0000000005010009]", "hccl_result:9"),
        ("errNo[0x0000000005000007]", "hccl_result:7"),
        ("event_id=0x80e01801", "npu_event:0x80e01801"),
        ("sdma_cqe=2", "sdma_cqe:2"),
        ("err_type=13", "ringbuf_errtype:13"),
        ("errType=0x4", "stars_errtype:0x4"),
        ("drvRetCode=6", "drv:6"),
        ("STUCK", "hccl_event:STUCK"),
        ("UCE ERROR", "pta_msg:UCE ERROR"),
        ("acl_error_rt_aicore_exception", "acl:507015"),
        ("EC0010", "cann_em:EC0010"),
    ],
)
def test_a_code_is_read_as_people_write_it(query: str, first: str) -> None:
    assert keys(query)[0] == first


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("errcode:(0x800000, 0, 0)", ["aicore_errcode:23"]),
        ("(0x800000,0,0)", ["aicore_errcode:23"]),
        ("0x800000", ["aicore_errcode:23"]),
        ("errcode:(0, 0x8000, 0)", ["aicore_errcode:79"]),
        ("errcode:(0x4000000000000000, 0, 0)", ["aicore_errcode:62"]),
        ("errcode:(0x3, 0x1, 0x100000001)", [f"aicore_errcode:{n}" for n in (0, 1, 64, 128, 145)]),
        ("errcode:(0, 0, 0)", ["aicore_errcode:none"]),
        ("errcode:(95)", ["aicore_errcode_950:95"]),
        ("aicore950:95", ["aicore_errcode_950:95"]),
        ("aicore950:0x6", ["aicore_errcode_950:1", "aicore_errcode_950:2"]),
        ("aicore:0x6", ["aicore_errcode:1", "aicore_errcode:2"]),
        ("stars:0x5", ["stars_errtype:0x1", "stars_errtype:0x4"]),
        ("errType=0x5", ["stars_errtype:0x1", "stars_errtype:0x4"]),
    ],
)
def test_words_of_error_bits_are_taken_apart(query: str, wanted: list[str]) -> None:
    assert keys(query) == wanted
    assert read(query).kind in ("bits", "code")


def test_bits_that_no_table_names_are_said_to_be_so() -> None:
    reading = read("errcode:(0, 0, 0x20000)")
    assert reading.hits == []
    assert "3:17" in reading.hints[0].en


def test_an_inner_code_that_no_table_has_is_told_by_its_module() -> None:
    reading = read("retCode=0x7150fff")
    assert [hit.key for hit in reading.hits] == ["rt:0x7150000"]
    assert "0x0fff" in reading.hints[0].en


def test_every_code_of_a_line_is_found_once() -> None:
    line = (
        "[ERROR] RUNTIME(811,python3):2026-02-03-04:05:06.070.080 [api_c.cc:9]812 rtStreamSynchronize:"
        "ErrCode=507015, desc=[aicore exception], InnerCode=0x7150026 EZ9999 errcode:(0x800000, 0, 0)"
    )
    reading = read(line)
    assert reading.kind == "line"
    found = [hit.key for hit in reading.hits]
    assert set(found) >= {"acl:507015", "rt:0x7150026", "cann_em:EZ9999", "aicore_errcode:23"}
    assert len(found) == len(set(found))


def test_a_namespace_narrows_and_an_unknown_one_is_told() -> None:
    assert len(keys("9")) > 5
    assert keys("sdma:9") == ["sdma_cqe:9"]
    assert "em, pta, acl" in read("nonsense:12").hints[0].en


def test_an_unknown_wrapper_is_known_by_its_suffix() -> None:
    assert any("9999" in hint.en for hint in read("EQ9999").hints)
    assert read("EQ9999").kind == "unknown"


@pytest.mark.parametrize("table", tables())
def test_every_code_of_every_table_is_found_by_its_name_and_alone(table: str) -> None:
    for code in load_codes(table):
        assert f"{table}:{code}" in keys(f"{table}:{code}"), code
        assert f"{table}:{code}" in [hit.key for hit in exactly(code)], code
        assert f"{table}:{code}" in keys(code), code


@given(HEX_WORDS, st.integers(0, 2**64 - 1))
def test_every_bit_of_the_first_two_words_is_answered(first: int, second: int) -> None:
    wanted = [n for n in range(64) if first >> n & 1] + [64 + n for n in range(64) if second >> n & 1]
    assert keys(f"errcode:({first:#x}, {second:#x}, 0)") == [f"aicore_errcode:{number}" for number in wanted]


@given(st.text(max_size=200))
def test_no_text_is_too_strange_to_be_asked(text: str) -> None:
    reading = read(text)
    assert reading.kind in ("code", "bits", "parts", "name", "line", "unknown")
    assert bool(reading.hits) == (reading.kind != "unknown") or reading.kind == "bits"


@pytest.mark.parametrize("query", ["(" * 5000, "errcode:(" + "1," * 3000, "0x" + "f" * 5000, "9" * 5000, "a:" * 3000])
def test_a_hostile_query_is_answered_at_once(query: str) -> None:
    assert read(query).kind in ("bits", "unknown")
