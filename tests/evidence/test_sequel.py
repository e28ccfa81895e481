from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.evidence.sequel import read_sequel
from plogscope.model.record import ANNOUNCED, Finding, Sequel
from plogscope.model.source import Source

TOLD = "2026-05-04 10:11:12,300 - loader - WARNING - cannot use the cache"
BLOCK = ("Traceback (most recent call last):", '  File "/a.py", line 3, in load', "    read()")
RAISED = "KeyError: 'cache'"
THEN = "2026-05-04 10:11:12,310 - loader - INFO - reading from the network"


def sequel(
    tmp_path: Path, *lines: str, of: str = RAISED, printed_as: str = "exception", level: str | None = None
) -> Sequel:
    log = tmp_path / "rank_3.log"
    log.write_text("".join(f"{line}\n" for line in lines))
    number = next(number for number, line in enumerate(lines) if line.endswith(of))
    offset = sum(len(line) + 1 for line in lines[:number])
    source = Source(id=0, path=log.name, location=str(log), kind="stdout", size=log.stat().st_size)
    found = Finding(
        signature=None, source=0, line=number + 1, quote=of, record_line=number + 1, record_end_line=number + 1,
        offset=offset, format=printed_as, level=level,
    )  # fmt: skip
    return read_sequel(source, found)


def test_the_records_above_and_below_a_traceback_frame_it(tmp_path: Path) -> None:
    found = sequel(tmp_path, "x", TOLD, *BLOCK, RAISED, THEN)

    assert (found.told, found.next_level, found.same_logger) == ("WARNING", "INFO", True)
    assert found.told_ns is not None
    assert found.next_ns is not None
    assert found.next_ns - found.told_ns == 10_000_000


def test_a_chain_of_tracebacks_is_one(tmp_path: Path) -> None:
    joined = ("", "During handling of the above exception, another exception occurred:", "", *BLOCK, "ValueError: no")

    found = sequel(tmp_path, TOLD, *BLOCK, RAISED, *joined, THEN)

    assert (found.told, found.next_level) == ("WARNING", "INFO")
    assert sequel(tmp_path, TOLD, *BLOCK, RAISED, *joined, THEN, of="ValueError: no") == found


@pytest.mark.parametrize(
    ("lines", "told", "next_level"),
    [
        ((*BLOCK, RAISED, THEN), None, "INFO"),
        (("plain text", *BLOCK, RAISED, THEN), None, "INFO"),
        ((TOLD, *BLOCK, RAISED, "plain text", THEN), "WARNING", None),
        ((TOLD, *BLOCK, RAISED), "WARNING", None),
        (("Exception in thread Thread-7 (run):", *BLOCK, RAISED, THEN), ANNOUNCED, "INFO"),
        ((TOLD, *BLOCK, RAISED, "[W504 10:11:12.4 ProcessGroupHCCL.cpp:9] not destroyed", THEN), "WARNING", None),
    ],
    ids=["first-in-the-file", "below-text", "above-text", "last", "of-a-thread", "above-words-of-a-library"],
)
def test_what_stands_between_ends_the_frame(
    tmp_path: Path, lines: tuple[str, ...], told: str | None, next_level: str | None
) -> None:
    found = sequel(tmp_path, *lines)

    assert (found.told, found.next_level) == (told, next_level)


def test_lines_of_other_ranks_do_not_count(tmp_path: Path) -> None:
    mine = [f"[rank3]:{line}" for line in (TOLD, *BLOCK, RAISED, THEN)]
    mixed = [line for own in mine for line in (own, "[rank1]:plain text")]

    found = sequel(tmp_path, *mixed)

    assert (found.told, found.next_level) == ("WARNING", "INFO")


def test_an_error_of_a_logger_tells_of_itself(tmp_path: Path) -> None:
    head = TOLD.replace("WARNING", "ERROR")

    found = sequel(tmp_path, head, *BLOCK, RAISED, THEN, of=head, printed_as="py-logging", level="ERROR")

    assert (found.told, found.next_level, found.same_logger) == ("ERROR", "INFO", True)


def test_a_source_that_is_gone_says_nothing(tmp_path: Path) -> None:
    gone = Source(id=0, path="x.log", location=str(tmp_path / "x.log"), kind="stdout", size=9)
    found = Finding(
        signature=None, source=0, line=1, quote="", record_line=1, record_end_line=1, offset=0, format="exception"
    )

    assert read_sequel(gone, found) == Sequel()


PACKAGE_FRAME = '  File "/usr/lib/python3/site-packages/plugins/find.py", line 31, in is_there'
TRACEBACK = "Traceback (most recent call last):"


@pytest.mark.parametrize(
    ("frame", "after", "handled"),
    [
        (PACKAGE_FRAME, ("going on without it",), True),
        (PACKAGE_FRAME, (), False),
        (PACKAGE_FRAME, ("", "The above exception was the direct cause of the following exception:"), False),
        ('  File "/usr/lib/python3/site-packages/tool/cli.py", line 8, in <module>', ("more",), False),
        ('  File "/job/train.py", line 31, in load', ("more",), False),
        ('  File "/usr/local/Ascend/latest/python/site-packages/te/a.py", line 3, in build', ("more",), False),
    ],
    ids=["in-a-package", "last-words", "inner-of-a-chain", "from-the-entry", "own-code", "compiler-of-cann"],
)
def test_a_traceback_from_inside_a_package_was_printed_by_a_handler(
    tmp_path: Path, frame: str, after: tuple[str, ...], *, handled: bool
) -> None:
    found = sequel(tmp_path, "x.py:13: UserWarning: old", "  warn()", TRACEBACK, frame, "    read()", RAISED, *after)

    assert (found.handled, found.told) == (handled, None)


def test_an_exception_that_was_logged_as_an_error_was_not_merely_printed(tmp_path: Path) -> None:
    assert sequel(tmp_path, TOLD, TRACEBACK, PACKAGE_FRAME, RAISED, "more").handled
    assert not sequel(tmp_path, TOLD.replace("WARNING", "ERROR"), TRACEBACK, PACKAGE_FRAME, RAISED, "more").handled


def test_what_is_said_below_in_no_known_form_is_kept_as_text(tmp_path: Path) -> None:
    assert sequel(tmp_path, TOLD, *BLOCK, RAISED, "", "no cache, reading slowly", THEN).next_text.startswith("no cache")
    assert sequel(tmp_path, TOLD, *BLOCK, RAISED).next_text == ""
