from __future__ import annotations

from plogscope.chain.checkers.heartbeat import check
from tests.chain.checkers.job import WORLD, Job


def notices(job: Job, rank: int, device: int, kind: str = "Heartbeat Lost Occurred", time: str = "") -> None:
    job.fails(
        rank, "hccl/heartbeat-exception", 400.0, remote_address="10.44.3.0", remote_device=device,
        kind=kind, time=time or "Wed Mar 11 09:40:02 2026",
    )  # fmt: skip


def sit(job: Job, *ranks: int) -> None:
    for rank in ranks:
        job.says(
            rank, "hccl/setup-agent", 0.0, communicator=WORLD, rank_size=job.expected, rank=rank,
            address="10.44.3.0", physical=rank, device_ip=f"192.0.2.{rank}",
        )  # fmt: skip


def test_the_location_is_suspect_and_not_the_writer() -> None:
    job = Job(expected=4)
    sit(job, 0, 1, 2)
    job.says(3, "hccl/setup-agent", communicator=WORLD, rank_size=4, rank=3, address="10.44.3.0", physical=3)
    notices(job, 0, 3)
    notices(job, 1, 3)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [3]


def test_stuck_counts_more_than_lost() -> None:
    job = Job(expected=4)
    sit(job, 0, 1, 2, 3)
    notices(job, 0, 2)
    notices(job, 0, 3, "Stuck Occurred")

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [3]
    assert "stuck" in result.reason.en


def test_later_losses_are_processes_that_leave_because_of_the_failure() -> None:
    job = Job(expected=4)
    sit(job, 0, 1, 2, 3)
    notices(job, 0, 3, time="Wed Mar 11 09:40:02 2026")
    notices(job, 0, 2, time="Wed Mar 11 09:52:40 2026")

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [3]


def test_a_device_outside_the_job_is_a_stale_event() -> None:
    job = Job(expected=4)
    sit(job, 0, 1, 2, 3)
    notices(job, 1, 6)

    assert check(job.view()) == []


def test_a_place_whose_rank_nothing_says_is_named_by_place() -> None:
    job = Job()
    notices(job, 0, 6)

    (result,) = check(job.view())

    assert [(one.rank, one.node, one.device) for one in result.suspects] == [(None, "10.44.3.0", 6)]


def test_two_that_declare_each_other_lost_are_both_suspect() -> None:
    job = Job(expected=2)
    sit(job, 0, 1)
    notices(job, 0, 1)
    notices(job, 1, 0)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [0, 1]


def test_a_location_with_a_failure_of_its_own_is_left_to_that_failure() -> None:
    job = Job(expected=4)
    sit(job, 0, 1, 2, 3)
    notices(job, 0, 3)
    job.crashes(3, 20.0)

    assert check(job.view()) == []


def test_a_kind_that_is_not_known_says_nothing() -> None:
    job = Job()
    notices(job, 0, 3, "Something Else Occurred")

    assert check(job.view()) == []


def test_an_empty_place_on_a_server_that_its_rank_0_named_is_that_of_the_only_absent_rank() -> None:
    job = Job(expected=16)
    for rank in range(15):
        job.seen(rank)
    name = "10.44.3.1%eth0_60000_1_1773200537118204"
    job.says(8, "hccl/entry-comm-init", communicator=name, rank_size=8, rank=0)
    job.fails(
        0, "hccl/heartbeat-exception", 400.0, remote_address="10.44.3.1", remote_device=7,
        kind="Heartbeat Lost Occurred", time="Wed Mar 11 09:40:02 2026",
    )  # fmt: skip

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [15]
