"""What a logging library prints below ERROR is a hint: it explains the end only where nothing better does."""

from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.pipeline import Options, analyze

PREFIX = "02-03 04:00:0{second} [model_loader.py:{line}]"
OPTIONAL = "ModuleNotFoundError: No module named 'optional_plugin'"
FATAL = "torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB"


def signature_of(folder: Path, *lines: str) -> str | None:
    (folder / "server.log").write_text("\n".join([*lines, ""]), "utf-8")
    root = analyze([folder], Options(jobs=1)).verdict.root_cause
    return root.signature if root is not None else None


def logged(level: str, second: int, text: str) -> str:
    return f"{level} {PREFIX.format(second=second, line=second + 40)} {text}"


@pytest.mark.parametrize(("level", "root"), [("WARNING", "memory/"), ("ERROR", "python/")])
def test_an_exception_that_is_logged_as_a_warning_is_not_the_cause_of_a_later_error(
    tmp_path: Path, level: str, root: str
) -> None:
    found = signature_of(tmp_path, logged(level, 1, OPTIONAL), logged("ERROR", 9, FATAL))
    assert found is not None
    assert found.startswith(root)


MISSING = "{} cannot open shared object file: No such file or directory"
PNG = "/lib/python3/site-packages/vision/io.py:13: UserWarning: no images: " + MISSING.format("'libpng16.so.16:")
HCCL = "ImportError: " + MISSING.format("libhccl.so:")


def test_a_warning_of_a_kind_does_not_take_the_error_of_the_same_kind_into_its_incident(tmp_path: Path) -> None:
    frames = (
        "Traceback (most recent call last):",
        '  File "/job/infer.py", line 3, in <module>',
        "    import torch_npu",
    )
    (tmp_path / "server.log").write_text("\n".join([PNG, "  warn(", *frames, HCCL, ""]), "utf-8")
    root = analyze([tmp_path], Options(jobs=1)).verdict.root_cause

    assert root is not None
    assert root.quote == HCCL
