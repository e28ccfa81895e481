"""R1–R18, R35 and the checks C1–C11: what the run directory says before any log line is believed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.model.source import Bundle
from plogscope.model.steps import StepFacts
from plogscope.model.vocabulary import STEP_NAMES, Text
from plogscope.triage import read_steps

Build = Callable[..., Path]
Find = Callable[[Path], Bundle]
En = Callable[[Sequence[Text]], str]


def facts(path: Path) -> StepFacts:
    found = read_steps(discover([path]))
    assert found is not None
    return found


def statuses(found: StepFacts) -> list[str]:
    return [step.status for step in found.steps]


def test_no_facts_without_a_five_step_run(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("Traceback (most recent call last):\nValueError: x\n")
    assert read_steps(discover([tmp_path])) is None


def test_r1_complete_passed_run_blocks_nothing_and_asks_for_no_rerun(build_run: Build) -> None:
    found = facts(build_run())
    assert (statuses(found), found.blocked_by, found.complete) == (["passed"] * 5, (), True)
    assert found.missing == ()
    assert found.notes == ()


def test_r2_incomplete_run_says_how_to_collect_what_is_missing(build_run: Build) -> None:
    run = build_run(failed=2)
    (run / STEP_NAMES[1] / "stdout_stderr.log").unlink()
    found = facts(run)
    assert found.blocked_by == ("C4",)
    assert found.missing[0].what.en == "stdout_stderr.log of step2-compile-eager"
    assert found.missing[0].how.startswith("mkdir -p step2-compile-eager/ascend_plog && TORCH_LOGS=")


def test_r5_failed_step_without_ascend_plog_is_blocked(build_run: Build) -> None:
    run = build_run(failed=3)
    shutil.rmtree(run / STEP_NAMES[2] / "ascend_plog")
    found = facts(run)
    assert (found.blocked_by, found.complete) == (("C4",), False)
    assert found.evidence == (("first_failure.txt", 1),)


def test_r5_passed_step_without_log_is_only_a_note(build_run: Build, en: En) -> None:
    run = build_run(failed=5)
    (run / STEP_NAMES[1] / "stdout_stderr.log").unlink()
    found = facts(run)
    assert found.blocked_by == ()
    assert not found.complete
    assert "R5: step2-compile-eager is incomplete (stdout_stderr.log missing)" in en(found.notes)


def test_r6_first_failure_file_wins_over_the_directories(build_run: Build) -> None:
    run = build_run()
    (run / "first_failure.txt").write_text("step3-compile-aot_eager exit_code=7\n")
    found = facts(run)
    assert (found.first_failed, found.exit_code) == ("step3-compile-aot_eager", 7)
    assert found.steps[2].status == "failed"


def test_r6_directories_alone_name_no_failed_step(build_run: Build) -> None:
    run = build_run(failed=3)
    (run / "first_failure.txt").unlink()
    assert facts(run).first_failed is None


def test_r7_step_without_success_but_with_later_steps_is_assumed_passed(build_run: Build, en: En) -> None:
    run = build_run(failed=4)
    (run / STEP_NAMES[1] / "SUCCESS").unlink()
    found = facts(run)
    assert found.steps[1].status == "assumed-passed"
    assert found.passed(STEP_NAMES[1])
    assert "R7: step2-compile-eager" in en(found.notes)


def test_r7_last_step_without_success_is_not_assumed_passed(build_run: Build) -> None:
    run = build_run()
    (run / STEP_NAMES[4] / "SUCCESS").unlink()
    found = facts(run)
    assert (found.steps[4].status, found.blocked_by) == ("incomplete", ("C6",))
    assert "first_failure.txt" in found.missing[0].what.en


def test_r7_run_without_any_success_file_passed_if_no_step_shows_an_error(build_run: Build) -> None:
    run = build_run()
    for name in STEP_NAMES:
        (run / name / "SUCCESS").unlink()
    assert (statuses(facts(run)), facts(run).blocked_by) == (["assumed-passed"] * 5, ())
    (run / STEP_NAMES[4] / "stdout_stderr.log").write_text("[rank2]: Traceback (most recent call last):\n")
    assert facts(run).blocked_by == ("C6",)


@pytest.mark.parametrize(
    ("text", "step", "code", "line"),
    [
        ("step4-npugraph_ex-force_eager exit_code=1", 4, 1, 1),
        ("\ufeffstep1-eager exit_code=137\r\n", 1, 137, 1),
        ("step5-npugraph_ex exit_code=-11\n", 5, -11, 1),
        ("\nstep2-compile-eager exit_code=3\nstep4-npugraph_ex-force_eager exit_code=1\n", 2, 3, 2),
        ("step5-npugraph_ex", 5, None, 1),
    ],
)
def test_r8_first_failure_is_read(build_run: Build, text: str, step: int, code: int | None, line: int) -> None:
    run = build_run()
    (run / "first_failure.txt").write_text(text, encoding="utf-8")
    found = facts(run)
    assert (found.first_failed, found.exit_code, found.first_failure_line) == (STEP_NAMES[step - 1], code, line)


@pytest.mark.parametrize("text", ["", "exit_code=1\n", "step9-magic exit_code=1\n", "\0\0\0\0"])
def test_r8_first_failure_that_names_no_step_blocks(build_run: Build, text: str) -> None:
    run = build_run()
    (run / "first_failure.txt").write_text(text)
    found = facts(run)
    assert (found.blocked_by, found.evidence) == (("C6",), (("first_failure.txt", 1),))


def test_r8_missing_exit_code_is_noted(build_run: Build, en: En) -> None:
    run = build_run(failed=2)
    (run / "first_failure.txt").write_text("step2-compile-eager\n")
    assert "R8: first_failure.txt gives no exit code" in en(facts(run).notes)
    (run / "first_failure.txt").write_text("step2-compile-eager exit_code=2\n")
    assert "R8" not in en(facts(run).notes)


def test_r9_warnings_line_stands_for_an_empty_ascend_plog_lost_in_packing(build_run: Build) -> None:
    run = build_run(failed=1)
    shutil.rmtree(run / STEP_NAMES[0] / "ascend_plog")
    assert facts(run).blocked_by == ("C4",)
    (run / "warnings.txt").write_text("step1-eager ascend_plog missing or empty\n")
    assert facts(run).blocked_by == ()


def test_r10_step_after_the_failed_one_is_noted(build_run: Build, en: En) -> None:
    run = build_run()
    assert "R10" not in en(facts(run).notes)
    (run / "first_failure.txt").write_text("step4-npugraph_ex-force_eager exit_code=1\n")
    (run / STEP_NAMES[3] / "SUCCESS").unlink()
    found = facts(run)
    assert "R10: step5-npugraph_ex exist after the failed step4" in en(found.notes)
    assert found.first_failed == STEP_NAMES[3]


def test_r11_gap_below_the_failed_step_is_noted_and_asked_for(build_run: Build, en: En) -> None:
    run = build_run(failed=4)
    shutil.rmtree(run / STEP_NAMES[1])
    found = facts(run)
    assert statuses(found) == ["passed", "gap", "passed", "failed", "not-run"]
    assert "layer not isolated" in en(found.notes)
    assert (found.blocked_by, found.complete) == ((), False)
    assert [entry.what.en for entry in found.missing] == ["the run of step2-compile-eager"]


def test_r11_no_gap_no_note(build_run: Build, en: En) -> None:
    assert "R11" not in en(facts(build_run(failed=4)).notes)


def test_r12_other_runs_are_named_and_not_read(build_run: Build, tmp_path: Path, en: En) -> None:
    build_run()
    build_run(root=tmp_path / "torch-npugraph-ex-triage-logs" / "20250101-000000-pid9")
    bundle = discover([tmp_path])
    found = read_steps(bundle)
    assert found is not None
    assert "20250101-000000-pid9" in en(found.notes)
    assert all("pid9/" not in source.path for source in bundle.sources)


@pytest.mark.parametrize("levels", [1, 2])
def test_r14_debug_directory_is_found_at_either_depth(build_run: Build, levels: int, en: En) -> None:
    run = build_run()
    for step in (4, 5):
        outer = run / STEP_NAMES[step - 1] / "torch_compile_debug"
        if levels == 1:
            inner = outer / "torch_compile_debug"
            for child in inner.iterdir():
                child.rename(outer / child.name)
            inner.rmdir()
    assert "C8" not in en(facts(run).notes)


def test_c8_missing_debug_directory_of_a_passed_step_is_noted(build_run: Build, en: En) -> None:
    run = build_run()
    shutil.rmtree(run / STEP_NAMES[4] / "torch_compile_debug")
    assert "C8: step5-npugraph_ex" in en(facts(run).notes)


def test_r13_empty_debug_directory_of_a_failed_step_is_normal(build_run: Build, en: En) -> None:
    run = build_run(failed=4)
    shutil.rmtree(run / STEP_NAMES[3] / "torch_compile_debug")
    (run / STEP_NAMES[3] / "torch_compile_debug").mkdir()
    assert "C8" not in en(facts(run).notes)


def test_r15_missing_script_is_a_note_only(build_run: Build, en: En) -> None:
    run = build_run()
    (run / "scripts" / "original.py").unlink()
    found = facts(run)
    assert "R15: scripts/ lacks original.py." in en(found.notes)
    assert (found.blocked_by, found.complete) == ((), True)


def test_r16_snapshot_without_torch_npu_is_a_finding(build_run: Build, en: En) -> None:
    run = build_run(failed=4)
    (run / "env.txt").write_text(
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
        "ModuleNotFoundError: No module named 'torch_npu'\n"
    )
    found = facts(run)
    assert "R16: torch_npu does not import" in en(found.notes)
    assert "Step 4 is the first" in en(found.notes)


def test_r16_known_versions_raise_no_note(build_run: Build, en: En) -> None:
    notes = en(facts(build_run(failed=4)).notes)
    assert "R16" not in notes
    assert "C3" not in notes


def test_r17_empty_ascend_plog_is_a_note_only(build_run: Build, en: En) -> None:
    run = build_run(failed=1)
    shutil.rmtree(run / STEP_NAMES[0] / "ascend_plog")
    (run / STEP_NAMES[0] / "ascend_plog").mkdir()
    found = facts(run)
    assert found.blocked_by == ()
    assert "R17: ascend_plog of the failed step step1-eager is empty" in en(found.notes)


def test_r17_full_ascend_plog_is_not_noted(build_run: Build, en: En) -> None:
    assert "R17" not in en(facts(build_run(failed=1)).notes)


def test_c5_step5_without_a_plog_asks_for_it(build_run: Build) -> None:
    run = build_run(failed=5)
    assert not any("CANN log" in entry.what.en for entry in facts(run).missing)
    shutil.rmtree(run / STEP_NAMES[4] / "ascend_plog" / "debug")
    assert any("CANN log" in entry.what.en for entry in facts(run).missing)


def test_r18_empty_log_of_a_passed_step_is_a_note(build_run: Build, en: En) -> None:
    run = build_run(failed=4)
    (run / STEP_NAMES[0] / "stdout_stderr.log").write_text("")
    found = facts(run)
    assert "R18: stdout_stderr.log of step1-eager is empty" in en(found.notes)
    assert found.blocked_by == ()


def test_r18_empty_log_of_the_failed_step_blocks_and_rests_on_warnings(build_run: Build) -> None:
    run = build_run(failed=2, log="", exit_code=9)
    (run / "warnings.txt").write_text(
        "step2-compile-eager ascend_plog missing or empty\nstep2-compile-eager stdout_stderr.log missing or empty\n"
    )
    found = facts(run)
    assert (found.blocked_by, found.evidence) == (("C4",), (("warnings.txt", 2),))


@pytest.mark.parametrize("code", [139, -11])
def test_r18_silent_death_by_signal_does_not_block(build_run: Build, code: int) -> None:
    assert facts(build_run(failed=2, log="", exit_code=code)).blocked_by == ()


def test_r35_collection_that_stopped_early_is_blocked(build_run: Build) -> None:
    found = facts(build_run(last=3))
    assert (found.blocked_by, found.first_failed) == (("R35",), None)
    assert [entry.what.en for entry in found.missing] == [
        "the run of step4-npugraph_ex-force_eager",
        "the run of step5-npugraph_ex",
    ]


def test_r35_five_steps_are_enough(build_run: Build) -> None:
    assert facts(build_run()).blocked_by == ()


def test_c1_run_directory_without_a_step_is_blocked(build_run: Build) -> None:
    run = build_run()
    for name in STEP_NAMES:
        shutil.rmtree(run / name)
    found = facts(run)
    assert (found.blocked_by, found.complete) == (("C1",), False)


def test_c4_failed_step_whose_directory_is_missing_is_blocked(build_run: Build) -> None:
    run = build_run(failed=5)
    shutil.rmtree(run / STEP_NAMES[4])
    assert facts(run).blocked_by == ("C4",)


def test_c6_success_of_the_failed_step_is_a_contradiction(build_run: Build, en: En) -> None:
    run = build_run(failed=5)
    assert "C6" not in en(facts(run).notes)
    (run / STEP_NAMES[4] / "SUCCESS").touch()
    found = facts(run)
    assert "C6: step5-npugraph_ex has a SUCCESS file" in en(found.notes)
    assert found.steps[4].status == "failed"


def test_c7_log_with_an_error_block_is_enough(build_run: Build) -> None:
    assert not any("stack" in entry.what.en for entry in facts(build_run(failed=5)).missing)


def test_c7_silent_log_asks_for_faulthandler(build_run: Build) -> None:
    found = facts(build_run(failed=5, log="step 0 done\n", exit_code=134))
    stack = next(entry for entry in found.missing if "stack" in entry.what.en)
    assert "PYTHONFAULTHANDLER=1 TORCH_COMPILE_DEBUG=1" in stack.how


def test_c9_missing_proof_of_force_eager_is_noted(build_run: Build, en: En) -> None:
    run = build_run()
    assert "C9" not in en(facts(run).notes)
    (run / STEP_NAMES[3] / "stdout_stderr.log").write_text("ok\n")
    assert "C9: the log of step4" in en(facts(run).notes)


def test_c10_rank_that_torchrun_blames_but_that_said_nothing(build_run: Build, en: En) -> None:
    summary = "Root Cause (first observed failure):\n  rank      : 3 (local_rank: 3)\n"
    silent = build_run(failed=1, log="[rank0]: ValueError: x\n" + summary)
    assert "C10: torchrun reports rank 3 as failed" in en(facts(silent).notes)
    (silent / STEP_NAMES[0] / "stdout_stderr.log").write_text("[rank3]: ValueError: x\n" + summary)
    assert "C10" not in en(facts(silent).notes)


def test_c11_warnings_are_echoed(build_run: Build, en: En) -> None:
    run = build_run()
    (run / "warnings.txt").write_text("step2-compile-eager ascend_plog missing or empty\n\n")
    assert "C11: warnings.txt:1: step2-compile-eager ascend_plog missing or empty" in en(facts(run).notes)
    assert "warnings.txt:2" not in en(facts(run).notes)


def test_command_for_a_missing_step_runs_in_a_shell_and_writes_where_the_bundle_has_it(
    build_run: Build, tmp_path: Path
) -> None:
    run = build_run(failed=4, root=tmp_path / "a b" / "20250203-040506-pid1")
    shutil.rmtree(run / STEP_NAMES[1])
    (run / "scripts" / "step2-compile-eager.py").write_text(
        "import os\nprint(os.environ['TORCH_LOGS'], os.path.isdir(os.environ['ASCEND_PROCESS_LOG_PATH']))\n"
    )
    bundle = discover([tmp_path / "a b"])
    found = read_steps(bundle)
    assert found is not None
    subprocess.run(["sh", "-c", found.missing[0].how], cwd=tmp_path / "a b", check=True, capture_output=True)  # noqa: S607
    assert (run / STEP_NAMES[1] / "stdout_stderr.log").read_text() == "+all True\n"


def test_run_below_the_given_path_shows_paths_from_the_given_path(build_run: Build, tmp_path: Path) -> None:
    build_run(failed=2)
    found = read_steps(discover([tmp_path]))
    assert found is not None
    assert found.first_failure_file == "torch-npugraph-ex-triage-logs/20250203-040506-pid515/first_failure.txt"
    assert found.steps[1].stdout is not None
    assert found.steps[1].stdout.startswith("torch-npugraph-ex-triage-logs/20250203-040506-pid515/step2-")


def test_real_runs_agree_with_their_labels() -> None:
    folder = os.environ.get("PLOGSCOPE_CASES")
    if not folder:
        pytest.skip("PLOGSCOPE_CASES names no folder of labelled runs")
    cases = [path for path in sorted(Path(folder).iterdir()) if (path / "bundle" / "scripts").is_dir()]
    assert cases
    for case in cases:
        truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
        found = facts(case / "bundle")
        assert found.first_failed == truth["first_failed_step"], case.name
        assert bool(found.blocked_by) == (truth["route"] == "insufficient"), case.name
