from __future__ import annotations

from plogscope.correlate.identity import Identities, complete_actors, identify, sole_processes
from plogscope.data import grammar_root
from plogscope.grammar.compile import read_grammar
from plogscope.model.record import Actor, Finding
from tests.correlate.things import bundle, finding, source

ROOT = grammar_root()
assert ROOT is not None
SIGNATURES = read_grammar(ROOT).by_id()
ENTRY = "hccl/entry-comm-init"
SUCCESS = "hccl/comm-init-success"
SEAT = "hccl/local-rank-key-info"


def identified(*findings: Finding) -> Identities:
    return identify(findings, SIGNATURES)


def ranks(identities: Identities) -> dict[int | None, int | None]:
    return {pid: process.rank for (_, pid), process in identities.processes.items()}


def joined(pid: int, rank: int, size: int, name: str, node: str = "a") -> Finding:
    return finding(SUCCESS, source(pid, "plog", node, pid), communicator=name, rank_size=size, says={"rank": rank})


def test_the_rank_in_the_largest_communicator_is_the_world_rank() -> None:
    identities = identified(joined(41, 1, 2, "tp"), joined(41, 5, 8, "world"), joined(42, 0, 2, "tp"))

    assert ranks(identities) == {41: 5, 42: None}
    assert identities.expected_ranks == 8


def test_a_communicator_that_is_smaller_than_the_highest_rank_is_not_the_job() -> None:
    part, output = joined(41, 1, 2, "pp"), source(9, "stdout", "a", 44)

    assert identified(part).expected_ranks == 2
    identities = identified(part, finding("x/y", output, rank=7))
    assert identities.expected_ranks is None
    assert ranks(identities) == {41: None, 44: 7}


def test_a_prefix_wins_over_the_seat_in_a_communicator() -> None:
    output = source(9, "stdout", "a", 41)

    assert ranks(identified(joined(41, 1, 2, "g"), finding("x/y", output, rank=17)))[41] == 17


def test_what_a_line_says_in_words_wins_over_the_number_in_its_brackets() -> None:
    plog = source(0, "plog", "a", 40)
    seen = finding(
        "hccl/hcom-init", plog, pid=40, rank=3,
        says={"rank": 1}, communicator="hccl-40-0-1675133310-hccl_world_group", rank_size=8,
    )  # fmt: skip

    assert ranks(identified(seen)) == {40: 1}


def test_the_only_seats_that_are_known_are_the_ranks() -> None:
    found = identified(*(finding(SEAT, source(pid, "plog", "a", pid), group_rank=pid - 40) for pid in (43, 46)))

    assert ranks(found) == {43: 3, 46: 6}


def test_seats_that_collide_are_of_different_communicators() -> None:
    found = identified(*(finding(SEAT, source(pid, "plog", "a", pid), group_rank=0) for pid in (43, 46)))

    assert ranks(found) == {43: None, 46: None}


def test_a_process_with_two_seats_is_not_guessed() -> None:
    own = source(0, "plog", "a", 43)

    assert ranks(identified(finding(SEAT, own, group_rank=1), finding(SEAT, own, line=2, group_rank=5))) == {43: None}


def test_the_launchers_summary_names_rank_and_local_rank_of_a_pid() -> None:
    log, plog = source(0, "stdout", "a"), source(1, "plog", "a", 43)
    found = identified(
        finding("x/y", plog),
        finding("launcher/summary-rank", log, line=10, says={"rank": 11, "local_rank": 3}),
        finding("launcher/summary-exit", log, line=11, says={"code": 1, "pid": 43}),
    )

    assert ranks(found) == {43: 11}
    assert found.local_ranks == {("a", 43): 3}


def test_a_launcher_says_nothing_about_a_process_that_wrote_nothing() -> None:
    log = source(0, "stdout", "a")
    rows = (
        finding("launcher/summary-rank", log, line=10, says={"rank": 11, "local_rank": 3}),
        finding("launcher/summary-exit", log, line=11, code=1),
    )

    assert identified(*rows).processes == {}


def completed(found: Identities, line: Finding) -> Actor:
    (one,) = complete_actors([line], found, {})
    return one.actor


def test_a_line_with_a_local_rank_is_of_the_process_in_that_seat_of_its_node() -> None:
    found = identified(*(joined(pid, rank, 4, "w", node) for pid, rank, node in ((41, 2, "b"), (42, 3, "b"))))
    line = finding("x/y", source(9, "stdout", "b"), local_rank=1)

    assert (completed(found, line).pid, completed(found, line).rank) == (42, 3)


def test_ranks_that_are_no_complete_block_give_no_seats() -> None:
    found = identified(joined(41, 5, 8, "w"), joined(42, 7, 8, "w"))

    assert found.local_ranks == {}


def test_a_rank_in_a_file_of_no_node_is_looked_for_on_all() -> None:
    found = identified(joined(41, 2, 4, "w", "a"), joined(51, 3, 4, "w", "b"))

    actor = completed(found, finding("x/y", source(9, "stdout", None), rank=3))

    assert (actor.node, actor.pid) == ("b", 51)


def test_a_rank_that_two_jobs_have_stays_open() -> None:
    found = identified(joined(41, 3, 4, "w", "a"), joined(51, 3, 4, "v", "b"))

    assert completed(found, finding("x/y", source(9, "stdout", None), rank=3)).pid is None


def test_output_that_names_one_pid_is_of_that_process_unless_it_is_the_launcher() -> None:
    plog, own, launcher = source(0, "plog", "a", 41), source(1, "stdout", "a"), source(2, "stdout", "a")
    findings = [finding("x/y", own, pid=41), finding("x/y", launcher, pid=7)]

    assert sole_processes(findings, bundle(plog, own, launcher)) == {1: 41}


def test_the_sign_for_no_rank_is_no_rank() -> None:
    line = finding(ENTRY, source(0, "plog", "a", 41), communicator="w", rank_size=8, says={"rank": 4_294_967_295})

    assert ranks(identified(line)) == {41: None}


def test_a_rank_that_runs_in_one_folder_share_is_looked_for_in_its_own_file_first() -> None:
    first, second = source(0, "stdout", None), source(1, "stdout", None)
    heard = [
        finding("x/y", first, pid=41, local_rank=0),
        finding("x/y", second, pid=51, local_rank=0),
    ]
    line = finding("x/y", second, local_rank=0)

    placed = complete_actors([*heard, line], identify(heard, {}), {})

    assert placed[-1].actor.pid == 51
