from __future__ import annotations

from pathlib import Path

from plogscope.grammar.document import Document, read_document, signature_paths

TEXT = """title = { en = "x", zh = "y" }
a.b = 1

[match]
pattern = '''x
title = "inside a string"
'''
keep = "all"  # after a string of many lines

[[examples]]
line = "one"

[[examples]]
"line" = 'two'
fields = { a = "1" }

[ chain ] # spaced
weight = 3
"""


def test_each_key_has_its_line() -> None:
    document = Document(Path("x.toml"), "x", TEXT, {})
    wanted = {
        ("title",): 1, ("title", "zh"): 1, ("a", "b"): 2, ("match",): 4, ("match", "pattern"): 5,
        ("match", "keep"): 8, ("examples", 0, "line"): 11, ("examples", 1, "line"): 14,
        ("examples", 1, "fields", "a"): 15, ("chain", "weight"): 18, ("nothing",): 1, (): 1,
    }  # fmt: skip
    assert {keys: document.line(*keys) for keys in wanted} == wanted


def test_the_id_is_the_path_and_code_tables_are_no_signatures(tmp_path: Path) -> None:
    for name in ("codes/acl.toml", "b/two.toml", "a/b/one.toml", "a/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1", "utf-8")
    documents = [read_document(path, tmp_path) for path in signature_paths(tmp_path)]
    assert [document.id for document in documents if isinstance(document, Document)] == ["a/b/one", "b/two"]
