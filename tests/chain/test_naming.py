from __future__ import annotations

from plogscope.chain.checkers.base import JobView
from plogscope.chain.naming import name_root
from plogscope.model.chain import Chain, Cluster, Process
from plogscope.model.record import Finding
from tests.chain.things import finding, incident


def link(device: int, rank: int, address: str = "10.1.1.1") -> Finding:
    return finding(
        "hccl/transport-init-error", source=5, rank_=0, address="10.1.1.1", device=0,
        remote_rank=rank, remote_address=address, remote_device=device,
    )  # fmt: skip


def named(*lines: Finding) -> int | None:
    lead = finding("x/a", source=1)
    root = incident("i1", lead)
    cluster = Cluster(processes=(Process(node="a", pid=41, device=1),))
    chain = name_root(Chain(incidents=(root,), root="i1"), JobView((root,), lines, cluster))
    found = chain.incident("i1")
    assert found is not None
    return found.actor.rank


def test_a_failed_link_that_names_the_nodes_device_names_the_rank() -> None:
    assert named(link(1, 6, "a")) == 6


def test_a_link_to_another_server_says_nothing() -> None:
    assert named(link(1, 6, "10.1.1.2")) is None


def test_a_link_to_another_device_says_nothing() -> None:
    assert named(link(3, 6, "a")) is None
