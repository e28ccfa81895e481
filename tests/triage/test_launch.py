"""The launch form is read from echoed commands, from ranks in a log, or from what the script needs; never guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.model.vocabulary import STEP_NAMES
from plogscope.triage.launch import Launch, find_launch, read_command
from plogscope.triage.rundir import look_at

Build = Callable[..., Path]
NAMES = {"step1-eager.py", "original.py"}


def found(run: Path) -> Launch:
    return find_launch(look_at(discover([run])))


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("python scripts/step1-eager.py --epochs 3", "python", "--epochs 3"),
        ("torchrun --nproc_per_node=8 /x/train.py --cfg a.yaml", "torchrun --nproc_per_node=8", "--cfg a.yaml"),
        ("python3.10 -m torch.distributed.run --nnodes 2 step1-eager.py",
         "python3.10 -m torch.distributed.run --nnodes 2", ""),
        ("HCCL_IF_BASE_PORT=50000 TORCH_LOGS=+all python step1-eager.py", "env HCCL_IF_BASE_PORT=50000 python", ""),
        ("accelerate launch step1-eager.py", "accelerate launch", ""),
    ],
)  # fmt: skip
def test_command_lines_are_read(line: str, before: str, after: str) -> None:
    got = read_command(line, NAMES)
    assert got is not None
    assert (got.before, got.after) == (before, after)


@pytest.mark.parametrize(
    "line",
    [
        "python -c 'import os' step1-eager.py", "python -m http.server step1-eager.py", "rm -rf step1-eager.py",
        "python step1-eager.py; rm x", "python step1-eager.py $(id)", "python step1-eager.py `id`", "python 'step1",
        "python", "step1-eager.py", "python step1-eager.py > log", "python train.txt", "python " + "a " * 60 + "b.py",
    ],
)  # fmt: skip
def test_what_is_more_than_a_plain_command_is_not(line: str) -> None:
    assert read_command(line, NAMES) is None


def test_command_echoed_by_the_shell_wins(build_run: Build) -> None:
    run = build_run(last=3)
    (run / STEP_NAMES[1] / "stdout_stderr.log").write_text(
        "hello\n+ torchrun --nproc_per_node 4 step2-compile-eager.py\n"
    )
    got = found(run)
    assert (got.before, got.source) == ("torchrun --nproc_per_node 4", "step2-compile-eager/stdout_stderr.log:2")


def test_ranks_of_a_torchrun_log_give_the_number_of_processes(build_run: Build) -> None:
    run = build_run(failed=1, log="[rank2]: ValueError: x\n  rank      : 5 (local_rank: 5)\nChildFailedError:\n")
    assert found(run).before == "torchrun --nproc_per_node=6"


def test_distributed_script_without_ranks_asks_for_the_number(build_run: Build) -> None:
    run = build_run(last=3)
    (run / "scripts" / "original.py").write_text("import torch.distributed as dist\ndist.init_process_group('hccl')\n")
    got = found(run)
    assert "NPROC:?" in got.before
    assert got.source == "scripts/original.py:2"


def test_plain_program_is_started_by_python(build_run: Build) -> None:
    assert found(build_run(last=3)).before == "python"
