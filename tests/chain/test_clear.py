from __future__ import annotations

import pytest

from plogscope.chain.clear import Progress, Writing, is_condition, recovered
from plogscope.model.chain import Incident
from plogscope.model.record import Finding
from plogscope.model.vocabulary import Category
from tests.chain.things import ONE_CLOCK, SECOND_NS, START_NS, finding, incident, signature

STEP, DONE = signature("p/step", "progress"), signature("p/done", "progress", subcategory="run-finished")
NAMES = {"p/step": STEP, "p/done": DONE}


def cleared(
    *incidents: Incident, by: tuple[Finding, ...] = (), writing: dict[tuple[int, int], Writing] | None = None
) -> set[str]:
    return set(recovered(incidents, Progress(by, NAMES, writing or {}, ONE_CLOCK)))


def error(at_s: float = 10.0, role: str = "either") -> Incident:
    return incident("i1", finding("x/a", at_s, line=5), role)  # type: ignore[arg-type]


def test_a_step_of_the_same_process_after_an_error_clears_it() -> None:
    assert cleared(error(), by=(finding("p/step", 20.0, line=9),)) == {"i1"}


def test_a_step_before_the_error_clears_nothing() -> None:
    assert cleared(error(), by=(finding("p/step", 5.0, line=2),)) == set()


def test_a_step_right_after_a_fault_of_the_device_can_be_a_late_print() -> None:
    assert cleared(error(role="cause"), by=(finding("p/step", 11.0, line=9),)) == set()
    assert cleared(error(role="cause"), by=(finding("p/step", 14.0, line=9),)) == {"i1"}


def test_a_step_of_another_process_clears_only_when_all_went_on_for_long() -> None:
    assert cleared(error(), by=(finding("p/step", 20.0, source=3),)) == set()
    assert cleared(error(), by=(finding("p/step", 60.0, source=3),)) == {"i1"}


def test_a_process_that_wrote_on_for_long_was_not_stopped() -> None:
    went_on = {(0, 40): Writing(900, START_NS + 300 * SECOND_NS)}

    assert cleared(error(), writing=went_on) == {"i1"}
    assert cleared(error(role="cause"), writing=went_on) == set()


def test_a_run_that_ended_well_clears_conditions_too() -> None:
    slow = incident("i1", finding("x/a", 10.0), category="performance")

    assert cleared(slow, by=(finding("p/step", 60.0, line=9),)) == set()
    assert cleared(slow, by=(finding("p/done", 60.0, line=9),)) == {"i1"}


@pytest.mark.parametrize(
    ("category", "printed_as", "condition"),
    [
        ("accuracy", "py-logging", "condition"),
        ("accuracy", "exception", "failure"),
        ("performance", "exception", "condition"),
        ("device", "plog", "failure"),
    ],
)
def test_a_check_that_raised_is_a_failure_and_no_condition(category: Category, printed_as: str, condition: str) -> None:
    one = incident("i1", finding("x/a", format=printed_as), category=category)

    assert is_condition(one) is (condition == "condition")
