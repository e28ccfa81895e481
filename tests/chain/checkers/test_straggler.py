from __future__ import annotations

from datetime import datetime, timedelta, timezone

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.straggler import check
from plogscope.model.chain import Clock
from plogscope.model.record import Finding
from tests.chain.checkers.job import SECOND_NS, START_NS, WORLD, Job


def printed(at_s: float) -> str:
    moment = datetime.fromtimestamp(START_NS // SECOND_NS, tz=timezone.utc) + timedelta(seconds=at_s)
    return f"{moment:%Y-%m-%d-%H:%M:%S}.000.000"


def test_the_rank_that_issued_later_than_the_limit_is_the_first_cause() -> None:
    job = Job(expected=4)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for rank in (0, 1, 2):
        job.reports_task(rank, 400.0, issued=printed(100.0))
    late = job.reports_task(3, 800.0, issued=printed(480.0))

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", late.id, True)
    assert result.finding is not None
    assert result.finding.signature == "hccl/task-failed-op"
    assert "380 s" in result.reason.en


def test_a_gap_below_the_limit_is_ordinary() -> None:
    job = Job(expected=4)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for rank in range(4):
        job.reports_task(rank, 400.0, issued=printed(100.0 + rank * 20))

    assert check(job.view()) == []


def test_a_limit_of_zero_means_that_nobody_gives_up() -> None:
    job = Job(expected=2)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=0)
    job.reports_task(0, 5000.0, size=2, issued=printed(0.0))
    job.reports_task(1, 5000.0, size=2, issued=printed(4000.0))

    assert check(job.view()) == []


def test_a_gap_that_the_clocks_cannot_prove_says_nothing() -> None:
    clocks = (Clock(id=0, name="n0"), Clock(id=1, name="n1", uncertainty_s=1e8, basis="assumed"))
    job = Job(expected=2, clocks=clocks)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    job.reports_task(0, 400.0, size=2, issued=printed(100.0))
    job.reports_task(1, 900.0, size=2, issued=printed(600.0), clock=1)

    assert check(job.view()) == []


def test_a_rank_that_came_too_late_to_report_there_counts_with_its_report_elsewhere() -> None:
    job = Job(expected=4)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for rank in range(3):
        job.says(rank, "hccl/entry-comm-init", 0.0, communicator="group_name_1", rank_size=3, rank=rank)
    for rank in (1, 2):
        job.reports_task(
            rank, 400.0, communicator="group_name_1", tag="AllReduce_group_name_1", size=3, issued=printed(100.0)
        )
    late = job.reports_task(0, 800.0, remote=3, issued=printed(480.0))

    results = check(job.view())

    assert [result.incident for result in results] == [late.id]


def test_the_rank_that_entered_creation_too_late_is_named_by_its_entry_line() -> None:
    job = Job(expected=3)
    for rank, at_s in ((0, 0.0), (1, 0.4), (2, 200.0)):
        job.says(rank, "hccl/entry-comm-init", at_s, communicator=WORLD, rank_size=3, rank=rank)

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", None)
    assert result.finding is not None
    assert result.finding.actor.rank == 2


def test_a_communicator_that_came_up_has_no_straggler() -> None:
    job = Job(expected=2)
    for rank, at_s in ((0, 0.0), (1, 200.0)):
        job.says(rank, "hccl/entry-comm-init", at_s, communicator=WORLD, rank_size=2, rank=rank)
    job.says(0, "hccl/comm-init-success", 201.0, communicator=WORLD, rank_size=2, rank=0)

    assert check(job.view()) == []


def waits_from(job: Job, rank: int, began_s: float, gave_up_s: float) -> str:
    """A wait of another kind than a report of a task: the watchdog of PyTorch says how long it ran."""
    incident = job.fails(rank, "hccl/torch-watchdog-timeout", gave_up_s)
    start = START_NS + int(began_s * SECOND_NS)
    job.incidents[-1] = msgspec.structs.replace(incident, start_ns=start)
    return incident.id


def test_the_only_rank_that_began_to_wait_after_the_others_had_given_up_is_the_straggler() -> None:
    job = Job(expected=4)
    for rank in (0, 1, 3):
        waits_from(job, rank, 0.0 + rank, 1800.0 + rank)
    late = waits_from(job, 2, 2400.0, 4200.0)

    (result,) = check(job.view())

    assert (result.kind, result.incident, result.proven) == ("root", late, True)
    assert "rank 2" in result.reason.en


def test_nobody_is_late_when_a_rank_of_the_job_does_not_wait() -> None:
    job = Job(expected=5)
    for rank in (0, 1, 3):
        waits_from(job, rank, 0.0 + rank, 1800.0 + rank)
    waits_from(job, 2, 2400.0, 4200.0)

    assert check(job.view()) == []


def test_nobody_is_late_when_several_ranks_began_late() -> None:
    job = Job(expected=4)
    for rank, began_s in ((0, 0.0), (1, 1.0), (2, 2400.0), (3, 2401.0)):
        waits_from(job, rank, began_s, began_s + 1800.0)

    assert check(job.view()) == []


def test_a_rank_that_the_root_counts_as_connected_did_not_come_too_late() -> None:
    job = Job(expected=4)
    for rank, at_s in ((0, 200.0), (1, 0.4), (2, 0.0)):
        job.says(rank, "hccl/entry-comm-init", at_s, communicator=WORLD, rank_size=4, rank=rank)
    job.fails(0, "hccl/agents-missing", 320.0, missing="3,")

    assert check(job.view()) == []


def test_logs_of_no_known_node_share_a_clock_only_on_one_server() -> None:
    job = Job(expected=3)
    for rank, at_s in ((0, 0.0), (1, 0.4), (2, 200.0)):
        job.seen(rank)
        job.processes[rank] = msgspec.structs.replace(job.processes[rank], node=None)
        job.says(rank, "hccl/entry-comm-init", at_s, communicator=WORLD, rank_size=3, rank=rank)
        job.says(rank, "hccl/setup-agent", at_s, communicator=WORLD, rank=rank, address=f"10.44.3.{rank // 2}")

    assert check(job.view()) == []


def nameless(job: Job) -> JobView:
    """The view of the job in logs that do not tell on which node they were written."""
    view = job.view()

    def bare(one: Finding) -> Finding:
        return msgspec.structs.replace(one, actor=msgspec.structs.replace(one.actor, node=None))

    incidents = tuple(msgspec.structs.replace(one, lead=bare(one.lead)) for one in view.incidents)
    return msgspec.structs.replace(view, incidents=incidents, findings=tuple(map(bare, view.findings)))


def test_two_close_groups_in_logs_of_no_known_node_are_two_clocks() -> None:
    job = Job(expected=4)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for rank in range(4):
        job.reports_task(rank, 900.0, issued=printed(100.0 + rank + 400.0 * (rank > 1)))

    assert check(job.view()) != []
    assert check(nameless(job)) == []


def test_one_late_rank_is_a_straggler_whether_its_node_is_known_or_not() -> None:
    job = Job(expected=4)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for rank in range(4):
        job.reports_task(rank, 900.0, issued=printed(100.0 + rank + 400.0 * (rank == 3)))

    assert len(check(nameless(job))) == 1


def test_many_late_ranks_of_no_known_node_each_in_another_communicator_share_a_clock() -> None:
    job = Job(expected=8)
    job.says(0, "hccl/exec-timeout-env", 0.0, limit=300)
    for pair in range(4):
        name = f"group_name_{pair}"
        for inside, rank in enumerate((pair, pair + 4)):
            job.reports_task(
                rank, 900.0, issued=printed(100.0 + pair + 400.0 * inside), size=2, inside=inside,
                communicator=name, tag=f"AllReduce_{name}",
            )  # fmt: skip

    assert len(check(job.view())) == 4
    assert check(nameless(job)) == []
