from __future__ import annotations

from plogscope.chain.checkers.silent_rank import check
from plogscope.model.chain import Clock
from tests.chain.checkers.job import Job


def waiting_job(expected: int | None, ranks: range, clocks: tuple[Clock, ...] = ()) -> Job:
    job = Job(expected=expected, clocks=clocks)
    for rank in ranks:
        job.seen(rank, last_s=500.0)
        job.fails(rank, "hccl/notify-wait-timeout", 400.0)
    return job


def test_a_rank_without_a_log_is_counted() -> None:
    (result,) = check(waiting_job(4, range(3)).view())

    assert (result.kind, result.proven) == ("suspects", True)
    assert [one.rank for one in result.suspects] == [3]


def test_a_rank_whose_log_stops_before_the_waits_is_a_hint() -> None:
    job = waiting_job(4, range(3))
    job.seen(3, last_s=200.0)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [3]
    assert not result.proven


def test_a_log_that_goes_on_is_not_silent() -> None:
    job = waiting_job(4, range(3))
    job.seen(3, last_s=450.0)

    assert check(job.view()) == []


def test_an_unproven_clock_calls_nobody_silent() -> None:
    job = waiting_job(4, range(3), (Clock(id=0, name="n0"), Clock(id=1, name="n1", basis="assumed")))
    job.seen(3, last_s=200.0, clock=1)

    assert check(job.view()) == []


def test_under_one_unproven_clock_a_log_can_stop_early() -> None:
    job = waiting_job(4, range(3), (Clock(id=0, name="n0", basis="assumed"), Clock(id=1, name="n1")))
    job.seen(3, last_s=200.0)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [3]


def test_nobody_is_missing_while_nobody_waits() -> None:
    job = Job(expected=4)
    for rank in range(3):
        job.seen(rank, last_s=500.0)

    assert check(job.view()) == []


def test_a_bundle_with_the_logs_of_few_ranks_counts_nobody() -> None:
    assert check(waiting_job(64, range(2)).view()) == []


def test_two_processes_with_one_rank_break_the_count() -> None:
    job = waiting_job(4, range(3))
    job.processes[99] = job.processes[2]

    assert check(job.view()) == []


def test_a_rank_that_is_heard_without_a_process_is_not_silent() -> None:
    job = Job(expected=3)
    for rank in (0, 1):
        job.fails(rank, "hccl/task-failed", 100.0)
    job.says(2, "progress/step-loss", 50.0)
    job.processes.pop(2)

    assert check(job.view()) == []
