from __future__ import annotations

import msgspec

from plogscope.chain.checkers.restart import check
from tests.chain.checkers.job import START_NS, Job


def restarted(job: Job, *, began_s: float, fails: bool = True) -> None:
    """A launcher that starts the group again at 100 s, and rank 0 in a new process that fails at 140 s."""
    if fails:
        job.crashes(1, 90.0)
    job.says(None, "launcher/group-restart", 100.0, attempts="2/3")
    job.crashes(0, 140.0)
    first_ns = START_NS + int(began_s * 1_000_000_000)
    job.processes[0] = msgspec.structs.replace(job.processes[0], first_ns=first_ns)


def test_what_new_workers_meet_is_the_aftermath() -> None:
    job = Job(expected=2)
    restarted(job, began_s=120.0)

    (result,) = check(job.view())

    assert (result.kind, result.covers) == ("aftermath", ("i2",))


def test_a_process_that_was_there_before_is_no_new_worker() -> None:
    job = Job(expected=2)
    restarted(job, began_s=20.0)

    (result,) = check(job.view())

    assert result.covers == ()


def test_without_a_failure_before_the_restart_the_later_one_counts() -> None:
    job = Job(expected=2)
    restarted(job, began_s=120.0, fails=False)

    assert check(job.view()) == []


def test_without_a_restart_nothing_is_said() -> None:
    job = Job(expected=2)
    job.crashes(1, 90.0)

    assert check(job.view()) == []


def test_below_the_restart_in_the_file_of_the_launcher_is_later() -> None:
    job = Job(expected=2)
    job.crashes(1, 90.0)
    job.says(None, "launcher/group-restart", 100.0, attempts="2/3")
    job.fails(None, "python/runtime-error", 100.0, role="either", waits=False)

    (result,) = check(job.view())

    assert result.covers == ("i2",)
