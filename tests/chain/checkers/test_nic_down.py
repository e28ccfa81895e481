from __future__ import annotations

from plogscope.chain.checkers.nic_down import check
from tests.chain.checkers.job import Job


def test_a_port_that_cannot_be_bound_on_a_dead_adapter_is_not_taken() -> None:
    job = Job()
    down = job.fails(3, "hccl/device-port-down", 1.0, role="cause", waits=False, device=3)
    listen = job.fails(3, "hccl/listen-fail-in-use", 1.2, role="cause", waits=False, port=16666)

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", down.id, True)
    assert set(result.covers) == {down.id, listen.id}


def test_another_ranks_adapter_says_nothing_about_a_taken_port() -> None:
    job = Job()
    job.fails(2, "hccl/device-port-down", 1.0, role="cause", waits=False, device=2)
    job.fails(3, "hccl/listen-fail-in-use", 1.2, role="cause", waits=False, port=16666)

    assert check(job.view()) == []
