from __future__ import annotations

import pytest

from plogscope.chain.checkers.ended import check
from tests.chain.checkers.job import Job


def asked_to_end(message: str = "Received Signals.SIGTERM", *, ranks: int = 2) -> Job:
    job = Job(expected=2)
    for rank in range(ranks):
        job.seen(rank)
    job.fails(None, "launcher/received-sigterm", 50.0, waits=False, message=message)
    return job


def test_a_job_whose_launcher_was_asked_to_end_while_all_worked_was_ended_from_outside() -> None:
    job = asked_to_end()

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("end", job.incidents[0].id, False)


@pytest.mark.parametrize("message", ["got SIGTERM", "SignalException: Process 77 got signal: 15"])
def test_a_worker_gets_its_signal_from_the_launcher(message: str) -> None:
    assert check(asked_to_end(message).view()) == []


def test_a_rank_whose_log_is_missing_can_have_failed() -> None:
    assert check(asked_to_end(ranks=1).view()) == []


def test_a_job_that_hangs_is_ended_because_it_hangs() -> None:
    job = asked_to_end()
    job.fails(1, "hccl/notify-wait-timeout", 40.0)

    assert check(job.view()) == []
