from __future__ import annotations

import pytest
from msgspec import structs

from plogscope.chain.category import name_category
from plogscope.grammar.codes import load_codes
from plogscope.model.chain import Chain, Edge
from plogscope.model.signature import Code
from plogscope.model.vocabulary import Category
from tests.chain.things import ONE_CLOCK, TEXT, finding, incident


def lookup(family: str, code: str) -> Code | None:
    return load_codes(family).get(code)


def category(
    code: int, after_s: float = 0.001, own: Category = "unknown", source: int = 0, signed: str | None = None
) -> Category:
    """Of an unknown error after which the runtime returns a code."""
    root = incident("i1", finding(signed, 0.0, line=47), "either", category=own)
    layer = incident("i2", finding("runtime/rt-errcode", after_s, line=48, source=source, code=code), "symptom")
    edge = Edge(cause="i1", effect="i2", kind="wraps", reason=TEXT)
    named = name_category(Chain(incidents=(root, layer), edges=(edge,), root="i1"), ONE_CLOCK, lookup).incident("i1")
    assert named is not None
    return named.category


def test_an_unknown_error_is_of_the_kind_that_the_code_of_its_call_says() -> None:
    assert category(107015) == "stream_event"
    assert category(207001) == "memory"


@pytest.mark.parametrize("code", [507015, 999999])
def test_a_code_behind_which_something_else_stands_says_nothing(code: int) -> None:
    assert lookup("acl", str(code)) is None or category(code) == "unknown"
    assert category(code) == "unknown"


def test_a_wrapper_is_of_no_kind_when_its_code_can_have_a_cause_below() -> None:
    assert category(507013) == "device"
    assert category(507013, signed="torch-npu/npu-function-error") == "unknown"


def test_a_later_call_or_another_process_says_nothing() -> None:
    assert category(107015, after_s=300.0) == "unknown"
    assert category(107015, source=1) == "unknown"


def test_a_known_category_stays() -> None:
    assert category(107015, own="device") == "device"


@pytest.mark.parametrize(("module", "kind"), [("HCCL", "communication"), ("DVPP", "operator"), ("RUNTIME", "unknown")])
def test_an_unknown_error_is_of_the_kind_of_work_that_its_module_does(module: str, kind: Category) -> None:
    lead = structs.replace(finding(None, 0.0), module=module)
    chain = Chain(incidents=(incident("i1", lead, "either", category="unknown"),), edges=(), root="i1")
    named = name_category(chain, ONE_CLOCK, lookup).incident("i1")
    assert named is not None
    assert named.category == kind
