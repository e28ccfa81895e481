"""A bar that moves on is progress; a bar that a failing program draws a last time is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.pipeline import Options, analyze

TRACEBACK = ("Traceback (most recent call last):", '  File "/job/sft.py", line 5, in <module>', "    loss.backward()")
FAILURE = "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn"
STAMPED = "[ERROR] 2026-04-02-16:31:{second} (PID:41, Device:0, RankID:-1) ERR99999 UNKNOWN applicaiton exception"


def bar(step: int) -> str:
    return f"  {step * 100 // 186}%|#         | {step}/186 [01:02<04:10,  1.68s/it]"


@pytest.mark.parametrize(
    ("below", "status"),
    [((37,), "explained"), ((37, 38, 39), "no-failure"), ((), "explained")],
    ids=["closing-print", "went-on", "nothing"],
)
def test_only_a_bar_that_moves_on_tells_that_an_exception_was_got_over(
    tmp_path: Path, below: tuple[int, ...], status: str
) -> None:
    lines = [STAMPED.format(second=10).replace("ERROR", "INFO"), *map(bar, (35, 36, 37)), *TRACEBACK, FAILURE]
    lines += [STAMPED.format(second=20).replace("ERROR", "INFO"), *map(bar, below)]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]), "utf-8")

    assert analyze([tmp_path], Options(jobs=1)).verdict.status == status


def test_a_bar_in_which_nothing_was_done_is_no_progress(tmp_path: Path) -> None:
    lines = (*TRACEBACK, FAILURE, STAMPED.format(second=20), "  0%|          | 0/186 [00:02<?, ?it/s]", "")
    (tmp_path / "train.log").write_text("\n".join(lines), "utf-8")

    root = analyze([tmp_path], Options(jobs=1)).verdict.root_cause
    assert root is not None
    assert root.quote == FAILURE


def test_what_is_only_slow_is_not_said_to_have_failed(tmp_path: Path) -> None:
    slow = (
        "[W compiler_depend.ts:28] Warning: CAUTION: The operator 'torchvision::nms' is not currently supported on the "
        "NPU backend and will fall back to run on the CPU. This may have performance implications."
    )
    (tmp_path / "infer.log").write_text(f"{slow}\nimages per second: 3.1\n", "utf-8")
    said = analyze([tmp_path], Options(jobs=1, symptom="slow")).verdict.statement

    assert "No failure is in the logs." in said.en
    assert "failed" not in said.en
