"""A line without a breaker is one record as it stands: what lets the columns count it without reading it."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from plogscope.formats.breakers import BREAKERS
from plogscope.formats.prefixes import clean, split_glued
from plogscope.grammar.automaton import Automaton

HEAD = "[INFO] GE(4711,python3):2026-03-01-10:00:07.100.200 [graph.cc:12]4711 RunGraph:"
HEADS = (HEAD, "V1130 07:08:52.742000 6849 torch/fx/node.py:241] ", "    ")
PARTS = (
    "[ERROR] HCCL(1,p):2026-03-01-10:00:07.100.205 [x.cc:1] [4711]wait",
    "[WARNING] 2026-03-01-10:00:07 (PID:7, Device:",
    "[ERROR] 2026-03-01-10:00:07 (PID:41, Device:0, RankID:1) ERR01100", "[2] HCCL(9,p):2026-03-01 10:00:07",
    "[W1014 05:02:35.616000000 a.cpp:7] x", "[E508 04:20:31.678676591 compiler_depend.ts:1693] [Rank 9] x",
    "[W compiler_depend.ts:51] x", "[rank3]: x", "[default0]:x", "(Worker_TP1 pid=7) INFO 05-01 10:00:00 [a.py:7] x",
    "(RayWorker pid=7, ip=1.2.3.4) [rank0]: x", "INFO 05-01 10:00:00 [a.py:7] x",
    "W1014 05:02:35.616000 7 torch/a.py:7] x",
    "V1014 05:02:35.616000 7 a.py:7] ", "EZ9999: Inner Error!", "EI0006: [PID: 7] x", "E89999: 2026-03-01-10:00:07 x",
    "Fatal Python error: Aborted", "terminate called after throwing", "terminate called without an active exception",
    "Traceback (most recent call last):", "100%|####| 4/4 [00:01<00:00, 1.2it/s, loss=2]", "12.5MB/s, eta]x",
    "\r", "\x1b[31m", "^[[0m", "^M", "\0", "\n", "[", "]",
    " ", ":", "x", "设备", "INFO ", "ERROR ", " pid=3", "last):", "it/s",
)  # fmt: skip
_automaton = Automaton(BREAKERS)


@given(
    st.sampled_from(HEADS), st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=3)), max_size=5).map("".join)
)
@example(HEAD, PARTS[0])
@example(HEAD, "a tail \r")
def test_a_line_without_a_breaker_is_whole_and_clean(head: str, tail: str) -> None:
    raw = (head + tail.replace("\n", " ")).encode("utf-8", "replace") + b"\n"
    if not _automaton.hits(raw)[0]:
        assert clean(raw) == raw.decode().removesuffix("\n").removesuffix("\r")
        assert split_glued(clean(raw)) == [(0, clean(raw))]


def test_an_ordinary_line_has_no_breaker() -> None:
    tail = "aclnnAdd workspace=1 [a][b] tag[hccl_world_group] cost 3.2 MB/s INFO mode ERROR count 0 pid=12"

    for head in HEADS:
        assert _automaton.hits((head + tail + "\r\n").encode()) == ([], [])
