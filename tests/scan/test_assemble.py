from __future__ import annotations

from pathlib import Path

import pytest

import plogscope
from plogscope.scan.heard import is_source_echo

FRAME = b'  File "/data/a.py", line 3, in main'


@pytest.mark.parametrize("prefix", [b"", b"[rank1]: ", b"(Worker pid=7) "])
def test_source_line_below_a_frame_is_an_echo_behind_any_prefix(prefix: bytes) -> None:
    assert is_source_echo(prefix + FRAME, prefix + b"    run()  # out of memory")


@pytest.mark.parametrize(
    ("before", "line"),
    [
        (FRAME, b"RuntimeError: x"),
        (b"RuntimeError: x", b"    NPU out of memory"),
        (b"[rank1]: " + FRAME, b"[rank0]:     run()"),
        (b'  File "a.txt" is gone', b"    run()"),
        (FRAME, b'  File "/data/b.py", line 9, in f'),
    ],
)
def test_look_alikes_are_no_echo(before: bytes, line: bytes) -> None:
    assert not is_source_echo(before, line)


@pytest.mark.parametrize("prefix", ["", "[rank1]: "])
def test_the_cause_is_the_exception_line_and_not_the_statement_that_raised_it(tmp_path: Path, prefix: str) -> None:
    lines = [
        "Traceback (most recent call last):",
        FRAME.decode(),
        '    raise RuntimeError("NPU out of memory. Tried to allocate 2.00 GiB")',
        "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB",
    ]
    log = tmp_path / "train.log"
    log.write_text("".join(f"{prefix}{line}\n" for line in lines))
    root = plogscope.analyze(log).verdict.root_cause
    assert root is not None
    assert root.line == len(lines)


def test_a_quote_of_an_unknown_error_that_is_cut_says_so(tmp_path: Path) -> None:
    head = "[ERROR] GE(4711,python):2026-03-09-10:09:16.534.120 [some_file.cc:12]4711 Nobody:"
    (tmp_path / "plog-4711_20260309100900000.log").write_text(head + "zz qq " * 200 + "\n", encoding="utf-8")
    report = plogscope.analyze(tmp_path, jobs=1)
    assert report.chain
    assert all(entry.quote.endswith("…") and len(entry.quote) == 500 for entry in report.chain)
