"""The frame to look at first is the deepest one outside installed packages of the traceback that ends in the line."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from plogscope.evidence.frames import Frame, raised_at, start_at
from plogscope.model.source import Source
from tests.chain.things import finding

OWN = Frame("/job/data.py", 77, "__getitem__")
TORCH = "/usr/lib/python3.11/site-packages/torch/utils/data/_utils/fetch.py"
PLAIN = f"""\
Traceback (most recent call last):
  File "/job/train.py", line 12, in main
    loader()
  File "{TORCH}", line 52, in fetch
    data = [self.dataset[idx] for idx in batch]
            ~~~~~~~~~~~~^^^^^
  File "/job/data.py", line 77, in __getitem__
    return row["caption"]
KeyError: 'caption'
"""


def raised(folder: Path, text: str, line: str, record_line: int | None = None) -> tuple[Frame, str] | None:
    """What is found for the last line of `text` that is `line`."""
    path = folder / "log.txt"
    path.write_text(text, encoding="utf-8")
    lines = text.split("\n")
    number = len(lines) - lines[::-1].index(line)
    offset = len("\n".join(lines[: number - 1]).encode()) + (number > 1)
    source = Source(id=0, path="log.txt", location=str(path), kind="stdout", size=len(text))
    stated = finding("python/key-error", line=number)
    stated = msgspec.structs.replace(stated, offset=offset, record_line=record_line or number)
    found = raised_at(source, stated)
    return None if found is None else (found.frame, found.exception)


def test_the_deepest_frame_of_the_own_code_is_named(tmp_path: Path) -> None:
    assert raised(tmp_path, PLAIN, "KeyError: 'caption'") == (OWN, "KeyError")


def test_frames_of_installed_packages_below_it_are_passed_over(tmp_path: Path) -> None:
    text = PLAIN.replace("KeyError", f'  File "{TORCH}", line 9, in __missing__\n    raise KeyError(key)\nKeyError')
    assert raised(tmp_path, text, "KeyError: 'caption'") == (OWN, "KeyError")


def test_a_traceback_of_installed_packages_alone_names_its_deepest_frame(tmp_path: Path) -> None:
    text = f'Traceback (most recent call last):\n  File "{TORCH}", line 52, in fetch\n    x\nKeyError: 1\n'
    assert raised(tmp_path, text, "KeyError: 1") == (Frame(TORCH, 52, "fetch"), "KeyError")


@pytest.mark.parametrize("path", ["<frozen importlib._bootstrap>", "/usr/lib64/python3.9/json/decoder.py", TORCH])
def test_what_belongs_to_python_or_a_package_is_installed(path: str) -> None:
    assert Frame(path, 1, "f").installed
    assert not Frame("/vllm-workspace/vllm-ascend/vllm_ascend/ops.py", 1, "f").installed


def test_the_block_that_ends_in_the_line_counts_not_one_before_it(tmp_path: Path) -> None:
    other = PLAIN.replace("/job/data.py", "/job/other.py").replace("KeyError: 'caption'", "ValueError: 3")
    text = other + "\nDuring handling of the above exception, another exception occurred:\n\n" + PLAIN
    assert raised(tmp_path, text, "KeyError: 'caption'") == (OWN, "KeyError")


def test_lines_of_other_ranks_in_between_do_not_disturb(tmp_path: Path) -> None:
    mine = [f"[rank3]: {line}" for line in PLAIN.splitlines()]
    theirs = [f"[rank1]: {line.replace('data.py', 'elsewhere.py')}" for line in PLAIN.splitlines()]
    text = "\n".join(line for pair in zip(mine, theirs, strict=True) for line in pair) + "\n"
    assert raised(tmp_path, text, mine[-1]) == (OWN, "KeyError")


def test_a_traceback_behind_the_heads_of_a_logging_library_is_read(tmp_path: Path) -> None:
    text = "\n".join(f"(Worker_TP1 pid=702) ERROR 08-05 17:03:41 [core.py:597] {line}" for line in PLAIN.splitlines())
    assert raised(tmp_path, text, text.split("\n")[-1]) == (OWN, "KeyError")


def test_a_message_of_several_lines_is_told_by_its_first(tmp_path: Path) -> None:
    text = PLAIN.replace("KeyError: 'caption'", "RuntimeError: aclnnAdd failed\n[Error]: EZ1001 not supported")
    found = raised(tmp_path, text, "[Error]: EZ1001 not supported", record_line=9)
    assert found == (OWN, "RuntimeError")


def test_the_user_code_that_dynamo_names_below_the_message_wins(tmp_path: Path) -> None:
    text = PLAIN.replace("KeyError: 'caption'", "Unsupported: builtin") + (
        '\nfrom user code:\n   File "/job/model.py", line 20, in forward\n    return f(x)\n'
        '   File "/job/layer.py", line 4, in f\n    print(x)\n\nSet TORCHDYNAMO_VERBOSE=1\n  File "/no.py", line 1\n'
    )
    assert raised(tmp_path, text, "Unsupported: builtin") == (Frame("/job/layer.py", 4, "f"), "Unsupported")


@pytest.mark.parametrize(
    "between", ["step 12 loss 3.1\n", "[ERROR] RUNTIME(1,python):2026-04-18-09:32:54.406.942 [a.cc:1]1 f:failed\n"]
)
def test_a_traceback_that_does_not_end_in_the_line_is_not_taken(tmp_path: Path, between: str) -> None:
    assert raised(tmp_path, PLAIN + between + "KeyError: 5\n", "KeyError: 5") is None


def test_without_a_head_there_is_no_traceback(tmp_path: Path) -> None:
    assert raised(tmp_path, PLAIN.split("\n", 1)[1], "KeyError: 'caption'") is None


def test_a_source_that_is_gone_names_nothing(tmp_path: Path) -> None:
    source = Source(id=0, path="x", location=str(tmp_path / "gone"), kind="stdout", size=1)
    assert raised_at(source, finding("python/key-error")) is None
    assert start_at(None) is None
