from __future__ import annotations

from collections.abc import Iterable

import pytest

from plogscope.correlate.skew import COMM_INIT_SUCCESS, EVENT_S, Skew, find_skews, shared_events
from plogscope.model.record import Finding
from tests.correlate.things import SECOND_NS, finding, source


def came_up(name: str, **at_s: float) -> Iterable[Finding]:
    """A communicator whose members say on these nodes at these local times that it is up."""
    for number, (node, moment) in enumerate(at_s.items()):
        yield finding(COMM_INIT_SUCCESS, source(number, "plog", node, 40 + number), moment, communicator=name)


def skews(findings: Iterable[Finding], reference: str) -> dict[str | None, Skew]:
    return find_skews(shared_events(findings), reference)


def test_nodes_that_share_a_communicator_prove_their_skew() -> None:
    found = skews(came_up("world", a=10.0, b=95.5), "a")

    assert found["b"].offset_ns / SECOND_NS == pytest.approx(-85.5)
    assert found["b"].uncertainty_s == EVENT_S


def test_a_chain_of_communicators_proves_it_with_more_doubt() -> None:
    found = skews([*came_up("left", a=10.0, b=20.0), *came_up("right", b=50.0, c=80.0)], "a")

    assert found["c"].offset_ns / SECOND_NS == pytest.approx(-40.0)
    assert found["c"].uncertainty_s == 2 * EVENT_S


def test_one_event_that_does_not_fit_is_left_out() -> None:
    events = [*came_up("1", a=10.0, b=70.0), *came_up("2", a=20.0, b=80.4), *came_up("3", a=30.0, b=500.0)]

    assert skews(events, "a")["b"].offset_ns / SECOND_NS == pytest.approx(-60.2)


def test_events_that_contradict_each_other_prove_nothing() -> None:
    events = [*came_up("1", a=10.0, b=70.0), *came_up("2", a=20.0, b=500.0)]

    assert "b" not in skews(events, "a")


def test_a_node_without_a_shared_event_has_no_skew() -> None:
    assert skews(came_up("alone", b=10.0), "a") == {}
