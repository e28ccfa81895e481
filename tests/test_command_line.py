from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import plogscope
from plogscope.errors import EXIT_FAIL_ON, EXIT_INPUT, EXIT_OK, EXIT_USAGE
from plogscope.model.report import SCHEMA, json_schema
from plogscope.model.vocabulary import STATUSES

ROOT = Path(__file__).resolve().parents[1]
DATASET = ROOT / "fixtures" / "python-dataset-error" / "run"
CUT_LOG = DATASET / "train.log"
TWO_NODES = ROOT / "fixtures" / "two-rank-hccl" / "run"
HEALTHY = ROOT / "fixtures" / "healthy-noisy" / "run"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def refused(done: subprocess.CompletedProcess[str], exit_code: int) -> str:
    """Checks that it ended with a message for people, and returns the message."""
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
    return done.stderr


def refused_or_covered(done: subprocess.CompletedProcess[str]) -> None:
    """An input that holds no log is refused, or analysed to a report that blames nothing and says what it skipped."""
    assert "Traceback" not in done.stderr
    if done.returncode == EXIT_INPUT:
        assert done.stderr.strip()
        return
    assert done.returncode == EXIT_OK, done.stderr
    report = json.loads(done.stdout)
    coverage = report["coverage"]
    assert report["verdict"]["status"] != "explained"
    assert coverage["skipped"] or coverage["unparsed"] == coverage["read"]


def test_a_missing_path_is_named_and_refused(plogscope_command: Run) -> None:
    assert "no-such-folder" in refused(plogscope_command("analyze", "no-such-folder"), EXIT_INPUT)


def test_an_empty_folder_is_refused(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(plogscope_command("analyze", "empty"), EXIT_INPUT)


def test_a_folder_without_logs_blames_nothing(plogscope_command: Run, tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)
    (folder / "model.py").write_text("print('no log')\n", encoding="utf-8")
    refused_or_covered(plogscope_command("analyze", folder, "-f", "json"))


def test_a_binary_file_blames_nothing(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "core.1842").write_bytes(b"\x7fELF" + bytes(range(256)) * 64)
    refused_or_covered(plogscope_command("analyze", "core.1842", "-f", "json"))


def test_a_dangling_link_blames_nothing(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "train.log").symlink_to(tmp_path / "gone.log")
    refused_or_covered(plogscope_command("analyze", "train.log", "-f", "json"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_an_unreadable_file_blames_nothing(plogscope_command: Run, tmp_path: Path) -> None:
    secret = tmp_path / "train.log"
    secret.write_text("Traceback (most recent call last):\nValueError: hidden\n", encoding="utf-8")
    secret.chmod(0)
    refused_or_covered(plogscope_command("analyze", "train.log", "-f", "json"))


def test_two_formats_need_a_folder(plogscope_command: Run) -> None:
    assert "-o" in refused(plogscope_command("analyze", HEALTHY, "-f", "json", "-f", "md"), EXIT_USAGE)


@pytest.mark.parametrize(
    "arguments", [["analyse"], ["analyze"], ["analyze", "--colour", "red"], ["analyze", "-f", "pdf"]]
)
def test_a_usage_that_makes_no_sense_is_refused(plogscope_command: Run, arguments: list[str]) -> None:
    refused(plogscope_command(*arguments), EXIT_USAGE)


def test_json_on_stdout_is_one_object_of_the_schema_and_nothing_else(plogscope_command: Run, tmp_path: Path) -> None:
    done = plogscope_command("analyze", DATASET, "-f", "json")
    assert done.returncode == EXIT_OK
    report = json.loads(done.stdout)
    assert report["schema"] == SCHEMA
    jsonschema.validate(report, json_schema())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_looked_at_is_refused(plogscope_command: Run) -> None:
    refused(plogscope_command("analyze", HEALTHY, "-f", "md", "-o", "y" * 300), EXIT_INPUT)


def test_a_dash_is_the_standard_output(plogscope_command: Run, tmp_path: Path) -> None:
    done = plogscope_command("analyze", HEALTHY, "-f", "text", "-o", "-")
    assert done.stdout == plogscope_command("analyze", HEALTHY, "-f", "text").stdout
    assert list(tmp_path.iterdir()) == []
    assert "-f" in refused(plogscope_command("analyze", HEALTHY, "-o", "-"), EXIT_USAGE)


def test_a_folder_for_the_output_gets_the_named_files_only(plogscope_command: Run, tmp_path: Path) -> None:
    done = plogscope_command("analyze", DATASET, "-o", "out", "-f", "html", "-f", "md", "-f", "json", "-f", "text")
    assert done.returncode == EXIT_OK, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "report.html",
        "report.json",
        "report.md",
        "report.txt",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_without_options_it_prints_a_short_summary_and_where_the_page_is(
    plogscope_command: Run, tmp_path: Path
) -> None:
    done = plogscope_command("analyze", DATASET)
    assert done.returncode == EXIT_OK, done.stderr
    lines = done.stdout.rstrip("\n").split("\n")
    assert len(lines) <= 25
    assert "plogscope-report.html" in lines[-1]
    assert (tmp_path / "plogscope-report.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    assert "KeyError: 'caption_zh'" in done.stdout


def test_a_finished_analysis_succeeds_whatever_the_verdict(plogscope_command: Run) -> None:
    assert plogscope_command("analyze", HEALTHY, "-f", "text").returncode == EXIT_OK


def test_fail_on_explained_turns_a_known_cause_into_a_failure(plogscope_command: Run) -> None:
    assert plogscope_command("analyze", DATASET, "-f", "text", "--fail-on", "explained").returncode == EXIT_FAIL_ON
    assert plogscope_command("analyze", HEALTHY, "-f", "text", "--fail-on", "explained").returncode == EXIT_OK


def test_the_language_is_the_one_that_is_asked_for(plogscope_command: Run) -> None:
    english = plogscope_command("analyze", DATASET, "-f", "text", "--lang", "en").stdout
    chinese = plogscope_command("analyze", DATASET, "-f", "text", "--lang", "zh").stdout
    by_locale = plogscope_command("analyze", DATASET, "-f", "text", LANG="zh_CN.UTF-8").stdout
    assert english != chinese
    assert by_locale == chinese


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_an_archive_is_read_as_the_folder_in_it_and_nothing_is_left_behind(
    plogscope_command: Run, tmp_path: Path, mode: str
) -> None:
    name = "logs.tar" + mode[1:].replace(":", ".")
    (tmp_path / "tmp").mkdir()
    with tarfile.open(tmp_path / name, mode) as archive:  # type: ignore[call-overload]
        archive.add(TWO_NODES, "job")
    folder = json.loads(plogscope_command("analyze", TWO_NODES, "-f", "json").stdout)
    packed = json.loads(plogscope_command("analyze", name, "-f", "json", TMPDIR=str(tmp_path / "tmp")).stdout)

    assert packed["verdict"]["root_cause"]["file"] == f"{name}!job/{folder['verdict']['root_cause']['file']}"
    assert packed["verdict"]["root_cause"]["line"] == folder["verdict"]["root_cause"]["line"]
    assert packed["cluster"]["nodes"] == folder["cluster"]["nodes"]
    assert [entry["role"] for entry in packed["chain"]] == [entry["role"] for entry in folder["chain"]]
    assert packed["coverage"]["read"] == folder["coverage"]["read"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, "tmp"]
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_packed_five_step_run_is_judged_like_the_folder(plogscope_command: Run, tmp_path: Path) -> None:
    run = ROOT / "fixtures" / "five-step-dataset-key" / "run"
    with tarfile.open(tmp_path / "run.tgz", "w:gz") as archive:
        archive.add(run, ".")
    folder = json.loads(plogscope_command("analyze", run, "-f", "json").stdout)
    packed = json.loads(plogscope_command("analyze", "run.tgz", "-f", "json").stdout)

    for key in ("route", "rule", "first_failed_step", "complete"):
        assert packed["triage"][key] == folder["triage"][key]
    assert packed["verdict"]["status"] == folder["verdict"]["status"]
    assert "plogscope-" not in json.dumps(packed["next_actions"])


def test_several_paths_are_numbered_in_the_report(plogscope_command: Run) -> None:
    report = json.loads(plogscope_command("analyze", TWO_NODES / "node-a", TWO_NODES / "node-b", "-f", "json").stdout)
    assert {entry["path"].split("/")[0] for entry in report["bundle"]["files"]} == {
        "1:rank_0",
        "1:torchrun.log",
        "2:rank_1",
    }
    assert report["verdict"]["root_cause"]["file"] == "2:rank_1/stdout_stderr.log"


def test_help_is_shown_without_loading_what_is_heavy(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom plogscope.cli import main\nsys.argv = ['plogscope', '--help']\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(sorted({'pandas', 'pyarrow', 'numpy', 'jinja2'} & set(sys.modules)))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert "analyze" in done.stdout, done.stderr
    assert done.stdout.rstrip().endswith("[]"), done.stdout[-200:]


def on_a_terminal(arguments: list[str], folder: Path, **environment: str) -> str:
    """What the command prints when stdout and stderr are a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI", "FORCE_COLOR")}
    command = [sys.executable, "-c", "import sys; from plogscope.cli import main; sys.exit(main())", *arguments]
    settings_ = clean | {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color"} | environment
    process = subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=folder, env=settings_)
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:  # the other end is closed: this is how a terminal says that the process is gone
        pass
    finally:
        os.close(ours)
        process.wait()
    return printed.decode("utf-8", "replace")


def test_no_color_is_respected_on_a_terminal(tmp_path: Path) -> None:
    assert "\x1b[" in on_a_terminal(["analyze", str(DATASET)], tmp_path)
    plain = on_a_terminal(["analyze", str(DATASET)], tmp_path, NO_COLOR="1")
    assert "KeyError: 'caption_zh'" in plain
    assert "\x1b[" not in plain


def test_output_that_is_no_terminal_has_no_colour(plogscope_command: Run) -> None:
    done = plogscope_command("analyze", DATASET)
    assert "\x1b[" not in done.stdout + done.stderr


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(min_value=1, max_value=CUT_LOG.stat().st_size))
def test_a_log_that_is_cut_at_any_byte_still_gives_a_report(cut: int, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(CUT_LOG.read_bytes()[:cut])
    report = plogscope.analyze(log, jobs=1)
    assert report.verdict.status in STATUSES
    assert report.coverage.read == log.read_bytes().count(b"\n") + (not log.read_bytes().endswith(b"\n"))


def test_an_output_never_replaces_a_log_but_may_replace_a_report(plogscope_command: Run, tmp_path: Path) -> None:
    log = tmp_path / "run" / "stdout.log"
    log.parent.mkdir()
    log.write_text("step 1 loss 0.5\n", encoding="utf-8")
    refused = plogscope_command("analyze", str(log.parent), "-f", "json", "-o", str(log))

    assert refused.returncode == 2
    assert log.read_text(encoding="utf-8") == "step 1 loss 0.5\n"
    for name in ("report.json", "report.md", "report.html", "report.txt"):
        for _ in range(2):
            again = plogscope_command("analyze", str(log.parent), "-o", str(log.parent / name))
            assert again.returncode == 0, again.stderr


def test_an_empty_word_to_redact_is_refused(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n", encoding="utf-8")
    assert plogscope_command("analyze", str(tmp_path), "--redact-word", "").returncode == 2
