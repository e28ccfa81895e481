from __future__ import annotations

import re
from functools import cache

import msgspec
import pytest

from plogscope.explain import NAMESPACES, SCHEMA, as_json, explain
from plogscope.explain.answer import Answer
from plogscope.explain.find import tables
from plogscope.explain.names import table_of
from plogscope.grammar.codes import load_codes
from plogscope.grammar.load import load_grammar
from plogscope.model.signature import Grammar
from plogscope.model.vocabulary import CATEGORIES, ROLES

CHINESE = re.compile(r"[\u3400-\u9fff]")


@cache
def grammar() -> Grammar:
    return load_grammar()


def ask(query: str) -> Answer:
    return explain([query], grammar()).answers[0]


@pytest.mark.parametrize("table", tables())
def test_every_code_of_a_table_is_told_in_both_languages(table: str) -> None:
    for answer in explain([f"{table}:{code}" for code in load_codes(table)]).answers:
        assert answer.entries, answer.query
        entry = answer.entries[0]
        assert (table_of(entry.namespace), entry.code) == (table, answer.query.partition(":")[2])
        assert entry.role in ROLES
        assert entry.category in CATEGORIES
        texts = [entry.title, entry.meaning, entry.role_means, entry.next_action, *entry.look_at]
        texts += [text for link in (*entry.wraps, *entry.wrapped_by) for text in (link.title, link.note) if text]
        for text in texts:
            assert text.en.strip(), answer.query
            assert CHINESE.search(text.zh), (answer.query, text)


def test_every_table_has_a_namespace_of_its_own() -> None:
    assert sorted(NAMESPACES.values()) == sorted(tables())
    assert len(set(NAMESPACES)) == len(NAMESPACES)


def test_a_device_fault_that_surfaces_tells_what_is_inside_and_around_it() -> None:
    entry = ask("507015").entries[0]
    assert entry.role == "symptom"
    assert {"ts:0x26", "rt:0x7150026"} <= {link.code for link in entry.wraps}
    assert {"em:EH9999", "pta:ERR00100"} <= {link.code for link in entry.wrapped_by}
    assert "em:EI0002" in {link.code for link in entry.followed_by}
    assert any("kernel_name" in look.en for look in entry.look_at)
    assert all(link.evidence for link in (*entry.wraps, *entry.wrapped_by, *entry.followed_by))


def test_a_wait_points_at_whoever_did_not_come() -> None:
    entry = ask("EI0002").entries[0]
    assert entry.role == "symptom"
    assert {"acl:507015", "stage:STUCK"} <= {link.code for link in entry.follows}
    assert entry.signatures[0].id == "hccl/notify-wait-timeout"


def test_a_signature_of_another_module_does_not_speak_of_the_code() -> None:
    names = [signature.id for signature in ask("EI0002").entries[0].signatures]
    assert not [name for name in names if name.startswith("compile/")]


def test_links_are_queries_themselves() -> None:
    for link in ask("ERR00100").entries[0].wraps:
        assert explain([link.code]).answers[0].entries, link.code


def test_an_unknown_code_offers_what_is_spelled_like_it() -> None:
    answer = ask("EI0052")
    assert (answer.kind, answer.entries) == ("unknown", [])
    assert "em:EI0002" in [near.code for near in answer.nearest]
    assert ask("#").nearest == []


def test_answers_come_in_the_order_of_the_queries() -> None:
    queries = ["507015", "nothing-like-it", "EI0002", "507015"]
    assert [answer.query for answer in explain(queries).answers] == queries


def test_the_json_has_the_documented_shape() -> None:
    document = msgspec.json.decode(as_json(explain(["hccl:9", "0x800000", "?"], grammar())))
    assert document["schema"] == SCHEMA
    assert set(document) == {"schema", "answers"}
    for answer in document["answers"]:
        assert set(answer) == {"query", "kind", "entries", "hints", "nearest"}
        for entry in answer["entries"]:
            assert set(entry) == {
                "namespace", "code", "symbol", "title", "meaning", "role", "role_means", "category", "severity",
                "next_action", "needs", "look_at", "wraps", "wrapped_by", "follows", "followed_by", "signatures",
                "source", "note",
            }  # fmt: skip
            assert set(entry["title"]) == {"en", "zh"}
            for link in (*entry["wraps"], *entry["wrapped_by"]):
                assert set(link) == {"code", "title", "note", "evidence", "basis"}
    assert [answer["kind"] for answer in document["answers"]] == ["code", "bits", "unknown"]


@pytest.mark.parametrize(
    ("code", "role"),
    [
        ("em:EL0004", "cause"), ("em:EI0003", "cause"), ("em:EI0005", "cause"), ("em:EZ1001", "cause"),
        ("em:EC0010", "cause"), ("em:EI0004", "cause"), ("em:EI0019", "cause"), ("em:EZ2001", "cause"),
        ("em:EE1003", "cause"), ("em:EH0007", "cause"), ("acl:207001", "cause"), ("acl:507054", "cause"),
        ("em:EI0002", "symptom"), ("em:EI0006", "symptom"), ("em:EI0015", "symptom"), ("em:EE1002", "symptom"),
        ("acl:107020", "symptom"), ("acl:507048", "symptom"), ("acl:507046", "symptom"), ("acl:107022", "symptom"),
        ("acl:507014", "symptom"), ("acl:507015", "symptom"), ("acl:507018", "symptom"), ("acl:507035", "symptom"),
("acl:500000", "symptom"), ("pta:ERR00100", "symptom"), ("hccl:9", "symptom"),
        ("em:EI0012", "either"), ("em:EI0013", "either"), ("em:E30008", "either"), ("stage:LOST", "either"),
    ],
)  # fmt: skip
def test_the_codes_that_matter_have_the_role_that_the_layers_give_them(code: str, role: str) -> None:
    assert ask(code).entries[0].role == role


def test_a_code_that_ends_in_9999_is_a_wrapper_unless_it_carries_the_devices_own_text() -> None:
    own_text = {"EZ9999", "E39999", "E89999"}
    for code, row in load_codes("cann_em").items():
        if code.endswith(("9999", "8888")):
            assert row.role == ("either" if code in own_text else "symptom"), code


def test_what_a_text_says_is_not_lost_between_languages() -> None:
    fact = re.compile(r"0x[0-9A-Fa-f]+|`[^`]+`|[A-Z]+[A-Z0-9]*_[A-Z0-9_]+")
    for table in tables():
        for row in load_codes(table).values():
            assert facts(fact, row.next_action.en) <= facts(fact, row.next_action.zh), row.code


def facts(pattern: re.Pattern[str], text: str) -> set[str]:
    return set(pattern.findall(text))
