from __future__ import annotations

from plogscope.correlate.homes import Homes, at_home, find_homes
from tests.correlate.things import bundle, finding, source


def test_a_process_runs_on_the_one_node_that_has_its_plog() -> None:
    merged = source(2, "stdout", None)
    homes = find_homes([], bundle(source(0, "plog", "a", 41), source(1, "plog", "b", 51), merged))

    (placed,) = at_home([finding("x/y", merged, pid=51)], homes)

    assert placed.actor.node == "b"


def test_a_pid_that_two_nodes_have_says_nothing() -> None:
    homes = find_homes([], bundle(source(0, "plog", "a", 41), source(1, "plog", "b", 41)))

    assert homes.node(None, 41) is None


def test_an_address_is_another_name_of_the_node_whose_pids_it_prints() -> None:
    printed = source(2, "stdout", None)
    line = finding("x/y", printed, node="10.1.2.3", pid=41)

    homes = find_homes([line], bundle(source(0, "plog", "a", 41), printed))

    assert homes.node("10.1.2.3", 99) == "a"


def test_a_node_with_logs_of_its_own_keeps_its_name() -> None:
    assert Homes({41: "a"}, {}).node("b", 41) == "b"


def test_logs_in_a_folder_of_no_node_are_of_the_one_node_that_prints_their_pids() -> None:
    printed = source(1, "stdout", None)
    line = finding("x/y", printed, node="10.1.2.3", pid=41)

    homes = find_homes([line], bundle(source(0, "plog", None, 41), printed))

    assert homes.node("10.1.2.3", 41) == homes.node(None, 41)


def test_logs_of_two_nodes_in_one_folder_are_told_apart_by_the_pids_that_each_prints() -> None:
    printed = source(2, "stdout", None)
    lines = [finding("x/y", printed, node="10.1.2.3", pid=41), finding("x/y", printed, node="10.1.2.4", pid=51)]

    homes = find_homes(lines, bundle(source(0, "plog", None, 41), source(1, "plog", None, 51), printed))

    assert homes.node(None, 41) == "10.1.2.3"
    assert homes.node("10.1.2.4", 51) == homes.node(None, 51) == "10.1.2.4"
