from __future__ import annotations

from plogscope.chain.checkers.superpod import check
from tests.chain.checkers.job import Job


def notes(job: Job, rank: int, logical: str, physical: int) -> str:
    return job.fails(rank, "hccl/superpod-mismatch", 1.0, role="cause", waits=False, value=logical, pod=physical).id


def test_one_logical_pod_on_two_physical_ones_is_the_first_cause() -> None:
    job = Job()
    notes(job, 0, "pod_a", 3)
    notes(job, 1, "pod_a", 3)
    odd = notes(job, 2, "pod_a", 4)

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", odd, True)


def test_the_note_of_ranks_of_one_physical_pod_proves_nothing() -> None:
    job = Job()
    notes(job, 0, "pod_a", 3)
    notes(job, 1, "pod_a", 3)
    notes(job, 2, "pod_b", 4)

    assert check(job.view()) == []
