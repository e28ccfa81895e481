"""R2: one script that keeps what is complete, runs the rest as the seed says, and leaves a run that can be routed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import plogscope
from plogscope.discover import discover
from plogscope.model.report import Report
from plogscope.model.vocabulary import STEP_NAMES
from plogscope.triage import collection_script, read_steps

Build = Callable[..., Path]

PROGRAM = """\
import os
import pathlib

import helper

torch = helper
net = 1
print("switches", sorted(name for name in os.environ if name.startswith(("TORCH_", "ASCEND_"))))
plog = pathlib.Path(os.environ["ASCEND_PROCESS_LOG_PATH"]) / "debug" / "plog"
plog.mkdir(parents=True)
name = "plog-7_20250203040506007.log"
(plog / name).write_text("[INFO] RUNTIME(7,python3):2025-02-03-04:05:06.007.008 [a.cc:1]7 x\\n")
"""


def script_of(run: Path) -> str:
    bundle = discover([run])
    found = read_steps(bundle)
    assert found is not None
    return collection_script(bundle, found)


def complete(run: Path, home: Path, *, programs: dict[str, str]) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """Runs the script for real in `home`, where the module `helper` lies that the programs import."""
    (home / "helper.py").write_text("")
    for name, code in programs.items():
        (run / "scripts" / f"{name}.py").write_text(code)
    done = subprocess.run(
        ["bash", "-c", script_of(run)],  # noqa: S607
        cwd=home, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    made = list((home / "torch-npugraph-ex-triage-logs").iterdir())
    assert len(made) == 1, done.stderr
    return made[0], done


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "my job"
    folder.mkdir()
    return folder


def test_r2_stopped_run_is_completed_and_then_routed(build_run: Build, tmp_path: Path, home: Path) -> None:
    run = build_run(last=3, root=tmp_path / "it's a" / "20250203-040506-pid1")
    before = sorted(path.read_bytes() for path in run.rglob("*") if path.is_file())
    fails = PROGRAM + 'raise RuntimeError("call aclnnAdd failed, detail:EZ1001")\n'
    made, done = complete(run, home, programs={STEP_NAMES[3]: PROGRAM, STEP_NAMES[4]: fails})
    assert (done.returncode, done.stderr) == (1, "")
    assert (made / "first_failure.txt").read_text() == "step5-npugraph_ex exit_code=1\n"
    assert (made / STEP_NAMES[3] / "SUCCESS").is_file()
    assert (made / STEP_NAMES[0] / "stdout_stderr.log").read_text() == "ok\n"
    report = plogscope.analyze(made)
    assert (report.triage.complete, report.triage.route, report.triage.rule) == (True, "runtime-error", "R44")
    changed = sorted(path.read_bytes() for path in run.rglob("*") if path.is_file() and "scripts" not in path.parts)
    assert set(changed) <= set(before)


def test_r2_steps_run_with_the_switches_of_the_seed(build_run: Build, home: Path) -> None:
    run = build_run(last=2)
    made, done = complete(run, home, programs=dict.fromkeys(STEP_NAMES, PROGRAM))
    assert done.returncode == 0
    plain = (made / STEP_NAMES[2] / "stdout_stderr.log").read_text()
    compiled = (made / STEP_NAMES[4] / "stdout_stderr.log").read_text()
    common = ["ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_PROCESS_LOG_PATH", "ASCEND_SLOG_PRINT_TO_STDOUT"]
    assert f"switches {[*common, 'TORCH_LOGS']}" in plain
    assert f"switches {[*common, 'TORCH_COMPILE_DEBUG', 'TORCH_COMPILE_DEBUG_DIR']}" in compiled
    assert not (made / "first_failure.txt").exists()
    assert plogscope.analyze(made).triage.rule == "R34"


def test_r2_collection_stops_at_the_first_failure(build_run: Build, home: Path) -> None:
    made, _ = complete(build_run(last=2), home, programs={**dict.fromkeys(STEP_NAMES, PROGRAM), STEP_NAMES[2]: "1/0\n"})
    assert not (made / STEP_NAMES[3]).exists()
    assert (made / "warnings.txt").read_text() == "step3-compile-aot_eager ascend_plog missing or empty\n"
    report = plogscope.analyze(made)
    assert (report.triage.first_failed_step, report.triage.route) == (STEP_NAMES[2], "compile-error")


def test_r18_failed_step_with_an_empty_log_runs_again_and_asks_python_to_report_a_crash(build_run: Build) -> None:
    script = script_of(build_run(failed=2, log="", exit_code=9))
    assert "keep_step step1-eager\nrun_step step2-compile-eager ||" in script
    assert "PYTHONFAULTHANDLER=1 TORCH_LOGS" in script


def test_script_that_is_missing_is_made_from_the_original(build_run: Build) -> None:
    run = build_run(last=3)
    (run / "scripts" / "original.py").write_text(
        'import torch\n# END_OF_SCRIPT\nEND_OF_SCRIPT\nnet = torch.compile(m, backend="npugraph_ex")\n'
    )
    (run / "scripts" / f"{STEP_NAMES[3]}.py").unlink()
    script = script_of(run)
    assert 'net = torch.compile(m, backend="npugraph_ex", options={"force_eager": True})\nEND_OF_SCRIPT_\n' in script
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0  # noqa: S607


@pytest.mark.parametrize(
    "code", ["net = build(m, **kw)\n", 'api_key = "abcdef0123456789"\nnet = torch.compile(m, backend="npugraph_ex")\n']
)
def test_script_that_cannot_be_made_or_holds_a_secret_is_asked_for(build_run: Build, code: str, home: Path) -> None:
    run = build_run(last=3)
    (run / "scripts" / f"{STEP_NAMES[3]}.py").unlink()
    made, done = complete(run, home, programs={"original": "import torch\n" + code})
    assert "scripts/step4-npugraph_ex-force_eager.py is missing: the program with options=" in script_of(run)
    assert "abcdef0123456789" not in script_of(run)
    assert done.returncode == 2
    assert not (made / "first_failure.txt").exists()


def test_hostile_names_stay_words_of_the_shell(build_run: Build, tmp_path: Path, home: Path) -> None:
    run = build_run(last=3, root=tmp_path / "$(touch pwned)`touch pwned`;'" / "20250203-040506-pid1")
    (run / STEP_NAMES[0] / "stdout_stderr.log").write_text("+ python step1-eager.py $(touch pwned) ; touch pwned\n")
    complete(run, home, programs=dict.fromkeys(STEP_NAMES, "pass\n"))
    assert list(tmp_path.rglob("pwned")) == []


def analysed(run: Path) -> Report:
    return plogscope.analyze(run)


def test_r2_the_first_action_of_an_insufficient_run_is_the_script(build_run: Build) -> None:
    report = analysed(build_run(last=3))
    assert report.next_actions[0].kind == "collect"
    assert (report.next_actions[0].command or "").startswith("#!/usr/bin/env bash\n")


def test_r1_a_complete_run_is_never_asked_to_run_again(build_run: Build) -> None:
    report = analysed(build_run(failed=4))
    assert not any((action.command or "").startswith("#!") for action in report.next_actions)


def test_r49_step_that_failed_without_a_word_is_insufficient_everywhere(build_run: Build) -> None:
    report = analysed(build_run(failed=5, log="step went wrong\n", exit_code=3))
    assert (report.triage.route, report.verdict.status, report.verdict.root_cause) == (
        "insufficient", "insufficient", None,
    )  # fmt: skip
    assert {action.kind for action in report.next_actions} == {"collect"}
    assert "run_step step5-npugraph_ex" in (report.next_actions[0].command or "")


def test_script_lies_beside_the_report_and_an_old_one_goes(
    build_run: Build, tmp_path: Path, plogscope_command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    run, out = build_run(last=3), tmp_path / "out"
    out.mkdir()
    plogscope_command("analyze", run, "-o", out, "-f", "json", "-f", "md")
    assert (out / "collect.sh").stat().st_mode & 0o100
    shutil.rmtree(run)
    build_run(failed=4)
    plogscope_command("analyze", run, "-o", out, "-f", "json", "-f", "md")
    assert not (out / "collect.sh").exists()
