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


def test_what_devices_start_with_tells_where_links_do_not_come_up() -> None:
    job = Job()
    switches = [job.says(rank, "hccl/tls-switch", 1.0, switch="1" if rank in (2, 3) else "0") for rank in range(6)]
    job.fails(0, "hccl/socket-timeout", 120.0)

    (result,) = check(job.view())

    assert (result.kind, result.finding, result.proven) == ("root", switches[2], True)
    assert [one.rank for one in result.suspects] == [2, 3]


def test_another_switch_is_no_fault_where_all_links_come_up() -> None:
    job = Job()
    for rank in range(3):
        job.says(rank, "hccl/tls-switch", 1.0, switch=str(rank // 2))
    job.fails(1, "hccl/notify-wait-timeout", 1900.0)

    assert check(job.view()) == []
