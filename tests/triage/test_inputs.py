"""R4 and C13: six items, each present, missing or unknown, and every one that is not there is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.model.chain import Chain
from plogscope.model.report import InputEntry, Triage
from plogscope.model.vocabulary import STEP_NAMES, Symptom
from plogscope.triage import read_steps, route

Build = Callable[..., Path]
SIX = ["script", "versions", "shapes", "features", "symptom", "stack"]


def triaged(run: Path, symptom: Symptom | None = None) -> Triage:
    bundle = discover([run])
    return route(read_steps(bundle), Chain(), symptom=symptom, bundle=bundle, verdict_status="no-failure")


def items(run: Path, symptom: Symptom | None = None) -> dict[str, InputEntry]:
    return {item.item: item for item in triaged(run, symptom).inputs}


def script(run: Path, code: str) -> Path:
    (run / "scripts" / "original.py").write_text("import torch\n" + code)
    return run


def test_r4_all_six_are_there_in_a_whole_run(build_run: Build) -> None:
    got = triaged(build_run(failed=4))
    assert [(item.item, item.state) for item in got.inputs] == [(name, "present") for name in SIX]
    assert got.missing == []


def test_r4_handoff_has_the_same_six_and_one_note(build_run: Build) -> None:
    got = triaged(build_run(failed=4))
    assert got.handoff is not None
    assert got.handoff.inputs == got.inputs
    note = next(note for note in got.handoff.notes if note.en.startswith("R4: "))
    assert "versions: present, torch 2.9.1+cpu, torch_npu 2.9.1, torchair 9.9, CANN 8.5.0" in note.en
    assert "复现脚本：已有" in note.zh


def test_c13_everything_that_is_not_there_is_asked_for_and_blocks_no_route(build_run: Build) -> None:
    run = build_run(failed=4, log="killed\n")
    for path in (run / "scripts").iterdir():
        path.unlink()
    (run / "env.txt").unlink()
    got = triaged(run)
    assert [item.state for item in got.inputs] == ["missing", "missing", "unknown", "unknown", "present", "missing"]
    asked = "\n".join(entry.what.en for entry in got.missing)
    for word in ("script (missing)", "versions (missing)", "shapes (unknown)", "operators (unknown)", "the stack of"):
        assert word in asked
    assert all(entry.how and entry.why.zh for entry in got.missing)
    assert got.route == "compile-error"


def test_r16_versions_are_unknown_when_env_txt_holds_only_tracebacks(build_run: Build) -> None:
    run = build_run(failed=4)
    (run / "env.txt").write_text("ModuleNotFoundError: No module named 'torch_npu'\ntorchair 3.1\n")
    got = items(run)["versions"]
    assert (got.state, got.file, got.line) == ("unknown", "env.txt", 1)
    assert "states torchair 3.1 and not torch, torch_npu, CANN" in got.detail.en


def test_r4_dynamic_argument_says_whether_shapes_are_fixed(build_run: Build) -> None:
    run = script(build_run(failed=4), "y = 1\nnet = torch.compile(m, backend='npugraph_ex', dynamic=flag)\n")
    got = items(run)["shapes"]
    assert (got.state, got.detail.en, got.file, got.line) == (
        "present", "dynamic=flag is given", "scripts/original.py", 3,
    )  # fmt: skip


def test_r4_recompilation_in_a_log_proves_that_shapes_change(build_run: Build) -> None:
    run = build_run(failed=4)
    log = run / STEP_NAMES[1] / "stdout_stderr.log"
    log.write_text("x\n" * 700 + "V0203 04:05:06.000000 5 torch/_dynamo/guards.py:1] [0/1] Recompiling function f\n")
    got = items(run)["shapes"]
    assert (got.state, got.line) == ("present", 701)
    assert "compiled again" in got.detail.en


def test_r4_passed_step_that_compiled_once_proves_fixed_shapes(build_run: Build) -> None:
    run = script(build_run(failed=4), "net = torch.compile(m, backend='npugraph_ex')\n")
    assert items(run)["shapes"].state == "unknown"
    (run / STEP_NAMES[1] / "stdout_stderr.log").write_text("V0203 04:05:06.000000 5 torch/a.py:1] [0/0] create_env\n")
    assert items(run)["shapes"].detail.en.startswith("fixed")


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("with torch.npu.stream(s):\n    pass\n", "multi-stream (scripts/original.py:2)"),
        ("s = torch.npu.Stream()\n", "multi-stream (scripts/original.py:2)"),
        ("a.wait_stream(b)\n", "multi-stream (scripts/original.py:2)"),
        ("@torch.library.custom_op('a::b', mutates_args=())\ndef f(): ...\n", "custom op (scripts/original.py:2)"),
        ("y = torch.ops.mine.scale(x)\n", "custom op (scripts/original.py:2)"),
        ("x = 1\ncache.index_copy_(0, i, x)\n", "in-place (scripts/original.py:3)"),
        ("cache[i] = x\n", "in-place (scripts/original.py:2)"),
        ("cache[i] += x\n", "in-place (scripts/original.py:2)"),
        ("torch.add(a, b, out=c)\n", "in-place (scripts/original.py:2)"),
    ],
)
def test_r4_streams_custom_and_in_place_operators_are_seen(build_run: Build, code: str, used: str) -> None:
    got = items(script(build_run(failed=4), code))["features"]
    assert (got.state, got.detail.en) == ("present", used)


@pytest.mark.parametrize(
    "code",
    [
        "log.stream(x)\n", "y = torch.ops.aten.add(x, x)\n", "table['k'] = 3\n", "super().__init__()\n",
        "# torch.npu.Stream() and x.add_(1)\n", "print('x.add_(1)')\n",
    ],
)  # fmt: skip
def test_r4_look_alikes_are_not_seen(build_run: Build, code: str) -> None:
    got = items(script(build_run(failed=4), code))["features"]
    assert (got.state, got.detail.en) == ("present", "none in scripts/original.py")


def test_r4_a_model_that_is_imported_may_hold_what_the_script_does_not(build_run: Build) -> None:
    got = items(script(build_run(failed=4), "from shop.models import Tower\n"))["features"]
    assert got.state == "unknown"
    assert "the imported shop is not in the bundle" in got.detail.en


@pytest.mark.parametrize("code", ["def broken(:\n", "(" * 9000])
def test_r4_script_that_does_not_parse_says_nothing(build_run: Build, code: str) -> None:
    assert items(script(build_run(failed=4), code))["features"].state == "unknown"


def test_r4_stack_needs_a_file_and_a_line(build_run: Build) -> None:
    run = build_run(failed=5, log="RuntimeError: no frames\n")
    assert items(run)["stack"].state == "missing"
    assert [entry.what.en for entry in triaged(run).missing if "stack" in entry.what.en] == [
        "the full stack and the CANN log of step5-npugraph_ex"
    ]
    (run / STEP_NAMES[4] / "stdout_stderr.log").write_text(
        'a\n[rank1]: Traceback (most recent call last):\n[rank1]:   File "/data/a.py", line 3, in main\n'
    )
    got = items(run)["stack"]
    assert (got.state, got.line) == ("present", 3)


@pytest.mark.parametrize(
    ("symptom", "state", "detail"),
    [
        (None, "missing", "crash, results that differ"),
        ("slow", "present", "too slow"),
        ("mismatch", "present", "differ"),
    ],
)
def test_r4_symptom_of_a_run_that_passed(build_run: Build, symptom: Symptom | None, state: str, detail: str) -> None:
    run = build_run()
    got = items(run, symptom)
    assert (got["symptom"].state, got["stack"].detail.en) == (state, "nothing failed, so there is none")
    assert detail in got["symptom"].detail.en


def test_loose_logs_have_no_six_items(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text("ValueError: x\n")
    assert triaged(tmp_path).inputs == []
