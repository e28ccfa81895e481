from __future__ import annotations

import msgspec

from plogscope.correlate.victims import name_victims
from plogscope.data import grammar_root
from plogscope.grammar.compile import read_grammar
from plogscope.model.chain import Cluster, Incident, Process
from plogscope.model.record import Finding
from plogscope.model.vocabulary import Text
from tests.correlate.things import finding, source

ROOT = grammar_root()
assert ROOT is not None
SIGNATURES = read_grammar(ROOT).by_id()
JOB = Cluster(processes=tuple(Process(node="a", pid=41 + n, rank=n, device=n) for n in range(3)))
OUTPUT = source(0, "stdout", "a")


def incident(lead: Finding, *, waits: bool = False) -> Incident:
    return Incident(
        id=f"i{lead.line}",
        lead=lead,
        findings=(lead,),
        signature=lead.signature,
        title=Text("t", "t"),
        role="symptom" if waits else "cause",
        category="host",
        actor=lead.actor,
        waits=waits,
    )


def test_a_kernel_line_is_about_the_process_whose_pid_it_names() -> None:
    line = finding("memory/host-oom-killed", source(1, "host-system", "a"), format="dmesg")
    line = msgspec.structs.replace(line, fields={"pid": "42"})

    (named,) = name_victims([incident(line)], [], SIGNATURES, JOB)

    assert (named.actor.pid, named.actor.rank, named.actor.device) == (42, 1, 1)


def test_a_pid_of_another_node_is_somebody_else() -> None:
    line = finding("memory/host-oom-killed", source(1, "host-system", "b"), format="dmesg")
    line = msgspec.structs.replace(line, fields={"pid": "42"})

    (named,) = name_victims([incident(line)], [], SIGNATURES, JOB)

    assert named.actor.rank is None


def crash_of(pid: str) -> Incident:
    lead = finding("launcher/kernel-killed-by-signal", source(1, "host-system", "a"), format="syslog")
    crash = incident(msgspec.structs.replace(lead, fields={"pid": pid}))
    return msgspec.structs.replace(crash, role="either", subcategory="native-crash", hushed=True)


def test_a_crash_that_the_kernel_notes_of_a_rank_is_a_cause() -> None:
    (named,) = name_victims([crash_of("42")], [], SIGNATURES, JOB)

    assert (named.actor.rank, named.role, named.hushed) == (1, "cause", False)


def test_a_rank_that_complained_before_crashed_while_it_ended() -> None:
    crash, _ = name_victims([crash_of("42"), waiting(1)], [], SIGNATURES, JOB)

    assert (crash.role, crash.hushed) == ("either", False)


def test_a_crash_of_a_program_that_is_no_rank_stays_a_hint() -> None:
    (named,) = name_victims([crash_of("900")], [], SIGNATURES, JOB)

    assert (named.role, named.hushed) == ("either", True)


def test_a_crash_of_a_child_is_about_the_process_that_reports_its_end() -> None:
    lead = finding("python/dataloader-worker-killed", source(12, "plog", "a", 43), rank=2)
    told = incident(msgspec.structs.replace(lead, fields={"pid": "900"}))
    told = msgspec.structs.replace(told, role="either")

    crash, _ = name_victims([crash_of("900"), told], [], SIGNATURES, JOB)

    assert (crash.actor.rank, crash.role, crash.hushed) == (2, "cause", False)


def nameless(line: int = 5) -> Incident:
    return incident(finding("python/value-error", OUTPUT, line=line))


def waiting(rank: int, line: int = 90) -> Incident:
    lead = finding("hccl/task-failed", source(10 + rank, "plog", "a", 41 + rank), line=line, rank=rank)
    return incident(lead, waits=True)


def test_a_nameless_failure_is_that_of_the_only_rank_of_the_node_that_does_not_wait() -> None:
    named = name_victims([nameless(), waiting(0), waiting(2)], [], SIGNATURES, JOB)

    assert named[0].actor.rank == 1


def test_a_nameless_failure_of_two_candidates_stays_nameless() -> None:
    assert name_victims([nameless(), waiting(0)], [], SIGNATURES, JOB)[0].actor.rank is None


def summary(rank: int, code: int) -> list[Finding]:
    rows: tuple[tuple[str, dict[str, object]], ...] = (
        ("launcher/first-observed-failure", {}),
        ("launcher/summary-rank", {"rank": rank, "local_rank": rank}),
        ("launcher/summary-exit", {"code": code}),
    )
    return [finding(name, OUTPUT, line=30 + number, says=fields) for number, (name, fields) in enumerate(rows)]


def test_the_worker_that_the_launcher_saw_exit_first_raised_the_first_exception() -> None:
    assert name_victims([nameless()], summary(2, 1), SIGNATURES, JOB)[0].actor.rank == 2


def test_so_it_did_where_the_first_failure_is_printed_like_a_record_of_a_logger() -> None:
    lead = finding("memory/shared-memory-exhausted", OUTPUT, line=5, format="py-logging")
    said = incident(lead)

    assert name_victims([said], summary(2, 1), SIGNATURES, JOB)[0].actor.rank == 2
    unsure = msgspec.structs.replace(said, role="either")
    assert name_victims([unsure], summary(2, 1), SIGNATURES, JOB)[0].actor.rank is None
    caught = name_victims([msgspec.structs.replace(said, hushed=True)], summary(2, 1), SIGNATURES, JOB)[0]
    assert (caught.actor.rank, caught.hushed) == (None, True)


def test_a_worker_that_was_killed_raised_nothing() -> None:
    assert name_victims([nameless()], summary(2, -9), SIGNATURES, JOB)[0].actor.rank is None


def test_the_first_exit_can_be_a_victim_when_somebody_waited_before() -> None:
    wait = incident(finding("hccl/torch-watchdog-timeout", OUTPUT, line=9), waits=True)

    assert name_victims([nameless(), wait], summary(2, 1), SIGNATURES, JOB)[0].actor.rank is None
