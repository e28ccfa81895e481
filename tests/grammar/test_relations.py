from __future__ import annotations

import re
from pathlib import Path

import pytest

from plogscope.data import grammar_root
from plogscope.errors import GrammarError
from plogscope.grammar import relations
from plogscope.grammar.codes import load_codes
from plogscope.grammar.relations import compile_relations, load_relations

CHINESE = re.compile(r"[\u3400-\u9fff]")
FILE = (grammar_root() or Path()) / "codes" / "relations.toml"


def exists(key: str) -> bool:
    table, _, code = key.partition(":")
    return code in load_codes(table)


def test_every_code_of_a_relation_exists() -> None:
    found = load_relations()
    keys = {key for edge in found.edges for key in (edge.outer, *edge.inner)}
    keys |= {code for look in found.looks for code in look.codes}
    assert len(keys) > 500
    assert not [key for key in sorted(keys) if not exists(key)]


def test_every_edge_has_evidence_and_every_text_both_languages() -> None:
    found = load_relations()
    assert all(edge.evidence.strip() and edge.inner for edge in found.edges)
    for text in [*(edge.note for edge in found.edges), *(look.at for look in found.looks)]:
        if text is not None:
            assert CHINESE.search(text.zh)
            assert not CHINESE.search(text.en)


def test_no_code_is_inside_itself() -> None:
    wraps: dict[str, set[str]] = {}
    for edge in load_relations().edges:
        if edge.how == "wraps":
            wraps.setdefault(edge.outer, set()).update(edge.inner)
    for start, inside in wraps.items():
        seen: set[str] = set()
        fresh = set(inside)
        while fresh:
            seen |= fresh
            fresh = {inner for key in fresh for inner in wraps.get(key, ())} - seen
        assert start not in seen, start


def test_a_pair_stands_in_the_file_once() -> None:
    pairs = [(edge.how, edge.outer, inner) for edge in load_relations().edges for inner in edge.inner]
    assert len(pairs) == len(set(pairs))


def test_inside_and_outside_are_two_sides_of_one_edge() -> None:
    found = load_relations()
    for inner, edge in found.inside("acl:507015"):
        assert ("acl:507015", edge) in found.outside(inner)
    assert "ts:0x26" in [inner for inner, _ in found.inside("acl:507015")]


def test_the_file_is_read_once_and_a_damaged_cache_is_made_again(own_cache: Path) -> None:
    load_relations.cache_clear()
    first = load_relations()
    cached = next((own_cache / "plogscope").glob("relations-*.json"))
    cached.write_bytes(cached.read_bytes().replace(b'"basis":"field"', b'"basis":"inferred"'))
    load_relations.cache_clear()
    assert load_relations() != first
    cached.write_bytes(b"[")
    load_relations.cache_clear()
    assert load_relations() == first


def test_the_compiled_file_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = tmp_path / "relations.json"
    compiled.write_bytes(compile_relations(FILE))
    load_relations.cache_clear()
    from_file = load_relations()
    monkeypatch.setattr(relations, "compiled_relations", lambda: compiled)
    load_relations.cache_clear()
    assert load_relations() == from_file
    compiled.write_bytes(b"{")
    load_relations.cache_clear()
    with pytest.raises(GrammarError, match="install plogscope again"):
        load_relations()
    load_relations.cache_clear()


def test_a_defect_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "relations.toml"
    path.write_text(
        '[[edges]]\nhow = "hides"\nouter = "a:1"\ninner = ["a:2"]\nevidence = "x"\nbasis = "source"\n', "utf-8"
    )
    with pytest.raises(GrammarError, match=r"relations\.toml:2: edges\[0\]\.how = 'hides' is not in the vocabulary"):
        compile_relations(path)
