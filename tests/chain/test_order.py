from __future__ import annotations

import math

import msgspec
import pytest

from plogscope.chain.order import comparable, lag_s, precedes, uncertainty_s
from plogscope.model.chain import Clock
from tests.chain.things import ONE_CLOCK, finding, incident


def test_in_one_file_the_line_decides_whatever_the_stamps() -> None:
    first = incident("i1", finding("x/a", 9.0, line=3))
    second = incident("i2", finding("x/b", 1.0, line=8))

    assert (precedes(first, second, ONE_CLOCK), precedes(second, first, ONE_CLOCK)) == (True, False)


def test_a_wait_stands_where_it_began_not_at_its_line() -> None:
    wait = msgspec.structs.replace(incident("i1", finding("x/a", 600.0, line=8), waits=True), start_ns=0)

    assert precedes(wait, incident("i2", finding("x/b", 1.0, line=3)), ONE_CLOCK) is True


@pytest.mark.parametrize(("gap_s", "answer"), [(6.0, "before"), (5.0, "open"), (-4.0, "open"), (-5.5, "after")])
def test_across_clocks_only_more_than_the_uncertainty_counts(gap_s: float, answer: str) -> None:
    here = incident("i1", finding("x/a", 100.0))
    there = incident("i2", finding("x/b", 100.0 + gap_s, source=1, clock=1))

    assert {True: "before", False: "after", None: "open"}[precedes(here, there, ONE_CLOCK)] == answer
    assert uncertainty_s(here.lead, there.lead, ONE_CLOCK) == 5.0


def test_an_assumed_clock_orders_nothing() -> None:
    clocks = (Clock(id=0, name="a"), Clock(id=1, name="b", basis="assumed"))
    here, there = incident("i1", finding("x/a", 0.0)), incident("i2", finding("x/b", 9000.0, source=1, clock=1))

    assert precedes(here, there, clocks) is None
    assert not comparable(here.lead, there.lead, clocks)
    assert lag_s(here.lead, there.lead, clocks) is None
    assert uncertainty_s(here.lead, there.lead, clocks) == math.inf


def test_clocks_of_one_island_compare_though_nothing_relates_them_to_the_reference() -> None:
    clocks = (
        Clock(id=0, name="a/plog"),
        Clock(id=1, name="b/plog", basis="assumed", island=1),
        Clock(id=2, name="b/stdout", basis="assumed", island=1, island_s=1.0),
    )
    logged, printed = (incident(f"i{n}", finding("x/a", 100.0 + 2 * n, source=n, clock=n)) for n in (1, 2))

    assert precedes(logged, printed, clocks) is True
    assert precedes(incident("i0", finding("x/a", 0.0)), printed, clocks) is None


def test_without_a_time_there_is_no_lag() -> None:
    assert lag_s(finding("x/a", None), finding("x/b", 1.0), ONE_CLOCK) is None
    assert lag_s(finding("x/a", 1.0), finding("x/b", 3.5), ONE_CLOCK) == 2.5
