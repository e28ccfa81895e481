from __future__ import annotations

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.naming import name_root
from plogscope.model.chain import Chain, Cluster, Edge, Process
from plogscope.model.record import Actor, Finding
from tests.chain.things import TEXT, finding, incident


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


def test_the_peer_of_a_failed_copy_names_its_rank() -> None:
    copy = incident("i1", finding("hccl/ei0012-sdma", source=1, remote_rank=4))
    waits = [
        finding("hccl/notify-wait-timeout", source=2, rank=rank, remote_rank=remote)
        for rank, remote in ((4, 5), (6, 4))
    ]

    def rank_of(*said: Finding) -> int | None:
        chain = name_root(Chain(incidents=(copy,), root="i1"), JobView((copy,), said, Cluster()))
        found = chain.incident("i1")
        return found.actor.rank if found is not None else None

    assert rank_of(*waits) == 5
    assert rank_of(waits[1]) is None


def test_a_link_to_another_server_says_nothing() -> None:
    assert named(link(1, 6, "10.1.1.2")) is None


def test_a_link_to_another_device_says_nothing() -> None:
    assert named(link(3, 6, "a")) is None


def worker(rank: int, pid: int, code: int, line: int = 93) -> tuple[Finding, Finding]:
    """Two rows of torchrun's summary."""
    row = finding("launcher/summary-rank", source=8, line=line)
    row = msgspec.structs.replace(row, fields={"rank": str(rank)})
    return row, finding("launcher/summary-exit", source=8, line=line + 1, pid=pid, code=code)


def rank_of(lead: Finding, *lines: Finding, cluster: Cluster | None = None, waits: tuple[int, ...] = ()) -> int | None:
    root = incident("i1", msgspec.structs.replace(lead, actor=Actor()))
    peers = tuple(incident(f"w{rank}", finding("x/w", 9.0, rank=rank), "symptom", waits=True) for rank in waits)
    edges = tuple(Edge(cause="i1", effect=one.id, kind="starves", reason=TEXT) for one in peers)
    chain = Chain(incidents=(root, *peers), edges=edges, root="i1")
    found = name_root(chain, JobView((root, *peers), lines, cluster or Cluster())).incident("i1")
    assert found is not None
    return found.actor.rank


def test_the_launcher_knows_the_rank_of_the_process_that_the_kernel_killed() -> None:
    killed = finding("memory/host-oom-killed", source=1, format="dmesg", pid=33120)

    assert rank_of(killed, *worker(3, 33120, -9)) == 3


def test_a_crash_that_names_no_process_is_that_of_the_only_worker_that_a_signal_ended() -> None:
    crash = finding("host/segmentation-fault", source=1, format="faulthandler")

    assert rank_of(crash, *worker(3, 7003, -11), *worker(0, 7000, -15, line=103)) == 3


def test_of_two_workers_that_signals_ended_none_is_named() -> None:
    crash = finding("host/segmentation-fault", source=1, format="faulthandler")

    assert rank_of(crash, *worker(3, 7003, -11), *worker(0, 7000, -6, line=103)) is None


def test_a_killed_worker_did_not_crash() -> None:
    crash = finding("host/segmentation-fault", source=1, format="faulthandler")

    assert rank_of(crash, *worker(0, 7000, -9)) is None


IN_CONTAINERS = Cluster(processes=tuple(Process(node="a", pid=61 + rank, rank=rank) for rank in range(3)))


def died(pid: int, code: str) -> Finding:
    return finding("launcher/worker-exit", source=8, pid=pid, code=code)


def test_who_was_killed_is_known_by_its_launcher_where_the_kernel_numbers_it_otherwise() -> None:
    root = incident("i1", finding("memory/host-oom-killed", source=1, pid=33120), subcategory="host-oom")
    root = msgspec.structs.replace(root, actor=Actor(node="a"))

    def named_of(*lines: Finding) -> int | None:
        chain = Chain(incidents=(root,), edges=(), root="i1")
        told = name_root(chain, JobView((root,), lines, IN_CONTAINERS)).incident("i1")
        return told.actor.rank if told is not None else None

    assert named_of(died(62, "-9")) == 1
    assert named_of(died(62, "-9"), died(63, "137")) is None
    assert named_of(died(62, "-15")) is None


def test_the_only_rank_that_says_that_its_device_failed_lost_it() -> None:
    root = incident("i1", finding("device/pcie-link-lost", source=1, format="syslog"), category="device")
    root = msgspec.structs.replace(root, actor=Actor(node="a"))
    others = [
        incident("e1", finding("device/lost", source=2, rank=1), category="device"),
        incident("e2", finding("hccl/x", source=3, rank=0), "symptom", waits=True),
    ]
    edges = tuple(Edge(cause="i1", effect=one.id, kind="signature", reason=TEXT) for one in others)
    chain = Chain(incidents=(root, *others), edges=edges, root="i1")

    told = name_root(chain, JobView((root, *others), (), Cluster())).incident("i1")
    assert told is not None
    assert told.actor.rank == 1


def test_the_number_of_a_device_os_is_less_than_a_rank_that_tells_of_the_same_fault() -> None:
    stated = msgspec.structs.replace(finding("device/apei", source=1), actor=Actor(node="a", pid=3505, device=4))
    root = incident("i1", stated, category="device", subcategory="hbm-ecc")
    own = incident("e1", finding("device/hbm", source=2, rank=5), category="device", subcategory="hbm-ecc")
    cluster = Cluster(processes=(Process(node="a", pid=61, rank=4, device=4),))
    chain = Chain(incidents=(root, own), root="i1")

    told = name_root(chain, JobView((root, own), (), cluster)).incident("i1")
    assert told is not None
    assert told.actor.rank == 5


def test_the_device_that_the_kernel_names_is_the_rank_that_says_it_runs_there() -> None:
    lost = finding("device/pcie-link-lost", source=1, format="dmesg", device=4)
    cluster = Cluster(
        processes=(Process(node=None, pid=61, rank=4, device=4), Process(node=None, pid=62, rank=5, device=5))
    )

    assert rank_of(lost, cluster=cluster) == 4


def test_a_stall_of_the_host_is_that_of_the_only_rank_for_which_all_others_wait() -> None:
    stall = finding("host/disk-io-error", source=1, format="syslog")

    assert rank_of(stall, waits=(0, 1, 2, 4, 5)) == 3


def test_with_two_ranks_absent_nobody_is_named() -> None:
    stall = finding("host/disk-io-error", source=1, format="syslog")

    assert rank_of(stall, waits=(0, 1, 4, 5)) is None


def test_the_store_of_torch_is_served_by_rank_0() -> None:
    lead = finding("host/port-in-use", 1.0, format="glog")
    quote = "[W311 09:41:02.1 socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500"
    lead = msgspec.structs.replace(lead, quote=quote, actor=msgspec.structs.replace(lead.actor, pid=None))
    root = incident("i1", lead, category="host")
    chain = Chain(incidents=(root,), edges=(), places={}, root="i1")
    view = JobView((root,), (), Cluster(processes=(), clocks=(), communicators=(), expected_ranks=None))

    told = name_root(chain, view).incident("i1")
    assert told is not None
    assert told.actor.rank == 0
