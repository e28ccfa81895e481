from __future__ import annotations

import msgspec
import pytest

from plogscope.correlate.clocks import Clocks, find_clocks, on_reference
from plogscope.correlate.skew import COMM_INIT_SUCCESS
from plogscope.model.chain import Clock
from plogscope.model.record import Finding
from plogscope.model.source import Source
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


def named(where: Source, instant_s: float, at_s: float, zone_s: float, line: int = 1) -> Finding:
    """A line that names a communicator, written so long after the instant at which its root made it."""
    micros = (START_NS + int(instant_s * SECOND_NS)) // 1000
    line_of = finding("x/enters", where, at_s + zone_s, line=line, level="INFO")
    return msgspec.structs.replace(line_of, quote=f"rank[0], identifier[10.44.3.1%eno2_60000_0_{micros}]")


def test_instants_in_utc_prove_zones_of_nodes_that_share_no_event() -> None:
    here, there = source(0, "plog", "a", 41), source(1, "plog", "b", 51)
    findings = [
        named(where, instant, instant + 1.0, zone, line=1 + int(instant))
        for where, zone in ((here, 8 * HOUR_S), (there, 9 * HOUR_S))
        for instant in (0.0, 40.0)
    ]

    clocks = find_clocks(bundle(here, there), findings, {})

    other = clock(clocks, "b/plog")
    assert (other.offset_s, other.basis, other.proof) == (-HOUR_S, "proven", "epochs")
    assert (clock(clocks, "a/plog").zone_s, other.zone_s) == (8 * HOUR_S, 9 * HOUR_S)
    assert other.uncertainty_s >= 240.0
    assert clocks.utc_offset_ns == 8 * HOUR_S * SECOND_NS


def test_one_instant_is_no_proof_and_nothing_is_called_utc() -> None:
    here, there = source(0, "plog", "a", 41), source(1, "plog", "b", 51)
    findings = [named(here, 0.0, 1.0, 8 * HOUR_S), named(there, 0.0, 1.0, 9 * HOUR_S)]

    clocks = find_clocks(bundle(here, there), findings, {})

    assert (clock(clocks, "b/plog").basis, clock(clocks, "b/plog").offset_s) == ("assumed", 0.0)
    assert clocks.utc_offset_ns is None


def test_output_that_states_its_zone_is_placed_by_it() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a")
    stamped = [
        msgspec.structs.replace(finding("x/z", output, at_s, line=1 + int(at_s)), quote=f"[{text}+00:00] [9] x")
        for at_s, text in ((3.0, "2026-02-02 02:40:03.000"), (63.0, "2026-02-02 02:41:03.000"))
    ]

    clocks = find_clocks(
        bundle(plog, output),
        [*stamped, named(plog, 0.0, 1.0, 8 * HOUR_S), named(plog, 40.0, 41.0, 8 * HOUR_S, 2)],
        {},
    )

    found = clock(clocks, "a/stdout")
    assert (found.offset_s, found.proof) == (8 * HOUR_S, "epochs")


def test_proofs_of_a_zone_that_contradict_each_other_are_none() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)
    findings = [
        *(named(plog, at_s, at_s, 8 * HOUR_S, 1 + int(at_s)) for at_s in (0.0, 40.0)),
        *(named(output, at_s, at_s, 8 * HOUR_S, 1 + int(at_s)) for at_s in (0.0, 40.0)),
        finding("x/y", plog, 8 * HOUR_S + 3),
        finding("x/z", output, 4.0),
    ]

    assert clock(find_clocks(bundle(plog, output), findings, {}), "a/stdout").basis == "assumed"


def test_errors_that_only_the_time_relates_must_be_nearer_than_those_of_one_code() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)

    def offset(says: dict[str, object] | None = None) -> str:
        findings = [finding("x/y", plog, 8 * HOUR_S + 9, says=says), finding("x/z", output, 0.0, says=says)]
        return clock(find_clocks(bundle(plog, output), findings, {}), "a/stdout").basis

    assert (offset(), offset({"code": 507015})) == ("assumed", "proven")


def test_short_logs_that_fit_at_some_shift_prove_nothing() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)
    spans = {0: span(0, 30), 1: span(-HOUR_S + 2, 20 - HOUR_S)}

    assert clock(find_clocks(bundle(plog, output), [], spans), "a/stdout").basis == "assumed"


def test_the_reference_is_of_the_nodes_that_shared_events_relate() -> None:
    sources = [source(number, "plog", node, 41 + number) for number, node in enumerate("abc")]
    findings = [
        finding(COMM_INIT_SUCCESS, where, 10.0 * where.id, level="INFO", communicator="w") for where in sources[1:]
    ]

    clocks = find_clocks(bundle(*sources), findings, {})

    assert [one.basis for one in clocks.clocks] == ["assumed", "reference", "proven"]


def test_output_of_a_node_that_nothing_relates_still_compares_with_its_own_plogs() -> None:
    here, there, output = source(0, "plog", "a", 41), source(1, "plog", "b", 51), source(2, "stdout", "b", 51)
    findings = [finding("x/y", there, 200.0), finding("x/z", output, 200.0 - HOUR_S)]

    clocks = find_clocks(bundle(here, there, output), findings, {})

    first, logged, printed = clocks.clocks
    assert (logged.basis, printed.basis) == ("assumed", "assumed")
    assert logged.doubt_s(printed) == 1.0
    assert printed.doubt_s(first) is None
    placed = on_reference(findings, clocks)
    assert placed[0].order_ns == placed[1].order_ns


def test_a_system_log_beside_output_alone_is_only_assumed() -> None:
    output, system = source(0, "stdout", "a", 41), source(1, "host-system", "a")

    assert clock(find_clocks(bundle(output, system), [], {}), "a/host").basis == "assumed"


def test_logs_that_begin_together_as_printed_are_in_one_zone_though_one_ends_early() -> None:
    plog, output = source(0, "plog", "a", 41), source(1, "stdout", "a", 41)

    together = find_clocks(bundle(plog, output), [], {0: span(0, 5000), 1: span(20, 900)})
    shifted = find_clocks(bundle(plog, output), [], {0: span(0, 5000), 1: span(20 - HOUR_S, 900 - HOUR_S)})

    assert (clock(together, "a/stdout").basis, clock(together, "a/stdout").offset_s) == ("proven", 0.0)
    assert clock(shifted, "a/stdout").basis == "assumed"
