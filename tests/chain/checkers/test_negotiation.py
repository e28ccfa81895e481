from __future__ import annotations

from plogscope.chain.checkers.negotiation import check
from tests.chain.checkers.job import WORLD, Job


def test_the_printed_list_names_the_missing_ranks() -> None:
    job = Job(expected=8)
    wait = job.fails(0, "hccl/agents-missing", 120.0, missing="2,6,")

    (result,) = check(job.view())

    assert (result.kind, result.proven, result.incident) == ("suspects", True, wait.id)
    assert [one.rank for one in result.suspects] == [2, 6]


def test_the_first_list_counts_because_later_ones_hold_ranks_that_left() -> None:
    job = Job(expected=8)
    job.fails(0, "hccl/agents-missing", 300.0, missing="1,2,3,6,")
    job.fails(1, "hccl/rank-detect-failed", 120.0, missing="2,6,")

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [2, 6]


def test_connected_ranks_are_counted_in_decimal_against_the_size() -> None:
    job = Job()
    job.says(0, "hccl/needed-count", 120.0, rank_size=12)
    job.fails(0, "hccl/connected-ranks", 120.0, line_no=0, connected=",".join(f"[{n:016d}]" for n in range(8)))
    gap = job.fails(0, "hccl/connected-ranks", 120.0, line_no=1, connected="[0000000000000008],[0000000000000011]")

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [9, 10]
    assert result.finding == gap.lead


def test_without_a_size_the_gap_in_the_list_is_the_missing_rank() -> None:
    job = Job()
    job.fails(0, "hccl/connected-ranks", 120.0, connected="[0000000000000000],[0000000000000001],[0000000000000003]")

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [2]


def test_a_missing_rank_that_did_enter_points_at_the_network() -> None:
    job = Job(expected=4)
    job.says(2, "hccl/entry-comm-init", 0.1, communicator=WORLD, rank_size=4, rank=2)
    job.seen(3)
    job.fails(0, "hccl/agents-missing", 120.0, missing="1,2,3,")

    (result,) = check(job.view())

    why = {one.rank: one.why.en for one in result.suspects}
    assert "network" in why[2]
    assert "does not show" in why[3]
    assert "no log" in why[1]


def test_a_missing_rank_that_failed_itself_is_left_to_that_failure() -> None:
    job = Job(expected=4)
    job.fails(0, "hccl/agents-missing", 120.0, missing="2,")
    job.crashes(2, 5.0)

    assert check(job.view()) == []


def test_a_rank_that_cannot_reach_the_root_makes_the_root_suspect() -> None:
    job = Job()
    job.fails(None, "hccl/topo-agent-timeout", 120.0, limit=120)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [0]
    assert not result.proven


def test_a_complete_list_says_nothing() -> None:
    job = Job(expected=2)
    job.says(0, "hccl/connected-ranks", 1.0, connected="[0000000000000000],[0000000000000001]")

    assert check(job.view()) == []


def test_a_hostile_size_is_not_counted() -> None:
    job = Job()
    job.says(0, "hccl/needed-count", 1.0, rank_size=4_000_000_000)
    job.says(0, "hccl/connected-ranks", 1.0, connected="[0000000000000000]")

    assert check(job.view()) == []
