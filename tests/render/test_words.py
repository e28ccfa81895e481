from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from plogscope.data import report_root
from plogscope.model import vocabulary
from plogscope.model.vocabulary import Text
from plogscope.render import html, markdown, terminal
from plogscope.render.issue_forms import load_forms
from plogscope.render.words import Words, load_words, pick

WORDS = load_words()
# Names of things that both languages write alike.
SAME = {"actor.rank", "actor.pid"}
# Sections whose keys are values of a closed list; the code builds those keys.
CLOSED = {
    "status": vocabulary.STATUSES,
    "route": ("compile-error", "runtime-error", "accuracy", "performance", "environment", "insufficient", "none"),
    "role": vocabulary.PLACES,
    "kind": vocabulary.ACTION_KINDS,
    "proof": get_args(vocabulary.ClockProof),
    "confidence": ("high", "medium", "low"),
    "sure": ("high", "medium", "low"),
    "basis": ("reference", "proven", "assumed"),
    "step": ("passed", "assumed-passed", "failed", "not-run", "incomplete", "gap"),
}
BUILT = {
    "category": [*vocabulary.CATEGORIES, *(f"because_{name}" for name in vocabulary.CATEGORIES)],
    "cause": [f"none_{name}" for name in vocabulary.STATUSES],
    "section": [f"cause_{name}" for name in vocabulary.STATUSES],
    "head": [f"first_{name}" for name in vocabulary.STATUSES],
}
KEY = re.compile(r"""['"]([a-z_]+\.[a-z_-]+)['"]""")
HEADINGS = (
    "category",
    "evidence",
    "action",
    "chain",
    "time",
    "findings",
    "missing",
    "environment",
    "provenance",
    "ticket",
)


def _templates() -> list[Path]:
    return sorted((report_root() / "templates").rglob("*.j2"))


def _sources() -> list[Path]:
    return sorted(Path(html.__file__).parent.glob("*.py"))


def _named() -> dict[str, str]:
    """Every key that stands in a template or in the code, with the file that names it."""
    sections = {key.split(".")[0] for key in WORDS.table}
    found: dict[str, str] = {}
    for path in _templates():
        for call in re.findall(r"\b(?:t|words|word)\(([^)]*)", path.read_text(encoding="utf-8")):
            found.update(dict.fromkeys(KEY.findall(call), path.name))
    for path in _sources():
        for key in KEY.findall(path.read_text(encoding="utf-8")):
            if key.split(".")[0] in sections:
                found[key] = path.name
    return found


def test_every_key_that_is_used_exists() -> None:
    unknown = {key: where for key, where in _named().items() if key not in WORDS.table}
    # A key that ends in `_` is completed by a value of the contract; those are checked one by one below.
    assert {key: where for key, where in unknown.items() if not key.endswith("_")} == {}
    assert all(any(known.startswith(key) for known in WORDS.table) for key in unknown)
    assert len(_named()) > 80


@pytest.mark.parametrize("section", [*CLOSED, *BUILT])
def test_every_value_of_the_contract_has_words(section: str) -> None:
    keys = {**CLOSED, **BUILT}[section]
    assert [key for key in keys if f"{section}.{key}" not in WORDS.table] == []


def test_no_word_is_unused() -> None:
    used = set(_named()) | {f"section.{name}" for name in HEADINGS}
    used |= {f"{section}.{key}" for group in (CLOSED, BUILT) for section, keys in group.items() for key in keys}
    used |= {f"coverage.{name}" for name in ("read", "parsed", "unparsed", "folded", "skipped")}
    used |= {
        f"{section}.{name}"
        for section in ("copy", "text")
        for name in ["markdown", *load_forms(), "evidence", "prompt"]
    }
    used |= {f"prompt.task_{status}" for status in vocabulary.STATUSES}
    used |= {"waits.title", "waits.title_proven", "waits.line", "waits.line_witness"}
    prefixes = ("left_out.", "contains.", "actor.", "table.")
    assert {key for key in WORDS.table if key not in used and not key.startswith(prefixes)} == set()


@pytest.mark.parametrize("key", sorted(WORDS.table))
def test_chinese_is_filled_differs_and_has_the_same_places(key: str) -> None:
    text = WORDS.table[key]
    assert text.en.strip() == text.en != ""
    assert text.zh.strip() == text.zh != ""
    assert (text.en == text.zh) == (key in SAME)
    assert _places(text.en) == _places(text.zh)
    if key not in SAME and key != "table.rank":
        assert re.search("[\u4e00-\u9fff：]", text.zh)


def _places(pattern: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(pattern) if name}


def test_a_value_may_differ_between_the_languages() -> None:
    words = Words({"a.b": Text(en="in {what}", zh="在{what}")})
    assert words("a.b", what=Text(en="memory", zh="内存")) == Text(en="in memory", zh="在内存")
    assert pick(words("a.b", what=7), "zh") == "在7"


def test_braces_in_a_value_are_not_places() -> None:
    words = Words({"a.b": Text(en="got {what}", zh="得到 {what}")})
    assert words("a.b", what="{secret} {0}").en == "got {secret} {0}"


def test_an_unknown_key_is_a_defect_of_the_program() -> None:
    with pytest.raises(KeyError):
        WORDS("page.no_such_words")


@pytest.mark.parametrize("path", _sources(), ids=lambda path: path.name)
def test_the_code_holds_no_prose(path: Path) -> None:
    """Strings of the code are keys, patterns and marks: none has three words in a row or Chinese in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation
    ]
    assert [text for text in strings if re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}|[\u4e00-\u9fff]", text)] == []


@pytest.mark.parametrize("path", _templates(), ids=lambda path: path.name)
def test_the_templates_hold_no_prose(path: Path) -> None:
    if path.name in {"report.css.j2", "report.js.j2"}:
        pytest.skip("style and script show no words of their own")
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    shown = re.sub(r"<[^>]*>|\bdata-[a-z]+", "|", text)
    known = {"English", "中文", "CANN", "torch_npu", "Esc", "export"}
    words = set(re.findall(r"[A-Za-z_]{3,}|[\u4e00-\u9fff]+", shown))
    example = {"rank", "node", "pid", "code", "EI0002", "file", "plog", "role", "cascade", "text"}
    assert words - known - example - {"DOCTYPE"} == set()


def test_the_views_name_the_same_versions() -> None:
    assert html._VERSIONS == markdown._VERSIONS  # noqa: SLF001 - the two lists must not drift apart
    assert terminal.MAX_LINES < 25
