from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.chain.checkers import reading, run_checkers
from tests.chain.checkers.job import SECOND_NS, Job


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("1,3,", (1, 3)),
        ("[0000000000000008],[0000000000000010]", (8, 10)),
        ("6, 7", (6, 7)),
        ("4294967295", ()),
        ("", ()),
    ],
)
def test_lists_of_ranks_are_decimal(text: str, ranks: tuple[int, ...]) -> None:
    assert reading.ranks_in(text) == ranks


@pytest.mark.parametrize("value", ["", "-1", "4294967295", "99999999999999999999", "local"])
def test_what_is_no_rank_is_none(value: str) -> None:
    job = Job()
    assert reading.number(job.says(0, "hccl/task-failed-remote", remote_rank=value), "remote_rank") is None


def test_stamps_are_read_with_either_separator() -> None:
    first = reading.stamp_ns("2026-03-11-09:30:01.880.200")
    assert first is not None
    assert first % SECOND_NS == 880_200_000
    assert reading.stamp_ns("2026-03-11 09:30:01") == first - 880_200_000
    assert reading.stamp_ns("2026-13-41-09:30:01.880.200") is None
    assert reading.stamp_ns("yesterday") is None


@given(st.text(max_size=200))
def test_no_text_breaks_the_readers(text: str) -> None:
    assert all(0 <= rank < reading.MAX_RANKS for rank in reading.ranks_in(text))
    moment = reading.stamp_ns(text)
    assert moment is None or isinstance(moment, int)


FIELDS = st.dictionaries(
    st.sampled_from(
        [
            "rank",
            "remote_rank",
            "group_rank",
            "rank_size",
            "index",
            "count",
            "tag",
            "communicator",
            "missing",
            "connected",
            "remote_device",
            "device",
            "remote_address",
            "remote_ip",
            "address",
            "kind",
            "time",
            "issued",
            "limit",
            "tls",
            "value",
            "expected",
            "variable",
            "pod",
        ]
    ),
    st.sampled_from(["", "0", "1", "3", "4294967295", "10.44.3.18", "g", "AllReduce_g", "ENABLE", "[0000000000000002]"])
    | st.text(max_size=12),
    max_size=6,
)
IDS = st.sampled_from([
    "task-failed", "task-failed-group", "task-failed-op", "task-failed-remote", "notify-wait-timeout", "cqe-error",
    "agents-missing", "connected-ranks", "needed-count", "link-error-row", "p2p-enable-timeout", "heartbeat-exception",
    "transport-init-error", "parameter-conflict", "superpod-mismatch", "setup-agent", "entry-comm-init",
    "exec-timeout-env", "aicpu-task-notify", "sdma-fftsplus-error", "topo-agent-timeout", "link-detected-unreachable",
])  # fmt: skip


@given(st.lists(st.tuples(st.none() | st.integers(0, 5), IDS, st.floats(0, 4000), FIELDS), max_size=12))
def test_no_findings_break_the_rules(lines: list[tuple[int | None, str, float, dict[str, str]]]) -> None:
    job = Job(expected=6)
    for rank, name, at_s, fields in lines:
        job.fails(rank, f"hccl/{name}", at_s, **fields)  # type: ignore[arg-type]
    view = job.view()
    known = {incident.id for incident in view.incidents}
    for result in run_checkers(view):
        assert result.incident is None or result.incident in known
        assert result.kind == "root" or result.suspects
