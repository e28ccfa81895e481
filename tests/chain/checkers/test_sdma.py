from __future__ import annotations

from plogscope.chain.checkers.sdma import check
from tests.chain.checkers.job import Job


def test_a_copy_that_failed_half_an_hour_before_beats_the_waits() -> None:
    job = Job(expected=2)
    copy = job.fails(0, "hccl/aicpu-task-exception", 10.0, role="either", waits=False, code=9)
    job.reports_task(1, 1846.0, size=2)

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", copy.id)


def test_without_a_wait_there_is_nothing_to_explain() -> None:
    job = Job(expected=2)
    job.fails(0, "hccl/sdma-fftsplus-error", 10.0, role="cause", waits=False)

    assert check(job.view()) == []


def test_waits_alone_say_nothing() -> None:
    job = Job(expected=2)
    job.reports_task(1, 1846.0, size=2)

    assert check(job.view()) == []
