from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.errors import EXIT_FAIL_ON, EXIT_GRAMMAR, EXIT_INPUT, EXIT_OK, EXIT_USAGE
from plogscope.grammar.compile import assemble, with_literals
from plogscope.grammar.load import load_grammar
from plogscope.grammar.match import Matcher
from plogscope.model.signature import Field, Match, Signature
from plogscope.model.vocabulary import Text
from plogscope.workbench import draft_signature
from plogscope.workbench.trial import run_trial

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LINES = b"""\
INFO 04-02 11:12:13 [core.py:12] acme cache warmed in 12 s
INFO 04-02 11:12:14 [core.py:12] acme cache warmed in 7 s

[rank1]: ModuleNotFoundError: No module named 'acme_ops'
acme says hello
"""


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher(load_grammar())


def test_each_line_has_its_signature_with_fields(matcher: Matcher) -> None:
    trial = run_trial(LINES.split(b"\n"), matcher)
    assert trial.lines == 4
    assert [(taken.line, taken.signatures[0]["id"]) for taken in trial.taken] == [(4, "python/module-not-found")]
    assert "acme_ops" in str(trial.taken[0].signatures[0]["fields"])


def test_lines_that_nobody_takes_are_grouped_by_shape_the_most_frequent_first(matcher: Matcher) -> None:
    trial = run_trial(LINES.split(b"\n"), matcher)
    assert [(shape.count, shape.first_line, shape.level) for shape in trial.untaken] == [(2, 1, "INFO"), (1, 5, None)]
    assert trial.untaken[0].shape == "acme cache warmed in # s"


def test_colours_and_prefixes_do_not_hide_a_line(matcher: Matcher) -> None:
    line = b"\x1b[31m[rank1]: ModuleNotFoundError:\x1b[0m No module named 'acme_ops'\r"
    assert run_trial([line], matcher).taken[0].signatures[0]["id"] == "python/module-not-found"


def test_the_command_tells_lines_up_to_sixty_and_counts_beyond(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "few.log").write_bytes(LINES)
    (tmp_path / "many.log").write_bytes(LINES * 20)
    few = plogscope_command("grammar", "test", "--lines", "few.log").stdout
    many = plogscope_command("grammar", "test", "--lines", "many.log").stdout
    assert few.startswith("4 lines, 1 taken, 3 not\n  line 4: python/module-not-found")
    assert "2 x [INFO] acme cache warmed in # s (first: line 1)" in few
    assert "20 x python/module-not-found (lines 4, 9, 14, 19, 24, …)" in many
    assert "40 x [INFO] acme cache warmed in # s" in many
    document = json.loads(plogscope_command("grammar", "test", "--lines", "many.log", "--format", "json").stdout)
    assert (document["lines"], len(document["taken"])) == (80, 20)


def test_a_file_that_is_not_there_is_named(plogscope_command: Run) -> None:
    done = plogscope_command("grammar", "test", "--lines", "nothing.log")
    assert done.returncode == EXIT_INPUT
    assert "nothing.log" in done.stderr


def test_a_users_folder_takes_part(plogscope_command: Run, tmp_path: Path, repository: Path) -> None:
    own = repository / "tests" / "grammar" / "good"
    (tmp_path / "own.log").write_text("E widget 7 failed, status 0x1f\n", "utf-8")
    done = plogscope_command("grammar", "test", "--lines", "own.log", "--grammars", own)
    assert "line 1: device/widget  index=7 code=0x1f" in done.stdout


def test_the_expected_signature_must_take_every_line(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "one.log").write_text("[rank1]: ModuleNotFoundError: No module named 'acme_ops'\n", "utf-8")
    (tmp_path / "all.log").write_bytes(LINES)
    name = "python/module-not-found"
    done = plogscope_command("grammar", "test", "--lines", "one.log", "--expect", name)
    assert done.returncode == EXIT_OK
    assert f"{name} takes 1 of 1 lines" in done.stdout
    done = plogscope_command("grammar", "test", "--lines", "all.log", "--expect", name)
    assert done.returncode == EXIT_FAIL_ON
    assert f"line 5: not taken by {name}, but by nobody" in done.stdout
    done = plogscope_command("grammar", "test", "--lines", "one.log", "--expect", "python/runtime-error")
    assert done.returncode == EXIT_FAIL_ON
    assert f"line 1: not taken by python/runtime-error, but by {name}" in done.stdout
    document = plogscope_command("grammar", "test", "--lines", "all.log", "--expect", name, "--format", "json").stdout
    assert json.loads(document)["missed"] == [1, 2, 5]


def test_an_expected_signature_that_does_not_exist_is_refused(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "all.log").write_bytes(LINES)
    done = plogscope_command("grammar", "test", "--lines", "all.log", "--expect", "python/module-not-fund")
    assert done.returncode == EXIT_USAGE
    assert "perhaps python/module-not-found" in done.stderr


def test_a_draft_does_not_block_the_trial_of_other_files(
    plogscope_command: Run, tmp_path: Path, repository: Path
) -> None:
    good = (repository / "tests" / "grammar" / "good" / "device" / "widget.toml").read_text("utf-8")
    own = tmp_path / "own" / "device"
    own.mkdir(parents=True)
    (own / "widget.toml").write_text(good, "utf-8")
    (own / "draft.toml").write_text(draft_signature("acme gadget 9 is lost", "device/draft"), "utf-8")
    (own / "broken.toml").write_text("title =", "utf-8")
    (tmp_path / "own.log").write_text("E widget 7 failed, status 0x1f\n", "utf-8")
    command = ("grammar", "test", "--lines", "own.log", "--grammars", "own")
    done = plogscope_command(*command)
    assert "line 1: device/widget  index=7 code=0x1f" in done.stdout
    assert "own/device/broken.toml: 1 defect: plogscope grammar lint own/device/broken.toml" in done.stderr
    assert "own/device/draft.toml: " in done.stderr
    assert done.returncode == EXIT_GRAMMAR
    assert plogscope_command(*command, "--expect", "device/widget").returncode == EXIT_OK
    assert plogscope_command(*command, "--expect", "device/draft").returncode == EXIT_GRAMMAR


def test_the_condition_of_a_record_holds_for_the_lines_that_continue_it() -> None:
    inside = Signature(
        id="acme/inside",
        title=Text("inside", "内"),
        category="host",
        role="cause",
        match=Match(pattern="acme inside (?P<value>\\d)", levels=("ERROR",)),
        extract={"value": Field()},
    )
    matcher = Matcher(assemble([with_literals(inside)]))
    error = b"[ERROR] HCCL(7,python3):2026-03-11-09:42:17.305.118 [a.cc:8] [7]begin"
    info = error.replace(b"ERROR", b"INFO")
    assert [taken.line for taken in run_trial([error, b"  acme inside 1"], matcher).taken] == [2]
    assert run_trial([info, b"  acme inside 1"], matcher).taken == []


def test_a_line_that_only_the_conditions_refuse_is_told_apart(
    plogscope_command: Run, tmp_path: Path, repository: Path
) -> None:
    own = repository / "tests" / "grammar" / "good"
    line = "[WARNING] HCCL(7,python3):2026-03-11-09:42:17.305.118 [a.cc:8] [7]widget 7 failed, status 0x1f\n"
    (tmp_path / "own.log").write_text(line, "utf-8")
    done = plogscope_command("grammar", "test", "--lines", "own.log", "--grammars", own, "--expect", "device/widget")
    assert done.returncode == EXIT_FAIL_ON
    assert "line 1: not taken by device/widget, but by nobody: the pattern matches, but not formats" in done.stdout
