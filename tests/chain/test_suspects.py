from __future__ import annotations

import msgspec
import pytest

from plogscope.chain.suspects import suspects_of
from plogscope.model.chain import Cluster, Communicator, Incident, Process, Suspect
from plogscope.model.record import Finding
from plogscope.model.signature import Field
from tests.chain.things import finding, incident, signature

WAIT = signature("x/wait", "symptom", waits=True, extract={"remote_rank": Field("int", "remote_rank"), "tag": Field()})
PATHS = dict.fromkeys(range(9), "plog.log")
WORLD = (Communicator(identifier="world", size=8), Communicator(identifier="tp", size=2))


def wait(rank: int, remote: int, tag: str = "") -> Incident:
    lead = finding("x/wait", 1.0, source=rank, rank=rank, remote_rank=remote, tag=tag)
    return incident(f"i{rank}", lead, "symptom", waits=True)


def found(*waits: Incident, cluster: Cluster, context: tuple[Finding, ...] = ()) -> list[int | None]:
    return [one.rank for one in named(*waits, cluster=cluster, context=context)]


def named(*waits: Incident, cluster: Cluster, context: tuple[Finding, ...] = ()) -> tuple[Suspect, ...]:
    return suspects_of(waits, {"x/wait": WAIT}, cluster, PATHS, context)


def processes(*ranks: int) -> tuple[Process, ...]:
    return tuple(Process(node="a", pid=40 + rank, rank=rank) for rank in ranks)


def test_the_silent_peer_comes_before_one_that_waits_itself() -> None:
    cluster = Cluster(processes=processes(0, 1), expected_ranks=4)

    assert found(wait(0, 1), wait(1, 3), cluster=cluster) == [3]


def test_a_seat_in_a_part_of_the_job_is_told_as_the_world_rank() -> None:
    member = finding("hccl/entry-comm-init", source=7, rank=7, communicator="tp", rank_size=2)
    member = msgspec.structs.replace(member, fields={**member.fields, "rank": "1"})
    cluster = Cluster(processes=processes(6), communicators=WORLD, expected_ranks=8)

    assert found(wait(6, 1, tag="AllReduce_tp"), cluster=cluster, context=(member,)) == [7]


@pytest.mark.parametrize("tag", ["AllReduce_tp", ""])
def test_a_seat_of_unknown_members_is_not_taken_for_a_world_rank(tag: str) -> None:
    cluster = Cluster(processes=processes(6), communicators=WORLD)

    assert found(wait(6, 1, tag=tag), cluster=cluster) == []


def test_in_the_whole_job_the_seat_is_the_rank() -> None:
    cluster = Cluster(processes=processes(6), communicators=WORLD, expected_ranks=8)

    assert found(wait(6, 1, tag="AllReduce_world"), cluster=cluster) == [1]


def test_the_sign_for_no_rank_names_nobody() -> None:
    assert found(wait(0, 4_294_967_295), cluster=Cluster(processes=processes(0))) == []


def test_ranks_without_a_log_are_suspect_when_nobody_is_named() -> None:
    lead = finding("x/wait", 1.0, rank=0)
    cluster = Cluster(processes=processes(0, 1, 3), expected_ranks=4)

    assert found(incident("i1", lead, "symptom", waits=True), cluster=cluster) == [2]


def test_the_first_exit_of_the_launcher_is_suspect_when_nobody_is_named() -> None:
    head = finding("launcher/first-observed-failure", source=8, line=40)
    row = msgspec.structs.replace(finding("launcher/summary-rank", source=8, line=43), fields={"rank": "5"})

    assert found(cluster=Cluster(), context=(head, row)) == [5]


def lost_peer(rank: int) -> Incident:
    return incident(f"i{rank}", finding("x/lost", 1.0, source=rank, rank=rank), "symptom")


def test_the_one_rank_missing_among_its_neighbours_is_suspect_when_no_line_says_how_many_there_are() -> None:
    assert found(*map(lost_peer, (0, 1, 3)), cluster=Cluster()) == [2]


def test_a_few_logs_of_many_ranks_make_nobody_suspect() -> None:
    assert found(*map(lost_peer, (0, 7)), cluster=Cluster()) == []


def lone_wait(rank: int, name: str = "x/wait") -> Incident:
    return incident(f"i{rank}", finding(name, 1.0, source=rank, rank=rank), "symptom", waits=True)


def test_the_rank_that_reports_no_wait_is_suspect_when_the_others_name_nobody() -> None:
    calm = (finding("x/step", 1.0, source=2, rank=2),)

    assert found(lone_wait(0), lone_wait(1), cluster=Cluster(processes=processes(0, 1)), context=calm) == [2]
    assert found(lone_wait(0), cluster=Cluster(processes=processes(0)), context=calm) == []
    other = incident("i9", finding("x/a", 1.0, source=1, rank=1), "symptom")
    assert found(lone_wait(0), other, cluster=Cluster(processes=processes(0, 1)), context=calm) == []


def test_rank_0_is_suspect_when_nobody_reaches_the_store_and_nothing_is_heard_of_it() -> None:
    no_store = "hccl/store-client-timeout"

    assert found(lone_wait(3, no_store), cluster=Cluster(processes=processes(3))) == [0]
    assert found(lone_wait(0, no_store), cluster=Cluster(processes=processes(0))) == []
    assert found(lone_wait(3), cluster=Cluster(processes=processes(3))) == []
