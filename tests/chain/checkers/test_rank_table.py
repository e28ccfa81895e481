from __future__ import annotations

import msgspec

from plogscope.chain.checkers.rank_table import check
from plogscope.model.record import Actor
from tests.chain.checkers.job import Job

PATH, FAMILY, TWICE = "hccl/ranktable-path-invalid", "hccl/device-ip-family-mixed", "hccl/super-device-id-duplicate"


def misreads(job: Job, reader: int, signature: str, entry: int | None = None, **fields: str | int) -> str:
    """A rank states a defect of the table; `entry` is the rank whose entry its line names."""
    incident = job.fails(reader, signature, float(reader), role="cause", waits=False)
    stated = {**fields, "rank": entry} if entry is not None else fields
    lead = msgspec.structs.replace(incident.lead, fields={name: str(value) for name, value in stated.items()})
    job.incidents[-1] = msgspec.structs.replace(incident, lead=lead, findings=(lead,), subcategory="rank-table")
    return incident.id


def test_a_table_that_all_ranks_report_is_nobodys_fault() -> None:
    job = Job(expected=4)
    ids = tuple(misreads(job, rank, PATH, path="/job/table.json") for rank in range(4))

    (result,) = check(job.view())

    assert (result.kind, result.actor, result.proven, result.covers) == ("root", Actor(), True, ids)
    assert "4 processes" in result.reason.en


def test_a_table_that_only_the_ranks_of_one_node_report_is_that_of_the_node() -> None:
    job = Job(expected=16)
    for rank in range(16):
        job.seen(rank)
    for rank in range(8, 16):
        misreads(job, rank, PATH, path="/job/table.json")

    (result,) = check(job.view())

    assert result.actor == Actor(node="n1")


def test_an_entry_that_the_line_names_is_the_fault_of_its_rank_at_its_own_record() -> None:
    job = Job(expected=4)
    ids = [misreads(job, rank, FAMILY, 2, value=2, expected=10) for rank in range(4)]

    (result,) = check(job.view())

    assert result.actor == Actor(rank=2, node="n0", pid=4002, device=2)
    assert (result.incident, result.finding) == (ids[2], job.incidents[2].lead)


def test_the_entry_of_a_rank_without_a_log_is_still_its_own() -> None:
    job = Job(expected=4)
    first = misreads(job, 0, FAMILY, 3)
    misreads(job, 1, FAMILY, 3)

    (result,) = check(job.view())

    assert (result.actor, result.incident) == (Actor(rank=3), first)


def test_two_entries_that_collide_are_both_at_fault() -> None:
    job = Job(expected=4)
    for rank in range(4):
        misreads(job, rank, TWICE, 1, remote_rank=3)

    (result,) = check(job.view())

    assert [one.rank for one in result.suspects] == [1, 3]


def test_a_single_reader_speaks_for_itself() -> None:
    job = Job(expected=4)
    misreads(job, 2, PATH, path="/job/table.json")

    assert check(job.view()) == []


def test_ranks_that_state_different_things_speak_of_their_own_entries() -> None:
    job = Job(expected=4)
    for rank in range(4):
        misreads(job, rank, "hccl/device-ip-inconsistent", value=f"192.0.2.{rank}", expected="192.0.2.9")

    assert check(job.view()) == []
