"""The law of the scan: any split of a source into ranges, combined in any tree, gives the same fragment."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plogscope.formats.stamps import SECOND_NS
from plogscope.grammar.load import load_grammar
from plogscope.grammar.match import Matcher
from plogscope.model.source import Source
from plogscope.scan import activity, fold
from plogscope.scan.assemble import scan
from plogscope.scan.fragment import Fragment, empty_fragment, finish
from plogscope.scan.quiet import Columns

LINES = (
    "[INFO] GE(4711,python3):2026-03-01-10:00:{s:02d}.100.200 [graph.cc:12]4711 RunGraph:run graph {n}",
    "[WARNING] TDT(4711,python3):2026-03-01-10:00:{s:02d}.100.201 [tdt.cc:9]4711 Pop:queue {n} waits",
    "[ERROR] RUNTIME(4711,python3):2026-03-01-10:00:{s:02d}.100.202 [a.cc:77]4720 Foo:unheard of thing {n} happened",
    "[ERROR] RUNTIME(4712,python3):2026-03-01-10:00:{s:02d}.100.203 [davinci_kernel_task.cc:1210]80 "  # noqa: ISC004
    "PrintErrorInfoForDavinciTask:[DFX_INFO]AI Core kernel execution failed, device_id={n}, stream_id=2, "
    "report_stream_id=2, task_id={n}, flip_num=0, fault kernel_name=MatMulV3_1, program id=1, hash=5.",
    "[rank{n}]: Traceback (most recent call last):",
    '[rank{n}]:   File "train.py", line {s}, in main',
    "[rank{n}]: KeyError: 'k{n}'",
    "    continuation {n} of whatever came before",
    "EE9999: Inner Error!",
    "EE9999: [PID: 4711] 2026-03-01-10:00:{s:02d}.100.204 rtStreamSynchronize execute failed, reason=[aicore]",
    "        TraceBack (most recent call last):",
    "plain text {n}",
    "",
    "V1130 10:00:{s:02d}.742000 6849 torch/fx/node.py:241] [0/0] guard {n}",
    "I1130 10:00:{s:02d}.742000 139884917106496 torch/_dynamo/a.py:{n}] [__guards] device lost",
    "[DEBUG] NPUGRAPH_EX(7153,python):2026-03-01 10:00:{s:02d}.802.482 [replace_event.py:31]7153 graph {n}",
    "[WARNING] TORCHAIR(7153,python):2026-03-01 10:00:{s:02d}.802.482 [a.py:31]7153 out of memory {n}",
    "    EL0004: Failed to allocate memory",
    "  \r",
    "    \xc4\xda\xb4\xe6\xb2\xbb\xd7\xe3 {n}",  # Chinese in GB18030
    "(Worker_TP{n} pid=99) ERROR 03-01 10:00:{s:02d} [executor.py:9] ValueError: {n}",
    "\x1b[31m[ERROR] HCCL(4711,p):2026-03-01-10:00:{s:02d}.100.205 [x.cc:1] [4711]wait {n}\x1b[0m",
    "torn \xff\x00 {n} [ERROR] HCCL(4711,p):2026-03-01-10:00:{s:02d}.100.205 [x.cc:1] [4711]wait",
)
SOURCE = Source(id=0, path="run/x.log", location="/nowhere", kind="stdout", size=0)

CONTENT = st.lists(
    st.tuples(st.sampled_from(LINES), st.integers(0, 4), st.integers(0, 59)).map(
        lambda line: line[0].format(n=line[1], s=line[2])
    ),
    max_size=30,
).map(lambda lines: "\n".join(lines).encode("latin-1"))

RELAXED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@lru_cache(maxsize=1)
def matcher() -> Matcher:
    return Matcher(load_grammar())


@lru_cache(maxsize=1)
def columns() -> Columns:
    return Columns(matcher().gate)


def scanned(data: bytes, start: int = 0, stop: int | None = None) -> Fragment:
    return scan(io.BytesIO(data), SOURCE, matcher(), start, stop, columns=columns(), fast=True)


def combined(parts: list[Fragment], seed: int) -> Fragment:
    """One fragment by a random tree of combines of neighbours."""
    order = random.Random(seed)
    parts = parts or [empty_fragment(0)]
    while len(parts) > 1:
        at = order.randrange(len(parts) - 1)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0]


@RELAXED
@given(data=CONTENT, cuts=st.lists(st.integers(0, 4000), max_size=6), seed=st.integers(0, 1000))
def test_any_split_combined_in_any_tree_gives_the_same_fragment(data: bytes, cuts: list[int], seed: int) -> None:
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    parts = [scanned(data, start, stop) for start, stop in zip(edges, edges[1:])]

    assert combined(parts, seed) == scanned(data)


@RELAXED
@given(data=CONTENT, cut=st.integers(0, 4000))
def test_truncation_anywhere_never_raises(data: bytes, cut: int) -> None:
    fragment = finish(scanned(data[:cut]))

    assert fragment.counts.bytes == len(data[:cut])


@RELAXED
@given(data=st.binary(max_size=600))
def test_any_bytes_are_read_and_counted(data: bytes) -> None:
    fragment = finish(scanned(data))

    assert fragment.counts.bytes == len(data)
    assert fragment.counts.lines == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def test_combine_leaves_its_operands_alone() -> None:
    left, right = (
        scanned(LINES[2].format(n=1, s=1).encode()),
        scanned(b"    more\n" + LINES[2].format(n=2, s=2).encode()),
    )
    before = msgspec.json.encode([left.counts, right.counts]), len(left.tails), len(right.leads)
    _ = left + right

    assert (msgspec.json.encode([left.counts, right.counts]), len(left.tails), len(right.leads)) == before


def test_a_continuation_line_belongs_to_its_own_stream() -> None:
    data = (
        b"[rank0]: Traceback (most recent call last):\n"
        b"[rank1]: Traceback (most recent call last):\n"
        b'[rank0]:   File "a.py", line 1, in f\n'
        b"[rank1]: KeyError: 'of rank 1'\n"
        b"[rank0]: ValueError: of rank 0\n"
    )
    rows = [row for kept in finish(scanned(data)).table.folds.values() for row in kept.rows()]

    assert {(row.line, row.actor.rank) for row in rows if row.signature} == {(4, 1), (5, 0)}


def test_repeats_keep_the_first_three_the_last_two_and_the_count() -> None:
    data = "\n".join(LINES[2].format(n=n, s=n % 60) for n in range(500)).encode()
    (kept,) = finish(scanned(data)).table.folds.values()

    assert [row.line for row in kept.rows()] == [1, 2, 3, 499, 500]
    assert kept.count == 500
    assert sum(row.count for row in kept.rows()) == 500


def strange(words: Iterable[str]) -> bytes:
    """Unknown errors, each of its own kind."""
    line = "[ERROR] GE(1,p):2026-03-01-10:00:00.100.200 [g.cc:1]1 F:{word} strange"
    return "\n".join(line.format(word=word) for word in words).encode()


LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [f"{a}{b}x" for a in LETTERS for b in LETTERS]


def test_of_more_kinds_of_error_than_are_kept_in_full_one_row_stays() -> None:
    assert len(WORDS) > fold.FULL_FOLDS
    table = finish(scanned(strange([*WORDS, *WORDS, *WORDS]))).table

    rows = [one.rows() for one in table.kept()]
    assert len(rows) == len(WORDS)
    assert sum(len(some) == 3 for some in rows) == fold.FULL_FOLDS
    assert all(sum(row.count for row in some) == 3 for some in rows)
    assert {some[0].last_line - some[0].line for some in rows} == {2 * len(WORDS)}
    assert table.dropped == 0


def test_of_more_kinds_of_error_than_fit_the_first_ones_stay_and_the_rest_is_counted() -> None:
    with small_tables():
        table = finish(scanned(strange([*WORDS, *WORDS[:3]]))).table

    kept = {one.first[0].line for one in table.kept()}
    assert set(range(1, fold.MOST_EARLIEST + 1)) <= kept
    assert fold.MOST_EARLIEST + SMALL >= len(kept) >= fold.MOST_EARLIEST
    assert table.dropped == table.findings - sum(one.count for one in table.kept()) > 0


SMALL = 8


@contextmanager
def small_tables() -> Iterator[None]:
    """Folds in which hardly anything fits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "FULL_FOLDS", SMALL // 4)
        patch.setattr(fold, "MAX_FOLDS", SMALL)
        patch.setattr(fold, "TRIMMED_EVERY", SMALL)
        yield


@RELAXED
@given(
    data=st.lists(st.sampled_from(WORDS[:40]), max_size=60).map(strange),
    more=CONTENT,
    cuts=st.lists(st.integers(0, 6000), max_size=6),
    seed=st.integers(0, 1000),
)
def test_what_does_not_fit_is_the_same_for_any_split(data: bytes, more: bytes, cuts: list[int], seed: int) -> None:
    data = data + b"\n" + more
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    with small_tables(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold, "MOST_EARLIEST", 3)
        whole = scanned(data)
        parts = [scanned(data, start, stop) for start, stop in zip(edges, edges[1:])]

        assert combined(parts, seed) == whole
        assert len(whole.table.folds) <= SMALL
        assert len(whole.table.kept()) <= SMALL + 3


def test_a_text_line_inherits_the_last_time_before_it_across_a_border() -> None:
    data = LINES[0].format(n=1, s=7).encode() + b"\nKeyError: 'x'\n"
    cut = data.index(b"KeyError")
    rows = [r for kept in finish(scanned(data, 0, cut) + scanned(data, cut)).table.folds.values() for r in kept.rows()]

    assert [row.time_quality for row in rows] == ["inherited"]
    assert rows[0].time_ns is not None


@given(stamps=st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 2)), max_size=60), cut=st.integers(0, 60))
def test_activity_is_the_same_for_any_split(stamps: list[tuple[int, int]], cut: int) -> None:
    def count(part: list[tuple[int, int]]) -> activity.Activity:
        counted = activity.Activity({}, {})
        for line, (second, level) in enumerate(part, 1):
            counted.add(second * SECOND_NS, level, 1, line)
        return counted

    activity_limit, activity.MAX_BINS = activity.MAX_BINS, 8
    try:
        joined = count(stamps[:cut])
        joined.extend(count(stamps[cut:]), len(stamps[:cut]))
        whole = count(stamps)
    finally:
        activity.MAX_BINS = activity_limit

    assert joined == whole


@RELAXED
@given(data=CONTENT)
def test_columns_find_what_the_slow_path_finds(data: bytes) -> None:
    slow = scan(io.BytesIO(data), SOURCE, matcher(), fast=False)

    assert scanned(data) == slow


HEAD_PARTS = (
    ("[INFO] ", "[DEBUG] ", "[EVENT] ", "[WARNING] ", "[TRACE] ", "[INFO]", "[NULL] ", "[ERROR] ", "INFO] ", ""),
    ("GE", "HCCL_ADPT", "ge", "G E", "", "A" * 20, "TSCH", "TORCHAIR", "9X", "KERNEL"),
    ("(4711,python3)", "(4711)", "(-1,null)", "(12345678901,p)", "(77,)", "(1,a(b)c)", "(1,[x])", "(3,ff8de0,p)", "()"),
    (":", "", ": "),
    (
        "2026-03-01-10:00:07.100.200", "2026-03-01 10:00:07.100.200", "2026-02-30-10:00:07.100.200",
        "1970-01-01-10:00:07.100.200", "2026-03-01-24:00:07.100.200", "2026-03-01-10:00:07.100", "2026-03-01-10:00:07",
    ),
    (" [graph.cc:12]4711 Run:g", "[graph.cc:12]4711 Run:g", "", " no", " [a.c:1]1 x [ERROR] HCCL(1,p):", " \x1b[0m"),
)  # fmt: skip
TORCH_PARTS = (
    ("V", "I", "W", "D", "E", "C", " V", "v"),
    ("1130", "0229", "0230", "0101", "9999", "113"),
    (" 10:00:07", " 24:00:07", "-10:00:07", " 1:00:07"),
    (".742000 ", ".742 ", ".7420001 ", ".742000", " "),
    ("6849 ", "    77 ", "     7 ", "4194305 ", "123456789012345678901 ", "", "68x "),
    ("torch/a.py:241]", "torch/a.py:]", "a b.py:1]", "torch/a.py:24", "x" * 70 + ".py:1]", "设.py:1]", "a].py:3]"),
    (" [0/0] x", "", " [rank:3] device lost", " [rank3]: y", "\r", " V1130 10:00:07.742000 7 a.py:7] x", "\x1b[0m"),
)
BLANKS = (
    "",
    " ",
    "  x",
    "\t",
    "  7\tx",
    "\t7\tx",
    "  \t7\tx",
    "\tx\ty",
    '\t"name": "x",',
    "\t[ERROR] x",
    "\t \r",
    "  x\t7\t[INFO] GE(4711,python3):2026-03-01-10:00:07.100.200 [a.cc:1] x",
    "      [ERROR] x",
    " + Exception",
    "   \u3000[",
    "\x0b",
    " " * 70 + "y",
    " x\r",
    "\r",
)
HEADS = st.tuples(*(st.sampled_from(part) for part in HEAD_PARTS)).map("".join)


@RELAXED
@given(
    lines=st.lists(
        st.one_of(
            HEADS, st.tuples(*(st.sampled_from(part) for part in TORCH_PARTS)).map("".join), st.sampled_from(BLANKS)
        ),
        min_size=1,
        max_size=12,
    )
)
def test_what_the_columns_accept_the_exact_head_reads_alike(lines: list[str]) -> None:
    data = "\n".join(lines).encode()

    assert scanned(data) == scan(io.BytesIO(data), SOURCE, matcher(), fast=False)


_BEAT = "[INFO] HCCL({p},python3):2026-03-11-09:42:{s:02d}.305.118 [heartbeat.cc:612] [60655][Heartbeat]send beat ok, "
HEARD = (
    f"{_BEAT}link num[{{n}}], seq[8]",
    f"{_BEAT}link num[{{n}}], seq[9]\r",
    "[EVENT] HCCL({p},python3):2026-03-11-09:42:{s:02d}.305.119 [h.cc:12] [60655][Heartbeat]send beat ok, but no link",
    "[INFO] GE({p},python3):2026-03-11 09:42:{s:02d}.305.120 [graph.cc:12]4711 RunGraph:run graph {n}",
    "    continuation {n}",
    "",
)


@RELAXED
@given(
    lines=st.lists(
        st.tuples(
            st.sampled_from((0, 0, 0, 0, 1, 2, 3, 4, 5)),
            st.integers(0, 2),
            st.integers(0, 59),
            st.sampled_from((1, 1, 1, 2)),
        ),
        max_size=80,
    ),
    cut=st.integers(0, 9000),
)
def test_repeats_of_what_is_no_failure_are_counted_as_if_each_were_read(
    lines: list[tuple[int, int, int, int]], cut: int
) -> None:
    data = "\n".join(HEARD[kind].format(n=n, s=s, p=p) for kind, n, s, p in lines).encode()
    cut = min(cut, len(data))

    assert scanned(data) == scan(io.BytesIO(data), SOURCE, matcher(), fast=False)
    assert scanned(data, 0, cut) + scanned(data, cut, None) == scanned(data)


@given(
    records=st.lists(
        st.tuples(st.integers(0, 10**7), st.integers(0, 999_999), st.integers(0, 2), st.integers(0, 14)), min_size=1
    )
)
def test_many_records_at_once_count_as_one_by_one(records: list[tuple[int, int, int, int]]) -> None:
    one_by_one, at_once = activity.Activity({}, {}), activity.Activity({}, {})
    for line, (second, micro, level, pid) in enumerate(records, 1):
        one_by_one.add(second * SECOND_NS + micro * 1000, level, pid, line)
    seconds, micros, levels, pids = (np.array(column, np.int64) for column in zip(*records))
    lines = np.arange(1, len(records) + 1)
    at_once.add_many(seconds, seconds * SECOND_NS + micros * 1000, levels, pids, lines)

    assert at_once == one_by_one


def test_what_stands_beyond_the_part_of_a_long_record_that_is_read_is_not_heard() -> None:
    filler = "x" * (1 << 16)
    line = HEARD[0].format(n=1, s=1, p=7)
    head, said = line[: line.index("[Heartbeat]")], line[line.index("[Heartbeat]") :]
    data = "\n".join([f"{head}{filler}{said}"] * 8 + [line]).encode()

    assert scanned(data) == scan(io.BytesIO(data), SOURCE, matcher(), fast=False)
