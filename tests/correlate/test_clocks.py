from __future__ import annotations

import pytest

from plogscope.correlate.clocks import Clocks, find_clocks, on_reference
from plogscope.correlate.skew import COMM_INIT_SUCCESS
from plogscope.model.chain import Clock
from tests.correlate.things import SECOND_NS, START_NS, bundle, finding, source

HOUR_S = 3600.0


def span(first_s: float, last_s: float) -> tuple[int, int]:
    return START_NS + int(first_s * SECOND_NS), START_NS + int(last_s * SECOND_NS)


def clock(clocks: Clocks, name: str) -> Clock:
    (found,) = [one for one in clocks.clocks if one.name == name]
    return found


def test_one_error_in_plog_and_output_proves_the_zone() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)
    findings = [finding("x/y", plog, 8 * HOUR_S + 3), finding("x/z", output, 4.0)]

    clocks = find_clocks(bundle(plog, output), findings, {})

    found = clock(clocks, "a/stdout")
    assert (found.offset_s, found.basis) == (8 * HOUR_S, "proven")
    assert clock(clocks, "a/plog").basis == "reference"


def test_half_an_hour_between_two_errors_is_a_timeout_and_no_zone() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)
    findings = [finding("x/y", plog, 0.0), finding("x/z", output, 1800.0)]

    found = clock(find_clocks(bundle(plog, output), findings, {}), "a/stdout")

    assert (found.offset_s, found.basis) == (0.0, "assumed")


def test_output_and_plogs_that_begin_and_end_together_prove_the_zone() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)
    spans = {0: span(0, 5000), 1: span(-HOUR_S + 2, 5000 - HOUR_S - 3)}

    assert clock(find_clocks(bundle(plog, output), [], spans), "a/stdout").offset_s == HOUR_S


def test_the_one_zone_of_all_other_nodes_needs_only_one_end_that_fits() -> None:
    sources = (
        source(0, "plog", "a"),
        source(1, "stdout", "a"),
        source(2, "plog", "b"),
        source(3, "stdout", "b"),
    )
    spans = {0: span(0, 5000), 1: span(-HOUR_S, 5000 - HOUR_S), 2: span(0, 5000), 3: span(-HOUR_S, 900 - HOUR_S)}

    assert clock(find_clocks(bundle(*sources), [], spans), "b/stdout").offset_s == HOUR_S


def test_a_communicator_on_two_nodes_proves_plogs_and_output_of_the_other() -> None:
    here, there, output = source(0, "plog", "a", 41), source(1, "plog", "b", 51), source(2, "stdout", "b", 51)
    findings = [
        finding(COMM_INIT_SUCCESS, here, 10.0, level="INFO", communicator="w"),
        finding(COMM_INIT_SUCCESS, there, 100.0, level="INFO", communicator="w"),
        finding("x/y", there, 200.0),
        finding("x/z", output, 200.0 - HOUR_S),
    ]

    clocks = find_clocks(bundle(here, there, output), findings, {})

    assert clock(clocks, "b/plog").offset_s == pytest.approx(-90.0)
    assert clock(clocks, "b/stdout").offset_s == pytest.approx(HOUR_S - 90.0)
    assert {clock(clocks, name).basis for name in ("b/plog", "b/stdout")} == {"proven"}
    placed = on_reference(findings, clocks)
    assert placed[0].order_ns == placed[1].order_ns
    assert placed[2].order_ns == placed[3].order_ns


def test_in_a_merged_log_each_line_stands_on_the_clock_of_its_own_node() -> None:
    here, there, merged = source(0, "plog", "a", 41), source(1, "plog", "b", 51), source(2, "stdout", None)
    findings = [
        finding(COMM_INIT_SUCCESS, here, 10.0, level="INFO", communicator="w"),
        finding(COMM_INIT_SUCCESS, there, 100.0, level="INFO", communicator="w"),
        finding("x/y", there, 200.0),
        finding("x/z", merged, 200.0, node="b", pid=51),
        finding("x/z", merged, 200.0, line=2),
    ]

    clocks = find_clocks(bundle(here, there, merged), findings, {})
    placed = on_reference(findings, clocks)

    assert placed[3].order_ns == placed[2].order_ns
    assert clocks.clocks[placed[3].clock].name == "b/stdout"
    assert clocks.clocks[placed[4].clock].basis == "assumed"


def test_a_system_log_stands_in_the_zone_of_the_plogs_only_when_something_fits() -> None:
    plog, output, system = source(0, "plog", "a", 41), source(1, "stdout", "a", 41), source(2, "host-system", "a")
    printed = [finding("x/y", plog, 8 * HOUR_S), finding("x/z", output, 0.0)]

    near = find_clocks(bundle(plog, output, system), [*printed, finding("k/k", system, 8 * HOUR_S - 20)], {})
    far = find_clocks(bundle(plog, output, system), [*printed, finding("k/k", system, 2 * HOUR_S)], {})

    assert (clock(near, "a/host").offset_s, clock(near, "a/host").basis) == (0.0, "proven")
    assert clock(far, "a/host").basis == "assumed"


def test_nodes_without_a_shared_event_stay_assumed() -> None:
    clocks = find_clocks(bundle(source(0, "plog", "a"), source(1, "plog", "b")), [], {})

    assert clock(clocks, "b/plog").basis == "assumed"


def test_an_empty_bundle_has_no_clock() -> None:
    assert find_clocks(bundle(), [], {}).clocks == ()
