from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.grammar.lint import LINTS, format_defects, lint_folder
from plogscope.grammar.load import load_grammar

BAD = Path(__file__).parent / "bad"
RULES = sorted(folder.name for folder in BAD.iterdir())


@pytest.mark.parametrize("rule", RULES)
def test_a_bad_file_gets_exactly_these_messages(rule: str) -> None:
    """To accept new wording: write what `format_defects` gives, without the folder, into `bad/<rule>/expected.txt`."""
    defects = lint_folder(BAD / rule)
    assert format_defects(defects).replace(f"{BAD / rule}/", "") + "\n" == (BAD / rule / "expected.txt").read_text(
        "utf-8"
    )
    assert {defect.rule for defect in defects} == {rule}


def test_every_rule_has_a_bad_file() -> None:
    assert set(RULES) == {lint.id for lint in LINTS} | {"readable", "toml", "schema", "pattern-compiles"}


def test_every_rule_says_what_it_means() -> None:
    assert all(lint.meaning and lint.__doc__ for lint in LINTS)
    assert len({lint.id for lint in LINTS}) == len(LINTS)


def test_a_good_file_has_no_defects() -> None:
    assert lint_folder(BAD.parent / "good") == []


def test_files_may_point_at_signatures_of_another_folder(tmp_path: Path, good_text: str) -> None:
    (tmp_path / "own").mkdir()
    links = 'identity = ["index"]\nrefines = ["operator/aicore-kernel-failed"]'
    (tmp_path / "own" / "widget.toml").write_text(good_text.replace('identity = ["index"]', links), "utf-8")
    assert [defect.rule for defect in lint_folder(tmp_path)] == ["target"]
    assert lint_folder(tmp_path, load_grammar().signatures) == []


def test_one_defect_hides_no_other_file(tmp_path: Path, good_text: str) -> None:
    for name, text in {"a": "=", "b": "", "c": good_text.replace("部件失败", "")}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.toml").write_text(text, "utf-8")
    assert {Path(defect.file).parent.name for defect in lint_folder(tmp_path)} == {"a", "b", "c"}
