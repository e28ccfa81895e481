from __future__ import annotations

import json
from pathlib import Path

import pytest

from plogscope.errors import UsageError
from plogscope.grammar.load import load_grammar
from plogscope.workbench import list_signatures, show_signature

OWN = Path(__file__).resolve().parents[1] / "grammar" / "good"
NAME = "hccl/notify-wait-timeout"


def ids(**wanted: str) -> list[str]:
    return [row["id"] for row in json.loads(list_signatures((), wanted, "json", "en"))]


def test_the_list_holds_every_signature() -> None:
    assert ids() == [signature.id for signature in load_grammar().signatures]


@pytest.mark.parametrize(
    "wanted",
    [
        {"domain": "hccl"},
        {"category": "memory"},
        {"role": "symptom"},
        {"status": "stable"},
        {"domain": "hccl", "role": "cause"},
    ],
)
def test_the_list_is_narrowed_by_what_is_asked(wanted: dict[str, str]) -> None:
    shown = set(ids(**wanted))
    for signature in load_grammar().signatures:
        own = {
            "domain": signature.id.split("/")[0],
            "category": signature.category,
            "role": signature.role,
            "status": signature.status,
        }
        assert (signature.id in shown) == all(own[key] == value for key, value in wanted.items())


def test_a_word_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match="--role culprit does not exist: use one of cause, either"):
        list_signatures((), {"role": "culprit"}, "text", "en")


def test_the_text_list_has_a_line_each_and_a_count() -> None:
    lines = list_signatures((), {"domain": "hccl"}, "text", "en").splitlines()
    assert lines[-1] == f"{len(lines) - 1} signatures"
    assert any(line.startswith(NAME) and "symptom" in line for line in lines)
    assert "个签名" in list_signatures((), {"domain": "hccl"}, "text", "zh").splitlines()[-1]


def test_a_signature_is_shown_with_pattern_examples_and_links() -> None:
    signature = load_grammar().by_id()[NAME]
    text = show_signature((), NAME, "text", "en")
    assert signature.match.pattern in text
    assert all(example.line in text for example in signature.examples)
    assert "Explained by: " in text
    document = json.loads(show_signature((), NAME, "json", "en"))
    assert "hccl/heartbeat-exception" in document["explained_by"]


def test_what_explains_it_is_what_says_so() -> None:
    explained_by = json.loads(show_signature((), NAME, "json", "en"))["explained_by"]
    for signature in load_grammar().signatures:
        says_so = any(e.id == NAME or (e.id.endswith("/") and NAME.startswith(e.id)) for e in signature.chain.explains)
        assert (signature.id in explained_by) == (says_so and signature.id != NAME)


def test_every_signature_can_be_shown_in_both_languages() -> None:
    for signature in load_grammar().signatures[::60]:
        assert signature.title.en in show_signature((), signature.id, "text", "en")
        assert signature.title.zh in show_signature((), signature.id, "text", "zh")


def test_an_id_that_is_nearly_right_is_corrected() -> None:
    with pytest.raises(UsageError, match="perhaps hccl/notify-wait-timeout"):
        show_signature((), "hccl/notify-wait-timeouts", "text", "en")


def test_a_users_folder_is_listed_and_shown() -> None:
    assert "device/widget" in list_signatures([OWN], {"domain": "device"}, "text", "en")
    assert "The widget failed" in show_signature([OWN], "device/widget", "text", "en")
