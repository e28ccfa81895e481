"""Every sample belongs to exactly the format that brings it, with the fields it states."""

from __future__ import annotations

import datetime as dt
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.errors import GrammarError
from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.prefixes import clean, peel, split_glued
from plogscope.formats.registry import FORMATS, check, classify

SAMPLES = [(found, sample) for found in FORMATS for sample in found.samples]
SAMPLE_FOLDER = os.environ.get("PLOGSCOPE_SAMPLES", "")

CONTINUATIONS = (
    "",
    " ",
    "    return self._call_impl(*args, **kwargs)",
    '  File "/opt/job/train.py", line 7, in main',
    "    ^^^^^^^^^^^^^^^^^^^^",
    "  what():  [Rank 2] lost its peer",
    "  exitcode  : -9 (pid: 4411)",
    "        TraceBack (most recent call last):",
    "TraceBack (most recent call last):",
    "[Error]: The vector core execution is abnormal.",
    "<exception_print>HWS_REG_STATUS=0x7ff",
    "frame #3: c10::Error::Error() + 0x5c (0xffff8a in /usr/lib/libc10.so)",
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
    "Current thread 0x0000ffff8a1de1c0 (most recent call first):",
    "step 12 loss 0.31",
    "ProcessGroup: gloo",
    "Error code table follows",
    "Timeout: 30",
    "there are(is) 2 abnormal device(s):",
    "============================================================",
)


def _id(pair: tuple[Format, Sample]) -> str:
    return f"{pair[0].name}-{pair[1].line[:40]}"


@pytest.mark.parametrize("pair", SAMPLES, ids=_id)
def test_sample_belongs_to_its_format_and_states_its_fields(pair: tuple[Format, Sample]) -> None:
    found, sample = pair
    head = classify(sample.line)
    assert head is not None
    assert head.format == found.name
    for field in ("level", "pid", "tid", "message"):
        stated = getattr(sample, field)
        assert stated is None or getattr(head, field) == stated, field
    if sample.time is not None:
        assert head.time_ns is not None
        assert _iso(head.time_ns) == dt.datetime.fromisoformat(sample.time).isoformat(timespec="microseconds")


def _iso(time_ns: int) -> str:
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=time_ns // 1000)  # noqa: DTZ001 local, as printed
    return moment.isoformat(timespec="microseconds")


@pytest.mark.parametrize("pair", SAMPLES, ids=_id)
def test_no_other_format_claims_the_sample_before_its_own(pair: tuple[Format, Sample]) -> None:
    found, sample = pair
    first = sample.line[:1]
    claims = [each.name for each in FORMATS if not each.starts or first in each.starts if each.head(sample.line)]
    assert claims[0] == found.name


@pytest.mark.parametrize("pair", SAMPLES, ids=_id)
def test_first_characters_of_a_format_cover_its_samples(pair: tuple[Format, Sample]) -> None:
    found, sample = pair
    assert not found.starts or sample.line[:1] in found.starts


@pytest.mark.parametrize("line", CONTINUATIONS)
def test_continuation_lines_have_no_head(line: str) -> None:
    assert classify(line) is None


def test_time_without_a_date_before_2015_is_unknown_but_the_record_stays() -> None:
    head = classify("[ERROR] DRV(7,boot):1970-01-01-08:00:13.260.926 [a.c:9] early")
    assert head is not None
    assert (head.time_ns, head.time_quality, head.message) == (None, "none", "early")


def test_impossible_date_leaves_the_record_without_time() -> None:
    head = classify("[ERROR] RUNTIME(7,python):2025-02-30-25:00:13.260.926 [a.c:9]8 Run:bad clock")
    assert head is not None
    assert (head.time_ns, head.tid) == (None, 8)


def test_torn_head_does_not_swallow_the_head_behind_it() -> None:
    assert classify("[ERROR] HCCL(991,pyth[ERROR] HCCL(991,python3):2025-08-09-10:11:12.000.001 [a.cc:1] [9]x") is None


def test_kernel_event_takes_the_level_of_the_kernel_line() -> None:
    head = classify(
        "[EVENT] KERNEL(5,sklogd):2024-06-10-13:16:14.096.793 [k.c:2][1.794072] [ascend] [WARN] [drv] [f 1] x"
    )
    assert head is not None
    assert head.level == "WARNING"


def test_rank_is_read_only_from_the_world_group_of_old_hccl() -> None:
    prefix = "[ERROR] HCCL(61,python):2022-05-06-07:08:09.010.011 [hcom.cc:2]"
    world = classify(prefix + "[hccl-61-0-1651820889-hccl_world_group][5]failed")
    other = classify(prefix + "[hccl-61-0-1651820889-group_3][5]failed")
    assert world is not None
    assert other is not None
    assert (world.rank, other.rank) == (5, None)


def test_thread_id_of_old_torch_is_not_a_pid() -> None:
    old = classify("W0726 10:59:50.786825 140538811684001 torch/distributed/api.py:858] closing")
    new = classify("W0726 10:59:50.786825 4711 torch/distributed/api.py:858] closing")
    assert old is not None
    assert new is not None
    assert (old.pid, old.tid, new.pid, new.tid) == (None, 140538811684001, 4711, None)


def test_python_logging_that_frames_another_head_is_a_carrier() -> None:
    framed = classify("2025-06-01 07:08:09,010 - app - ERROR - EZ9999: Inner Error!")
    plain = classify("2025-06-01 07:08:09,010 - app - ERROR - no disk")
    assert framed is not None
    assert plain is not None
    assert (framed.carrier, plain.carrier, plain.module) == (True, False, "app")


def test_what_a_program_prints_into_syslog_is_framed_and_the_kernel_speaks_for_itself() -> None:
    program = classify("Mar 17 23:03:09 node-b trainer[77]:   File 'a.py', line 3")
    kernel = classify("Mar 17 23:03:09 node-b kernel: Out of memory")
    assert program is not None
    assert kernel is not None
    assert (program.carrier, program.message, kernel.carrier) == (True, "  File 'a.py', line 3", False)


def test_word_in_the_message_is_not_the_level() -> None:
    head = classify("2025-06-01 07:08:09 connection ERROR seen by peer")
    assert head is not None
    assert (head.level, head.message) == (None, "connection ERROR seen by peer")


def test_format_without_samples_does_not_load() -> None:
    bare = Format(name="bare", head=lambda _: None, samples=())
    with pytest.raises(GrammarError, match="bare"):
        check([bare])


@given(st.text(max_size=400))
def test_classify_never_raises(text: str) -> None:
    assert classify(text) is None or isinstance(classify(text), Head)


@given(st.sampled_from([sample.line for _, sample in SAMPLES]), st.data())
def test_classify_survives_cut_and_mutated_heads(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    damage = data.draw(st.text(max_size=6))
    head = classify(line[:at] + damage + line[at + len(damage) :])
    assert head is None or head.format


ADVERSARIAL = {
    "brackets": "[" * 16_000,
    "calls": "a(" * 8_000,
    "digits": "7" * 16_000,
    "spaces": " " * 16_000,
    "bracketed_spaces": "[ERROR]" + " " * 16_000,
    "words": "Ab." * 5_300,
    "levels": "[ERROR] " * 2_000,
    "half_heads": "[ERROR] HCCL(1,a" * 1_000,
    "half_times": "[INFO] A(1,b):2025-01-0" * 700,
    "times": "2025-01-01 01:01:01 " * 800,
    "kv": "[ERROR] A(1,b):2025-01-02-03:04:05 " + "[k:v] " * 2_600,
    "colons": "a:" * 8_000,
    "pipes": "| 1 " * 4_000,
    "pids": "(a pid=1) " * 1_600,
    "paths": "plog/" * 3_200 + ".log",
    "returns": "\r" * 16_000,
    "bars": "it/s" * 4_000,
    "escapes": "\x1b[" * 8_000,
    "underscores": "_" * 16_000,
    "warnings": "aWarning" * 2_000 + ": ",
    "dashes": "- " * 8_000,
}


@pytest.mark.parametrize("text", ADVERSARIAL.values(), ids=ADVERSARIAL.keys())
def test_work_on_a_hostile_line_is_bounded(text: str) -> None:
    started = time.process_time()
    for _ in range(3):
        cleaned = clean(text.encode())
        for _, piece in split_glued(cleaned):
            classify(peel(piece)[1])
    assert time.process_time() - started < 1.5


MISSES = {
    "aicore_dump.txt": r"\s*The (?:error from device|extend info)",
    "atrace_stackcore.txt": r"/root/ascend/atrace/|#\d\d 0x",
    "bbox_hisi.txt": r"driver info:|excep_id:|device_id = ",
    "crash_launcher.txt": r"\s+what\(\)|frame #|(?:Current t|T)hread 0x|\s+File |\s+\w+\s*: |During handling",
    "device_tsch.txt": r"<exception_print>",
    "error_manager.txt": r"\s{4,}|TraceBack",
    "filenames.txt": r"[\w/\-]+\.log(?:\.gz)?$",
    "plog_torn.txt": r"Epoch 0: ",
    "torch_npu_err.txt": r"\[Error\]: ",
    "uce.txt": r"HBM MULTI BIT ECC",
}
"""Lines without a head, by sample file: continuation lines, path lists, and what stands before a glued head."""


def _sample_lines() -> Iterator[tuple[str, bytes]]:
    for path in sorted(Path(SAMPLE_FOLDER).glob("*.txt")) if SAMPLE_FOLDER else ():
        for line in path.read_bytes().split(b"\n"):
            if line and not line.startswith(b"#@"):
                yield path.name, line


@pytest.mark.skipif(not SAMPLE_FOLDER, reason="PLOGSCOPE_SAMPLES names no folder of sample files")
def test_collected_sample_lines_are_recognised() -> None:
    missed = []
    for name, line in _sample_lines():
        for _, piece in split_glued(clean(line)):
            text = peel(piece)[1]
            expected = MISSES.get(name)
            if classify(text) is None and not (expected and re.match(expected, text)):
                missed.append((name, text[:160]))
    assert missed == []
