from __future__ import annotations

import json
import re

import msgspec

from plogscope.model.signature import Advice, Explains, Field, Signature
from plogscope.workbench import vocabulary
from plogscope.workbench.vocabulary import KEYS, read_vocabulary


def test_every_word_of_the_schema_is_explained_in_both_languages_and_no_other() -> None:
    tables = read_vocabulary()
    assert {key: tuple(words) for key, words in tables.items()} == KEYS
    for words in tables.values():
        for text in words.values():
            assert set(text) == {"en", "zh"}
            assert re.search(r"[\u3400-\u9fff]", text["zh"])


def test_a_word_said_to_be_the_default_is_the_default() -> None:
    tables = read_vocabulary()
    told = {
        key: [word for word, text in words.items() if "(the default)" in text["en"]] for key, words in tables.items()
    }
    defaults: dict[str, type[msgspec.Struct]] = {
        "status": Signature,
        "advice.kind": Advice,
        "type": Field,
        "meaning": Field,
        "scope": Explains,
    }
    wanted = {}
    for key, kind in defaults.items():
        fields = {field.name: field.default for field in msgspec.structs.fields(kind)}
        wanted[key] = [fields[key.rpartition(".")[2]]]
    assert {key: words for key, words in told.items() if words} == wanted


def test_units_are_told() -> None:
    text = vocabulary("text", "en")
    assert re.search(r"limit_s +.*seconds", text)
    assert re.search(r"limit_ms +.*milliseconds", text)
    assert "毫秒" in vocabulary("text", "zh")
    assert json.loads(vocabulary("json", "en")) == read_vocabulary()
