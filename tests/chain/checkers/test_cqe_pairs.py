from __future__ import annotations

from plogscope.chain.checkers.cqe_pairs import check
from tests.chain.checkers.job import WORLD, Job


def sit(job: Job, *ranks: int) -> None:
    for rank in ranks:
        job.says(
            rank, "hccl/setup-agent", 0.0, communicator=WORLD, rank_size=16, rank=rank,
            address=f"10.44.3.{rank // 8}%eno2", physical=rank % 8, device_ip=f"192.0.2.{rank}",
        )  # fmt: skip


def loses(job: Job, rank: int, peer: int) -> None:
    job.fails(rank, "hccl/cqe-error", 50.0, code=12, address=f"192.0.2.{rank}", remote_ip=f"192.0.2.{peer}")


def test_one_remote_named_by_many_is_suspect() -> None:
    job = Job(expected=16)
    sit(job, 1, 2, 3, 9)
    for rank in (1, 2, 3):
        loses(job, rank, 9)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [9]
    assert not result.proven


def test_two_that_lose_each_other_are_both_suspect() -> None:
    job = Job(expected=16)
    sit(job, 1, 9)
    loses(job, 1, 9)
    loses(job, 9, 1)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [1, 9]


def test_an_address_without_a_rank_is_named_as_it_is() -> None:
    job = Job()
    job.fails(4, "hccl/cqe-error", 50.0, code=12, remote_address="198.51.100.7")

    (result,) = check(job.view())

    assert [(one.rank, one.node) for one in result.suspects] == [(None, "198.51.100.7")]


def test_a_remote_with_a_failure_of_its_own_is_left_to_that_failure() -> None:
    job = Job(expected=16)
    sit(job, 1, 9)
    loses(job, 1, 9)
    job.crashes(9, 40.0)

    assert check(job.view()) == []


def test_a_line_without_a_remote_accuses_nobody() -> None:
    job = Job()
    job.fails(4, "hccl/ei0013-cqe", 50.0)

    assert check(job.view()) == []
