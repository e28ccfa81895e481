from __future__ import annotations

import msgspec

from plogscope.chain.checkers.short_limit import check
from plogscope.model.chain import Clock
from tests.chain.checkers.job import Job


def job_of(*limits: int, clocks: tuple[Clock, ...] = ()) -> Job:
    job = Job(expected=len(limits), clocks=clocks)
    for rank, limit in enumerate(limits):
        job.says(rank, "hccl/exec-timeout-env", 0.0, limit=limit)
    return job


def test_the_limit_of_the_rank_that_gave_up_first_is_the_cause_when_the_others_wait_longer() -> None:
    job = job_of(1800, 1800, 60, 1800)
    job.reports_task(2, 400.0)
    job.reports_task(0, 2200.0)

    (result,) = check(job.view())

    assert result.kind == "root"
    assert result.finding is not None
    assert (result.finding.signature, result.finding.actor.rank) == ("hccl/exec-timeout-env", 2)
    assert "60 s" in result.reason.en
    assert "1800 s" in result.reason.en


def test_equal_limits_say_nothing() -> None:
    job = job_of(1800, 1800, 1800, 1800)
    job.reports_task(2, 400.0)

    assert check(job.view()) == []


def test_a_limit_that_is_a_little_shorter_is_ordinary() -> None:
    job = job_of(1836, 1836, 1800, 1836)
    job.reports_task(2, 400.0)

    assert check(job.view()) == []


def test_a_short_limit_did_no_harm_when_another_rank_gave_up_first() -> None:
    job = job_of(1800, 1800, 60, 1800)
    job.reports_task(0, 300.0)
    job.reports_task(2, 400.0)

    assert check(job.view()) == []


def test_among_two_processes_nobody_is_odd() -> None:
    job = job_of(1800, 60)
    job.reports_task(1, 400.0)

    assert check(job.view()) == []


def test_clocks_that_cannot_tell_who_gave_up_first_say_nothing() -> None:
    clocks = (Clock(id=0, name="n0"), Clock(id=1, name="n1", uncertainty_s=1e8, basis="assumed"))
    job = job_of(1800, 1800, 60, 1800, clocks=clocks)
    job.reports_task(2, 400.0)
    job.reports_task(0, 2200.0, clock=1)

    assert check(job.view()) == []


def test_half_of_the_ranks_with_a_short_limit_for_connecting_are_the_cause_too() -> None:
    job = Job(expected=4)
    for rank, limit in enumerate((900, 60, 900, 60)):
        job.says(rank, "hccl/connect-timeout-env", 0.0, limit=limit)
    job.fails(3, "hccl/socket-timeout", 75.0)
    job.fails(1, "hccl/socket-timeout", 76.0)
    job.fails(0, "hccl/socket-timeout", 915.0)

    (result,) = check(job.view())

    assert result.finding is not None
    assert (result.finding.actor.rank, [one.rank for one in result.suspects]) == (3, [1, 3])
    assert "HCCL_CONNECT_TIMEOUT" in result.reason.en


def test_a_wait_of_another_length_did_not_run_out_by_that_limit() -> None:
    job = Job(expected=4)
    for rank, limit in enumerate((900, 60, 900, 900)):
        job.says(rank, "hccl/connect-timeout-env", 0.0, limit=limit)
    wait = job.fails(1, "hccl/task-failed", 400.0)
    job.incidents[-1] = msgspec.structs.replace(wait, start_ns=(wait.time_ns or 0) - 300_000_000_000)
    job.fails(0, "hccl/socket-timeout", 915.0)

    assert check(job.view()) == []
