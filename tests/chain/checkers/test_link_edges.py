from __future__ import annotations

from plogscope.chain.checkers.link_edges import check
from tests.chain.checkers.job import Job


def row(job: Job, rank: int, peer: int, at_s: float = 120.0) -> str:
    address = f"192.0.2.{peer}"
    return job.fails(rank, "hccl/link-error-row", at_s, remote_address=address, remote_rank=peer, rank=rank).id


def test_a_chain_of_waits_ends_at_the_rank_that_reports_nothing() -> None:
    job = Job(expected=16)
    row(job, 2, 10)
    row(job, 10, 8)
    row(job, 8, 9)

    (result,) = check(job.view())

    assert result.kind == "suspects"
    assert [one.rank for one in result.suspects] == [9]


def test_cards_of_one_host_are_found_by_device() -> None:
    job = Job(expected=8)
    job.seen(5)
    for rank in (1, 2):
        job.fails(rank, "hccl/p2p-enable-timeout", 120.0, device=rank, remote_device=5, limit=120)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [5]


def test_a_device_whose_rank_nothing_says_is_named_by_place() -> None:
    job = Job()
    job.fails(None, "hccl/p2p-enable-timeout", 120.0, device=0, remote_device=6, limit=120)

    (result,) = check(job.view())

    (one,) = result.suspects
    assert (one.rank, one.node, one.device) == (None, "n0", 6)


def test_server_and_device_of_the_probe_are_the_rank_that_the_transport_names() -> None:
    job = Job(expected=8)
    job.fails(
        3, "hccl/link-detected-unreachable", 170.0,
        address="10.44.3.18", device=3, remote_address="10.44.3.19", remote_device=1,
    )  # fmt: skip
    job.fails(
        3, "hccl/transport-init-error", 170.0, rank=3, address="10.44.3.18", device=3,
        remote_rank=7, remote_address="10.44.3.19", remote_device=1,
    )  # fmt: skip

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [7]


def test_the_peer_that_most_victims_name_outweighs_the_others() -> None:
    job = Job(expected=8)
    row(job, 0, 5)
    row(job, 1, 5)
    row(job, 1, 6)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [5]


def test_a_sink_with_a_failure_of_its_own_is_left_to_that_failure() -> None:
    job = Job(expected=8)
    row(job, 0, 5)
    job.crashes(5, 3.0)

    assert check(job.view()) == []


def test_two_that_name_each_other_are_both_suspect() -> None:
    job = Job(expected=8)
    row(job, 1, 4, 120.0)
    row(job, 4, 1, 121.0)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [1, 4]


def test_of_two_that_name_each_other_the_one_beyond_the_limit_is_the_straggler() -> None:
    job = Job(expected=8)
    row(job, 1, 4, 120.0)
    late = row(job, 4, 1, 390.0)

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", late)


def test_a_ring_of_three_says_nothing() -> None:
    job = Job(expected=3)
    for rank in range(3):
        row(job, rank, (rank + 1) % 3)

    assert check(job.view()) == []


def test_a_pair_with_a_failure_of_its_own_is_left_to_that_failure() -> None:
    job = Job(expected=8)
    row(job, 1, 4)
    row(job, 4, 1)
    job.crashes(4, 3.0)

    assert check(job.view()) == []
