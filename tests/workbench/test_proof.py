from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.data import grammar_root
from plogscope.errors import EXIT_GRAMMAR, EXIT_OK, EXIT_USAGE, UsageError
from plogscope.workbench import draft_signature, prove

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def own(tmp_path: Path, repository: Path) -> Path:
    """A folder with a finished file and a draft."""
    folder = tmp_path / "own"
    (folder / "device").mkdir(parents=True)
    good = (repository / "tests" / "grammar" / "good" / "device" / "widget.toml").read_text("utf-8")
    (folder / "device" / "widget.toml").write_text(good, "utf-8")
    (folder / "device" / "draft.toml").write_text(draft_signature("acme gadget 9 is lost", "device/draft"), "utf-8")
    return folder


def test_one_file_is_proved_alone_and_named_as_it_was_given(plogscope_command: Run, own: Path) -> None:
    assert own.is_dir()
    done = plogscope_command("grammar", "lint", "own/device/widget.toml")
    assert (done.returncode, done.stdout) == (EXIT_OK, "own/device/widget.toml: no defect\n")
    done = plogscope_command("grammar", "lint", "own/device/draft.toml")
    assert done.returncode == EXIT_GRAMMAR
    assert all(line.startswith("own/device/draft.toml:") for line in done.stdout.splitlines())


def test_one_file_may_point_at_its_neighbours(own: Path) -> None:
    path = own / "device" / "other.toml"
    text = (own / "device" / "widget.toml").read_text("utf-8")
    links = 'identity = ["index"]\nrefines = ["device/widget"]'
    path.write_text(text.replace('identity = ["index"]', links), "utf-8")
    assert prove([path]).defects == []


def test_a_shipped_file_does_not_replace_itself() -> None:
    root = grammar_root()
    assert root is not None
    assert prove([root / "python" / "runtime-error.toml"]).defects == []


def test_the_folder_of_one_domain_is_refused_with_the_folder_above_it(own: Path) -> None:
    with pytest.raises(UsageError, match=f"device is the folder of one domain: lint the folder above it: {own}$"):
        prove([own / "device"])


@pytest.mark.parametrize("name", ["nowhere", "own/device/none.toml", "note.txt", "empty"])
def test_a_path_that_cannot_be_proved_is_named(plogscope_command: Run, own: Path, name: str) -> None:
    (own.parent / "note.txt").write_text("", "utf-8")
    (own.parent / "empty").mkdir()
    done = plogscope_command("grammar", "lint", name)
    assert done.returncode == EXIT_USAGE
    assert name in done.stderr


def test_a_later_folder_may_replace_what_an_earlier_one_holds(own: Path, tmp_path: Path) -> None:
    (own / "device" / "draft.toml").unlink()
    later = tmp_path / "later" / "device"
    later.mkdir(parents=True)
    (later / "widget.toml").write_text(
        "overrides = true\n" + (own / "device" / "widget.toml").read_text("utf-8"), "utf-8"
    )
    assert prove([own, later.parent]).defects == []
    assert [defect.rule for defect in prove([later.parent]).defects] == ["override"]


def test_a_notice_is_shown_and_is_no_failure(plogscope_command: Run, own: Path) -> None:
    path = own / "device" / "widget.toml"
    path.write_text(path.read_text("utf-8").replace('category = "device"', 'category = "unknown"'), "utf-8")
    done = plogscope_command("grammar", "lint", "own/device/widget.toml")
    assert done.returncode == EXIT_OK
    assert done.stdout.startswith("notice: own/device/widget.toml:2: category is unknown; ")
