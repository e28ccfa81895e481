"""Prefixes say who wrote a line; glued lines come apart where another record starts."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.base import NO_FACTS
from plogscope.formats.prefixes import clean, peel, split_glued
from plogscope.formats.registry import FORMATS, classify
from plogscope.formats.stamps import local_ns

PLOG = "[ERROR] HCCL(41207,python3.10):2025-10-14-13:40:43.416.520 [a.cc:1011] [41633]peer is gone"
VLLM = "ERROR 12-10 10:52:09 [core.py:708] EngineCore failed"
GLOG = "[E508 04:20:31.678676591 compiler_depend.ts:1693] [Rank 9] watchdog"
BAR = "Epoch 0:   6%|██        | 320/5001 [6:28:43<94:39:17,  1.37it/s, loss=2.6]"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain\r\n", "plain"),
        (b"pasted^M", "pasted"),
        (b"nul\0s\0", "nuls"),
        (b"\x1b[1;36m(Worker pid=7)\x1b[0;0m up", "(Worker pid=7) up"),
        (b"^[[1;36m(Worker pid=7)^[[0;0m up^M", "(Worker pid=7) up"),
        (b"cut \xe4\xb8", "cut \ufffd"),
        (b"10%\r20%\r", "10%\r20%"),
    ],
)
def test_clean_keeps_the_text_and_drops_the_dress(raw: bytes, text: str) -> None:
    assert clean(raw) == text


def test_a_line_without_prefix_comes_back_as_it_is() -> None:
    for line in (PLOG, VLLM, GLOG, "step 1", "", "[Error]: no"):
        assert peel(line) == (NO_FACTS, line)


def test_global_rank_and_local_rank_are_not_the_same() -> None:
    by_rank, rest = peel("[rank3]:" + GLOG)
    by_local, other = peel("[default3]:" + GLOG)
    assert rest == other == GLOG
    assert (by_rank.rank, by_rank.local_rank) == (3, None)
    assert (by_local.rank, by_local.local_rank) == (None, 3)
    assert by_rank.stream != by_local.stream


def test_nested_relays_leave_the_innermost_writer() -> None:
    facts, rest = peel("(EngineCore_DP0 pid=1182) (RayWorkerWrapper pid=917, ip=10.0.7.2) [rank1]:" + GLOG)
    assert rest == GLOG
    assert (facts.pid, facts.proc, facts.host, facts.rank) == (917, "RayWorkerWrapper", "10.0.7.2", 1)


def test_the_indentation_of_a_frame_survives_its_prefix() -> None:
    assert peel('[rank0]:   File "a.py", line 3, in run')[1] == '  File "a.py", line 3, in run'
    assert peel('(Worker pid=9)   File "a.py", line 3, in run')[1] == '  File "a.py", line 3, in run'


def test_receipt_time_is_no_part_of_the_stream() -> None:
    first, rest = peel("[2025-05-10 01:18:21] (WorkerDict pid=12, ip=n0) [rank15]:" + GLOG)
    second, _ = peel("[2025-05-10 01:18:22] (WorkerDict pid=12, ip=n0) [rank15]:" + GLOG)
    assert rest == GLOG
    assert first.stream == second.stream
    assert first.receipt_ns == local_ns("2025-05-10 01:18:21")


@pytest.mark.parametrize(
    "prefix",
    [
        "2025-11-03T08:12:45.1234567Z ",
        "2025-11-03T08:12:45.123456789+08:00 stderr F ",
        "[2025-11-03 08:12:45] ",
    ],
)
def test_receipt_times_of_containers_and_ci_are_peeled(prefix: str) -> None:
    facts, rest = peel(prefix + PLOG)
    assert rest == PLOG
    assert facts.receipt_ns is not None
    assert facts.stream == ""


def test_a_syslog_time_stays_with_its_line() -> None:
    line = "2025-02-03T04:05:06.123456+08:00 node-b kernel: Out of memory"
    assert peel(line) == (NO_FACTS, line)


def test_grep_output_gives_the_pid_of_the_file_and_one_stream_for_all_its_lines() -> None:
    first, rest = peel("debug/plog/plog-41207_20251014134000123.log:14:" + PLOG)
    second, _ = peel("debug/plog/plog-41207_20251014134000123.log:15:" + PLOG)
    assert rest == PLOG
    assert first == second
    assert first.pid == 41207


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("worker-12: ", "worker-12"),
        ("10.1.2.3: ", "10.1.2.3"),
        ("trainer-1   | ", "trainer-1"),
        ("[pod/job-7-worker-0/main] ", "job-7-worker-0/main"),
    ],
)
def test_hosts_of_launchers_are_peeled(line: str, host: str) -> None:
    facts, rest = peel(line + PLOG)
    assert rest == PLOG
    assert facts.host == facts.stream == host


@pytest.mark.parametrize("line", ["node_count: 4", "step | loss", "nodes: 3 of 4", "time: 2"])
def test_words_that_look_like_hosts_stay(line: str) -> None:
    assert peel(line) == (NO_FACTS, line)


@pytest.mark.parametrize("prefix", ["[807] [rank1]:", "  12\t[rank1]:", "[1,1]<stderr>:", "14:"])
def test_numbers_of_viewers_and_launchers_are_peeled(prefix: str) -> None:
    assert peel(prefix + PLOG)[1] == PLOG


def test_the_note_of_dropped_repeats_is_cut_off() -> None:
    facts, rest = peel("(Wrapper pid=88) " + VLLM + " [repeated 6x across cluster] (Ray deduplicates logs by default.)")
    assert rest == VLLM
    assert facts.pid == 88


def test_the_same_writer_is_recognised_again_with_and_without_a_further_prefix() -> None:
    plain, rest = peel("(Cached pid=71) step 1")
    again, more = peel("(Cached pid=71) step 2")
    deeper, inner = peel("(Cached pid=71) 2025-11-03T08:12:45.123Z step 3")
    assert plain == again
    assert (rest, more, inner) == ("step 1", "step 2", "step 3")
    assert deeper.receipt_ns is not None


def test_a_line_of_the_json_file_driver_is_unwrapped() -> None:
    line = '{"log":"[rank2]:' + GLOG + '\\n","stream":"stderr","time":"2025-05-08T04:20:31.9Z"}'
    assert split_glued(line) == [(0, line)]
    facts, rest = peel(line)
    assert rest == GLOG
    assert (facts.rank, facts.receipt_ns) == (2, local_ns("2025-05-08 04:20:31", "9"))


@pytest.mark.parametrize("line", ['{"log":"cut', '{"log":"a"}{', '{"log":"\\ud800"}', '{"log":"{\\"log\\":\\"x\\"}"}'])
def test_a_broken_json_line_is_text(line: str) -> None:
    assert isinstance(peel(line)[1], str)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        (PLOG + "[9]" + PLOG, [PLOG + "[9]", PLOG]),
        (BAR + "[E ProcessGroupNCCL.cpp:458] [Rank 0] late", [BAR, "[E ProcessGroupNCCL.cpp:458] [Rank 0] late"]),
        (BAR + "Fatal Python error: Aborted", [BAR, "Fatal Python error: Aborted"]),
        (BAR + "Killed", [BAR, "Killed"]),
        (BAR + "Traceback (most recent call last):", [BAR, "Traceback (most recent call last):"]),
        (BAR + VLLM, [BAR, VLLM]),
        ("tokens[default0]: more", ["tokens", "[default0]: more"]),
        ("half (Worker pid=7) " + VLLM, ["half ", "(Worker pid=7) " + VLLM]),
        ("10%\r20%\r" + PLOG, ["10%\r20%\r", PLOG]),
        ("10%\r[rank1]:" + GLOG, ["10%\r", "[rank1]:" + GLOG]),
        ("died.EL9999: Inner Error!", ["died.", "EL9999: Inner Error!"]),
        (
            '{"detail": "call\\n[ERROR] 2025-11-19-10:14:58 (PID:356, Device:0, RankID:-1) ERR00100 PTA"}',
            ['{"detail": "call\\n', '[ERROR] 2025-11-19-10:14:58 (PID:356, Device:0, RankID:-1) ERR00100 PTA"}'],
        ),
    ],
)
def test_glued_records_come_apart(line: str, pieces: list[str]) -> None:
    assert [piece for _, piece in split_glued(line)] == pieces


@pytest.mark.parametrize(
    "line",
    [
        PLOG,
        "(Worker pid=7) [rank1]:" + GLOG,
        "[2025-05-10 01:18:21] (Worker pid=7) [rank1]:" + GLOG,
        "(Worker pid=7) " + VLLM,
        "(Worker pid=7) ERROR 12-10 10:52:09 [core.py:708] [ERROR] 2025-12-10-10:52:09 (PID:7, Device:0, RankID:-1) E",
        "(Worker pid=7) ERROR 12-10 10:52:09 [core.py:708] Traceback (most recent call last):",
        "[W1031 21:35:04.838006795 compiler_depend.ts:57] Warning: EZ9999: Inner Error!",
        "Original Traceback (most recent call last):",
        "Mar 17 23:03:09 node-b trainer[77]: " + PLOG,
        "2025-02-03T04:05:06.123456+08:00 node-b trainer[77]: " + PLOG,
        "RuntimeError: see [ERROR] HCCL for help",
        'print("[ERROR] HCCL(1,python)")',
        "10%\r20%\r30%",
        "debug/plog/plog-41207_20251014134000123.log:14:" + PLOG,
    ],
)
def test_one_record_stays_in_one_piece(line: str) -> None:
    assert split_glued(line) == [(0, line)]


FRAGMENTS = st.sampled_from(
    [PLOG, VLLM, GLOG, BAR, "\r", "[rank0]:", "(W pid=1) ", "Killed", "[ERROR] ", "it/s]", " ", "text", "last):"]
    + [sample.line for found in FORMATS for sample in found.samples]
)


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=12).map("".join))
def test_pieces_partition_the_line(line: str) -> None:
    pieces = split_glued(line)
    assert "".join(piece for _, piece in pieces) == line
    offset = 0
    for start, piece in pieces:
        assert start == offset
        offset += len(piece)


@given(st.lists(st.one_of(FRAGMENTS, st.text(max_size=12)), max_size=8).map("".join))
def test_what_is_peeled_off_is_a_prefix(line: str) -> None:
    _, rest = peel(line)
    assert rest in line or line.startswith("{")
    assert classify(rest) is None or rest


@given(st.binary(max_size=300))
def test_any_bytes_become_text_without_nul_and_escape(raw: bytes) -> None:
    text = clean(raw)
    assert "\0" not in text
    assert "\x1b[31m" not in text
    for _, piece in split_glued(text):
        peel(piece)


def test_a_line_of_five_megabytes_takes_linear_time() -> None:
    line = (" 10%|█| 1/9 [00:01<00:08,  1.0it/s]\r" * 120_000) + PLOG
    started = time.process_time()
    pieces = split_glued(line)
    assert time.process_time() - started < 8
    assert pieces[-1][1] == PLOG


@pytest.mark.parametrize(
    ("line", "rank", "text"),
    [
        ("3: Traceback (most recent call last):", 3, "Traceback (most recent call last):"),
        (" 7:     return fn(x)", 7, "    return fn(x)"),
        ("12: torch.distributed.DistNetworkError: no route", 12, "torch.distributed.DistNetworkError: no route"),
        (" 0:  [2026-02-03 04:05:06] iteration 45/ 50000", 0, " [2026-02-03 04:05:06] iteration 45/ 50000"),
        ("12: five apples", None, "12: five apples"),
        ("    3: foo", None, "    3: foo"),
    ],
)
def test_the_label_of_srun_is_the_rank(line: str, rank: int | None, text: str) -> None:
    facts, rest = peel(line)
    assert (facts.rank, rest) == (rank, text)


@pytest.mark.parametrize("line", ["7: a note", " 3: the third point", "12:30: ready", "2: Error in the text"])
def test_a_number_before_plain_words_is_no_label(line: str) -> None:
    assert peel(line) == (NO_FACTS, line)
