from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.chain.edges import connect, strength
from plogscope.model.chain import Incident
from plogscope.model.signature import Explains
from plogscope.model.vocabulary import ROLES, Role
from tests.chain.things import ONE_CLOCK, finding, incident, signature

NAMES = {name: signature(name) for name in ("x/a", "x/b", "x/c")}


def kinds(*incidents: Incident, signatures: object = None) -> dict[tuple[str, str], str]:
    edges = connect(incidents, signatures or NAMES, ONE_CLOCK)  # type: ignore[arg-type]
    return {(edge.cause, edge.effect): edge.kind for edge in edges}


def test_a_cause_starves_the_waits_of_other_processes() -> None:
    cause = incident("i1", finding("x/a", 10.0))
    wait = incident("i2", finding("x/b", 20.0, source=1), "symptom", waits=True)

    assert kinds(cause, wait) == {("i1", "i2"): "starves"}


def test_a_wait_that_began_before_is_not_starved() -> None:
    wait = incident("i1", finding("x/b", 10.0, source=1), "symptom", waits=True)

    assert kinds(wait, incident("i2", finding("x/a", 20.0))) == {}


def test_a_wait_never_explains_another_process() -> None:
    one = incident("i1", finding("x/a", 10.0), "symptom", waits=True)

    assert kinds(one, incident("i2", finding("x/b", 900.0, source=1), "symptom", waits=True)) == {}


def test_a_device_fault_poisons_what_the_process_does_later() -> None:
    fault, later = incident("i1", finding("x/a", 10.0, line=3)), incident("i2", finding("x/b", 11.0, line=9))

    assert kinds(fault, later) == {("i1", "i2"): "poisons"}


def test_a_signatures_word_reaches_as_far_as_its_scope_and_time() -> None:
    word = {"x/a": signature("x/a", explains=(Explains("x/b", "job", 60.0),)), "x/b": signature("x/b")}
    cause = incident("i1", finding("x/a", 10.0))

    assert kinds(cause, incident("i2", finding("x/b", 50.0, source=1, clock=1)), signatures=word) == {
        ("i1", "i2"): "signature"
    }
    assert kinds(cause, incident("i2", finding("x/b", 90.0, source=1, clock=1)), signatures=word) == {}


def test_who_names_a_whole_domain_does_not_mean_its_own_signature() -> None:
    word = {"x/a": signature("x/a", explains=(Explains("x/", "job", 60.0),)), "x/b": signature("x/b")}
    told_twice = (incident("i1", finding("x/a", 10.0)), incident("i2", finding("x/a", 10.0, source=1, clock=1)))

    assert kinds(*told_twice, signatures=word) == {}
    assert kinds(told_twice[0], incident("i2", finding("x/b", 50.0, source=1, clock=1)), signatures=word) == {
        ("i1", "i2"): "signature"
    }


def test_what_makes_a_run_slow_does_not_end_it() -> None:
    slow = incident("i1", finding("x/a", 10.0, line=3), "either", category="performance")
    error = incident("i2", finding("x/b", 11.0, line=9), "either", category="host")
    slower = incident("i3", finding("x/c", 12.0, line=12), "symptom", category="performance")

    assert kinds(slow, error) == {}
    assert ("i1", "i3") in kinds(slow, slower)


def test_what_a_scheduler_decides_is_not_explained_by_a_symptom_before() -> None:
    warning = incident("i1", finding("x/a", 10.0, line=3), "symptom", waits=True)
    cancel = incident("i2", finding("x/b", 70.0, line=9), "either", category="host", subcategory="cancelled")

    assert kinds(warning, cancel) == {}


def test_processes_are_told_apart_by_pid_then_rank_then_file() -> None:
    here, there = incident("i1", finding("x/a")), incident("i2", finding("x/a", source=1))

    assert here.same_process(here)
    assert not here.same_process(there)


@pytest.mark.parametrize(("role", "value"), [("cause", 0), ("either", 1), ("symptom", 3), ("teardown", 4)])
def test_the_stronger_role_has_the_lower_number(role: Role, value: int) -> None:
    assert strength(incident("i1", finding("x/a"), role)) == value
    assert strength(incident("i1", finding("x/a"), role, waits=True)) == 3


DRAWN = st.tuples(st.integers(0, 40), st.integers(0, 2), st.sampled_from(ROLES[:4]), st.booleans())


@given(st.lists(DRAWN, max_size=7))
def test_edges_have_no_cycle_where_stamps_follow_the_lines(drawn: list[tuple[int, int, Role, bool]]) -> None:
    incidents = [
        incident(f"i{n}", finding("x/" + "abc"[n % 3], float(at), source=source, line=n + 1), role, waits=waits)
        for n, (at, source, role, waits) in enumerate(sorted(drawn))
    ]

    reach = set(kinds(*incidents))
    for _ in incidents:
        reach |= {(a, d) for (a, b), (c, d) in product(reach, reach) if b == c}

    assert not any(cause == effect for cause, effect in reach)


def test_whoever_interrupted_a_job_ended_what_fails_soon_but_not_what_was_started_again() -> None:
    ended = incident("i1", finding("x/a", 10.0), "teardown", subcategory="interrupt")

    def killed(at_s: float, source: int) -> bool:
        after = incident("i2", finding("x/b", at_s, source=source, line=9), "either", category="host")
        return kinds(ended, after).get(("i1", "i2")) == "kills"

    assert killed(20.0, 0)
    assert killed(20.0, 1)
    assert not killed(7200.0, 0)
    assert not killed(7200.0, 1)
