from __future__ import annotations

import pytest

from plogscope.chain.checkers.execution import check
from tests.chain.checkers.job import WORLD, Job


def test_the_rank_one_operation_behind_is_the_first_cause() -> None:
    job = Job(expected=4)
    for rank in (0, 2, 3):
        job.reports_task(rank, 100.0 + rank / 1000, index=8)
    behind = job.reports_task(1, 100.0, index=7)

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", behind.id, True)
    assert result.finding == behind.lead
    assert "rank 1 is at operation 7" in result.reason.en
    assert "rank 1" in result.reason.zh


def test_the_rank_that_issued_another_operation_is_the_first_cause() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 2):
        job.reports_task(rank, 100.0)
    odd = job.reports_task(3, 99.9, tag=f"AllGather_{WORLD}")

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", odd.id)
    assert "AllGather" in result.reason.en


def test_the_rank_with_another_count_is_the_first_cause() -> None:
    job = Job(expected=3)
    issued = "2026-02-01-10:00:00.000.000"
    for rank in (0, 1):
        job.reports_task(rank, 100.0, size=3, issued=issued)
    odd = job.reports_task(2, 100.0, size=3, issued=issued, count=8192)

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", odd.id)


def test_two_that_disagree_are_not_proven() -> None:
    job = Job(expected=4)
    job.reports_task(0, 100.0)
    job.reports_task(1, 100.0, tag=f"AllGather_{WORLD}")

    (result,) = check(job.view())

    assert (result.kind, result.proven) == ("root", False)


@pytest.mark.parametrize("tag", ["worldCommSendRecv_0_1_g", f"BatchSendRecv_{WORLD}"])
def test_counters_of_operations_between_two_ranks_may_differ(tag: str) -> None:
    job = Job(expected=4)
    for rank in range(4):
        job.reports_task(rank, 100.0, tag=tag, index=10 + rank)

    assert check(job.view()) == []


def test_the_member_that_reports_nothing_is_suspect_by_counting() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 2):
        job.reports_task(rank, 100.0)

    (result,) = check(job.view())

    assert (result.kind, result.proven) == ("suspects", True)
    assert [one.rank for one in result.suspects] == [3]


def test_a_member_that_waits_in_another_communicator_is_a_victim() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 2):
        job.reports_task(rank, 100.0)
    job.reports_task(3, 100.0, tag="AllReduce_group_name_2", communicator="group_name_2", size=2, inside=0)

    assert check(job.view()) == []


def test_a_silent_member_with_a_failure_of_its_own_is_left_to_that_failure() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 2):
        job.reports_task(rank, 100.0)
    job.crashes(3, 20.0)

    assert check(job.view()) == []


def test_the_one_peer_that_all_name_is_suspect_where_others_are_silent_as_well() -> None:
    job = Job(expected=8)
    for rank in range(4):
        job.reports_task(rank, 100.0, size=8, remote=5)

    (result,) = check(job.view())

    assert ([one.rank for one in result.suspects], result.proven) == ([5], True)


def test_a_single_witness_accuses_only_the_peer_that_it_names() -> None:
    job = Job(expected=8)
    job.reports_task(0, 100.0, size=8, remote=5)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [5]
    assert not result.proven


def test_a_single_witness_that_names_nobody_accuses_nobody() -> None:
    job = Job(expected=8)
    job.reports_task(0, 100.0, size=8, remote=4_294_967_295)

    assert check(job.view()) == []


def test_all_alike_and_complete_says_nothing() -> None:
    job = Job(expected=4)
    for rank in range(4):
        job.reports_task(rank, 100.0, remote=(rank + 1) % 4)

    assert check(job.view()) == []


def test_counts_that_differ_everywhere_accuse_nobody() -> None:
    job = Job(expected=4)
    issued = "2026-02-01-10:00:00.000.000"
    for rank, count in enumerate((1, 4096, 8192, 4096)):
        job.reports_task(rank, 100.0, issued=issued, count=count)

    assert check(job.view()) == []


def test_a_lost_rank_that_reports_nothing_explains_more_than_a_rank_that_is_behind() -> None:
    job = Job(expected=4)
    for rank, index in ((0, 8), (1, 7), (2, 8)):
        job.reports_task(rank, 100.0, index=index)
    job.says(3, "hccl/setup-agent", communicator=WORLD, rank_size=4, rank=3, address="10.44.3.0", physical=3)
    job.fails(
        0, "hccl/heartbeat-exception", 100.0, remote_address="10.44.3.0", remote_device=3,
        kind="Heartbeat Lost Occurred",
    )  # fmt: skip

    (result,) = check(job.view())

    assert (result.kind, [one.rank for one in result.suspects]) == ("suspects", [3])


def test_after_lost_packets_ranks_stop_at_different_operations() -> None:
    job = Job(expected=4)
    for rank, index in ((0, 8), (1, 7), (2, 8)):
        job.reports_task(rank, 100.0, index=index)
    job.fails(0, "hccl/cqe-error", 60.0, remote_ip="192.0.2.3")

    (result,) = check(job.view())

    assert result.kind == "suspects"


def test_of_two_counts_in_a_larger_communicator_either_can_be_the_wrong_one() -> None:
    job = Job(expected=4)
    issued = "2026-02-01-10:00:00.000.000"
    job.reports_task(0, 100.0, issued=issued, count=4096)
    job.reports_task(1, 100.0, issued=issued, count=1024)

    assert [result.kind for result in check(job.view())] == ["suspects"]


def test_a_lost_place_that_no_log_tells_of_explains_more_only_where_a_rank_has_no_place() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 2):
        job.reports_task(rank, 100.0, index=9 + (rank != 1))
    kind = "Heartbeat Lost Occurred"
    job.fails(0, "hccl/heartbeat-exception", 90.0, remote_address="10.44.9.9", remote_device=3, kind=kind)
    assert [one.kind for one in check(job.view())] == ["suspects"]

    job.seen(3)
    assert [one.kind for one in check(job.view())] == ["root"]
