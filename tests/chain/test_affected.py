"""A fault that several ranks share names all of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from plogscope.chain.affected import name_affected
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.model.chain import Chain, Cluster, Incident, Process, Suspect
from plogscope.model.signature import Field, Signature
from tests.chain.things import TEXT, finding, incident, signature

PROCESSES = tuple(Process(node="ab"[rank // 2], pid=40 + rank, rank=rank) for rank in range(4))


def said(rank: int, name: str = "host/x", subcategory: str | None = None, **fields: str) -> Incident:
    lead = structs.replace(finding(name, 1.0 + rank, source=rank, rank=rank), fields=fields)
    return incident(f"i{rank}", lead, category="host", subcategory=subcategory)


def named(
    incidents: Sequence[Incident], known: Signature | None = None, checked: Sequence[CheckerResult] = ()
) -> list[int | None]:
    cluster = Cluster(processes=PROCESSES, clocks=(), communicators=(), expected_ranks=4)
    chain = Chain(incidents=tuple(incidents), edges=(), places={}, root=incidents[0].id)
    rule = known or signature("host/x")
    found = name_affected(chain, JobView(tuple(incidents), (), cluster), {rule.id: rule}, checked)
    return [one.rank for one in found.suspects]


def test_ranks_that_state_the_same_share_the_fault() -> None:
    assert named([said(2, value="eth7"), said(3, value="eth7"), said(1, value="eth0 is down")]) == [2, 3]
    assert named([said(2, value="pid 77"), said(3, value="pid 78")]) == [2, 3]


def test_one_rank_alone_is_named_by_the_root() -> None:
    assert named([said(2)]) == []


def test_what_is_said_of_a_peer_is_no_fault_of_ones_own() -> None:
    about = signature("host/x", extract={"peer": Field(type="int", meaning="remote_rank")})
    assert named([said(2, peer="1"), said(3, peer="1")], about) == []


def test_of_two_versions_the_rarer_is_odd_and_of_equal_sides_that_without_the_first_rank() -> None:
    rule = signature("host/x", subcategory="version")
    sides = [said(rank, subcategory="version", value=value) for rank, value in enumerate(["8.2", "8.2", "8.3", "8.3"])]

    assert named(sides, rule) == [2, 3]
    assert named([sides[3], *sides[1:3], said(0, subcategory="version", value="8.3")], rule) == [1]


def test_a_cause_of_a_machine_affects_the_missing_ranks_or_those_that_ran_there() -> None:
    whose = said(2)
    nobody = structs.replace(whose, actor=structs.replace(whose.actor, node="b", pid=None, rank=None))
    nobody = structs.replace(nobody, lead=structs.replace(nobody.lead, actor=nobody.actor))
    counted = CheckerResult(
        rule="x", kind="suspects", reason=TEXT, proven=True, suspects=(Suspect(rank=1, why=TEXT, need=TEXT),)
    )

    assert named([nobody]) == [2, 3]
    assert named([nobody], checked=[counted]) == [1]


def test_a_machine_that_went_down_affects_the_missing_ranks_and_those_that_ran_there() -> None:
    whose = said(2, subcategory="reboot")
    logged_in = structs.replace(whose.actor, node="b", pid=1123, rank=None)
    down = structs.replace(whose, actor=logged_in, lead=structs.replace(whose.lead, actor=logged_in))
    counted = CheckerResult(
        rule="x", kind="suspects", reason=TEXT, proven=True, suspects=(Suspect(rank=1, why=TEXT, need=TEXT),)
    )

    assert sorted(named([down], checked=[counted]), key=str) == [1, 2, 3]


def test_a_cause_that_a_cluster_writes_affects_the_ranks_of_the_node_that_it_names() -> None:
    evicted = said(2)
    nobody = structs.replace(evicted.actor, node=None, pid=None, rank=None)
    line = structs.replace(evicted.lead, actor=nobody, quote="12m  Warning  Evict  pod/b  Pod is evicted")
    both = structs.replace(line, quote="12m  Warning  Evict  pod/b  Pod is evicted for a")

    assert named([structs.replace(evicted, actor=nobody, lead=line)]) == [2, 3]
    assert named([structs.replace(evicted, actor=nobody, lead=both)]) == []


def test_a_launcher_names_who_was_killed_for_a_cause_of_the_machine() -> None:
    cause = said(2)
    task = structs.replace(cause.lead, fields={"rank": "1"})
    nobody = structs.replace(cause.actor, pid=None, rank=None)
    memory = structs.replace(cause, actor=nobody, findings=(cause.lead, task), category="memory")

    assert named([memory]) == [1]


def test_of_those_that_were_compared_only_the_odd_one_is_wrong() -> None:
    said_by = [said(rank, value=value) for rank, value in ((2, "4"), (0, "8"), (1, "8"))]
    odd = CheckerResult(
        rule="x", kind="root", reason=TEXT, incident="i2", proven=True, covers=tuple(one.id for one in said_by)
    )

    assert named(said_by) == [0, 1, 2]
    assert named(said_by, checked=[odd]) == []
    assert named(said_by, checked=[structs.replace(odd, proven=False)]) == [0, 1, 2]
