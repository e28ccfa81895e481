from __future__ import annotations

from plogscope.chain.checkers.consistency import check
from tests.chain.checkers.job import Job


def differs(job: Job, rank: int, here: object, there: object, variable: str = "count") -> str:
    return job.fails(
        rank, "hccl/parameter-conflict", 1.0, role="cause", waits=False, variable=variable, value=here, expected=there
    ).id


def test_the_minority_is_the_first_cause() -> None:
    job = Job(expected=4)
    differs(job, 0, 4096, 2048)
    odd = differs(job, 1, 2048, 4096)
    differs(job, 2, 4096, 2048)

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", odd, True)
    assert "2048" in result.reason.en


def test_one_against_one_is_not_decided() -> None:
    job = Job(expected=4)
    first = differs(job, 0, 4096, 2048)
    differs(job, 1, 2048, 4096)

    (result,) = check(job.view())

    assert (result.incident, result.proven) == (first, False)
    assert [one.rank for one in result.suspects] == [0, 1]
    assert "third rank" in result.reason.en


def test_a_single_end_stands_for_both() -> None:
    job = Job()
    only = differs(job, 0, "AllGather_g", "AllReduce_g", "tag")
    differs(job, 0, 6, 2, "cmdType")

    (result,) = check(job.view())

    assert (result.incident, result.proven) == (only, False)


def test_a_message_without_values_says_nothing() -> None:
    job = Job()
    job.fails(0, "hccl/ei0005-parameters", 1.0, role="cause", waits=False)

    assert check(job.view()) == []
