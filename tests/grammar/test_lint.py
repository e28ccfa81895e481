from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.grammar.document import read_documents
from plogscope.grammar.lint import LINTS, NOTICES, format_defects, lint_documents, lint_folder
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


Own = Callable[..., str]
PREFIXED = "[rank5]: RuntimeError: widget 7 failed, status 0x1f"


@pytest.fixture
def own_text(good_text: str) -> Own:
    """The good file with another start of its pattern, another example and further lines below [match]."""

    def build(start: str, line: str, match: str = "") -> str:
        text = good_text.replace("pattern = '''", f"{match}pattern = '''{start}")
        return text.replace("E widget 7 failed, status 0x1f", line)

    return build


def defects_beside_the_shipped(tmp_path: Path, text: str, name: str = "acme/widget") -> list[str]:
    path = tmp_path / f"{name}.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return [
        f"{defect.rule}: {defect.message}; {defect.remedy}"
        for defect in lint_folder(tmp_path, load_grammar().signatures)
    ]


def test_a_pattern_with_the_prefix_that_the_analysis_takes_off_does_not_match(tmp_path: Path, own_text: Own) -> None:
    defects = defects_beside_the_shipped(tmp_path, own_text(r"\[rank\d{1,4}\]: RuntimeError: ", PREFIXED))
    assert len(defects) == 1
    assert defects[0].startswith(
        "example: example 1 does not match as the analysis reads it: without '[rank5]: ' in front; leave the prefix out"
    )


def test_an_anchored_pattern_matches_behind_the_prefix(tmp_path: Path, own_text: Own) -> None:
    assert defects_beside_the_shipped(tmp_path, own_text("^RuntimeError: ", PREFIXED)) == []


def test_a_near_miss_is_read_without_its_prefix(tmp_path: Path, own_text: Own) -> None:
    text = own_text("^RuntimeError: ", PREFIXED).replace(
        "W widget 7 failed over, status 0x1f", "[rank1]: RuntimeError: widget 8 failed, status 0x1f"
    )
    assert defects_beside_the_shipped(tmp_path, text) == [
        "near-miss: near miss 1 matches; make the pattern more specific"
    ]


def test_a_fallback_that_never_gets_its_line_is_told_who_does(tmp_path: Path, own_text: Own) -> None:
    line = "ModuleNotFoundError: No module named 'widget 7 failed, status 0x1f'"
    (defect,) = defects_beside_the_shipped(tmp_path, own_text("", line, "generic = true\n"))
    assert defect.startswith(
        "taken: example 1 is taken by python/module-not-found, not by this signature; "
        'to take it drop generic = true and write refines = ["python/module-not-found"] below [chain]'
    )


@pytest.mark.parametrize("match", ['formats = ["glog"]\n', 'levels = ["WARNING"]\n'])
def test_conditions_that_the_record_does_not_meet_are_told(tmp_path: Path, own_text: Own, match: str) -> None:
    line = "[ERROR] HCCL(70412,python3):2026-03-11-09:42:17.305.118 [rack.cc:88] [70655]widget 7 failed, status 0x1f"
    (defect,) = defects_beside_the_shipped(tmp_path, own_text("", line, match))
    assert defect.startswith("taken: example 1 is passed over: its record is of format plog at level ERROR;")


def test_an_id_that_is_shipped_is_refused_as_the_analysis_refuses_it(tmp_path: Path, good_text: str) -> None:
    text = good_text.replace("widget", "gizmo")
    (defect,) = defects_beside_the_shipped(tmp_path, text, "python/runtime-error")
    assert defect.startswith("override: the id python/runtime-error is taken by a signature that is loaded before;")


def test_an_override_without_target_names_the_nearest(tmp_path: Path, good_text: str) -> None:
    (defect,) = defects_beside_the_shipped(tmp_path, "overrides = true\n" + good_text, "python/runtime-eror")
    assert "overrides = true, but there is no python/runtime-eror to replace" in defect
    assert defect.endswith("(perhaps python/runtime-error)")


def test_an_override_with_target_is_right(tmp_path: Path, good_text: str) -> None:
    assert defects_beside_the_shipped(tmp_path, "overrides = true\n" + good_text, "noise/advice-text") == []


def test_an_unknown_category_deserves_a_look_where_something_is_blamed(tmp_path: Path, good_text: str) -> None:
    for name, text in {
        "one": good_text,
        "two": good_text.replace('category = "device"', 'category = "unknown"'),
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.toml").write_text(text, "utf-8")
    documents, _ = read_documents(tmp_path)
    notices = lint_documents(documents, lints=NOTICES)
    assert [(Path(notice.file).parent.name, notice.rule) for notice in notices] == [("two", "category")]
