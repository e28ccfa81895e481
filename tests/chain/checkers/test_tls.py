from __future__ import annotations

from plogscope.chain.checkers.tls import check
from tests.chain.checkers.job import Job


def row(job: Job, rank: int, state: str) -> str:
    return job.fails(rank, "hccl/link-error-row", 120.0, remote_rank=9, rank=rank, tls=state).id


def test_the_minority_of_two_states_is_the_first_cause() -> None:
    job = Job()
    row(job, 0, "DISABLE")
    odd = row(job, 1, "ENABLE")
    row(job, 2, "DISABLE")

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", odd, True)


def test_one_state_everywhere_says_nothing() -> None:
    job = Job()
    row(job, 0, "DISABLE")
    row(job, 1, "DISABLE")
    row(job, 2, "UNKNOWN")

    assert check(job.view()) == []
