from __future__ import annotations

import pytest

from tests import golden


@pytest.mark.parametrize("fixture", golden.FIXTURES)
def test_a_golden_report_is_what_the_program_says_now(fixture: str) -> None:
    """A wanted change is taken over by `python tests/golden.py --update`; read the difference before."""
    assert list(golden.changed(fixture)) == []


def test_a_golden_report_names_no_path_of_a_machine() -> None:
    files = sorted(golden.GOLDEN.iterdir())
    assert len(files) == 4 * len(golden.FIXTURES)
    for path in files:
        assert str(golden.ROOT) not in path.read_text(encoding="utf-8"), path.name


def test_two_analyses_of_one_run_differ_in_nothing() -> None:
    assert golden.render_golden("python-dataset-error") == golden.render_golden("python-dataset-error")
