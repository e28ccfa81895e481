from __future__ import annotations

import msgspec
import pytest
from msgspec import structs

from plogscope.chain.clear import is_condition, recovered
from plogscope.chain.outlived import beside_the_job, outlived
from plogscope.chain.progress import Progress, Writing
from plogscope.model.chain import Incident, Process
from plogscope.model.record import Finding
from plogscope.model.vocabulary import Category
from tests.chain.things import ONE_CLOCK, SECOND_NS, START_NS, finding, incident, signature

STEP, DONE = signature("p/step", "progress"), signature("p/done", "progress", subcategory="run-finished")
PASSED = signature("p/passed", "progress", subcategory="tests-passed")
NAMES = {"p/step": STEP, "p/done": DONE, "p/passed": PASSED}


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


@pytest.mark.parametrize(("printed_as", "clears"), [("py-logging", True), ("torch-log", False)])
def test_a_step_right_after_a_warning_of_the_program_itself_is_no_late_print(printed_as: str, *, clears: bool) -> None:
    lead = structs.replace(finding("x/a", 10.0, line=5), format=printed_as)
    caught = structs.replace(incident("i1", lead, "cause"), hushed=True)

    assert cleared(caught, by=(finding("p/step", 10.4, line=9),)) == ({"i1"} if clears else set())


def test_a_step_of_another_process_clears_only_when_all_went_on_for_long() -> None:
    assert cleared(error(), by=(finding("p/step", 20.0, source=3),)) == set()
    assert cleared(error(), by=(finding("p/step", 60.0, source=3),)) == {"i1"}


def test_a_step_that_was_before_the_first_stamp_of_its_file_was_not_after_an_error_elsewhere() -> None:
    step = structs.replace(finding("p/step", 60.0, source=3), time_quality="inherited")

    assert cleared(error(), by=(step,)) == {"i1"}
    assert cleared(error(), by=(structs.replace(step, before=True),)) == set()


def test_whoever_waited_too_long_for_others_is_not_cleared_by_their_progress() -> None:
    waited = incident("i1", finding("x/a", 10.0, line=5), "symptom", waits=True)

    assert cleared(waited, by=(finding("p/step", 60.0, source=3),)) == set()
    assert cleared(waited, by=(finding("p/step", 60.0, line=9),)) == {"i1"}


def test_what_machines_say_of_themselves_is_no_failure_if_it_is_all_there_is() -> None:
    remark = structs.replace(incident("i1", finding(None, 10.0, format="syslog"), "either"), hushed=True)

    assert beside_the_job([remark]) == {"i1"}
    assert beside_the_job([remark, error()]) == frozenset()


def test_what_processes_say_while_they_end_is_no_failure_beside_it() -> None:
    remark = structs.replace(incident("i1", finding(None, 10.0, format="syslog"), "either"), hushed=True)
    ending = incident("i2", finding("x/a", 11.0), "teardown")

    assert beside_the_job([remark, ending]) == {"i1"}
    assert beside_the_job([remark, structs.replace(ending, subcategory="interrupt")]) == frozenset()


def test_an_error_without_a_stamp_of_its_own_may_be_later_than_progress_in_other_files() -> None:
    lead = structs.replace(finding("x/a", 10.0, line=5), time_quality="inherited")
    step = finding("p/step", 60.0, source=3)

    assert cleared(incident("i1", lead), by=(step,)) == set()
    assert cleared(incident("i1", lead), by=(structs.replace(step, actor=lead.actor),)) == set()
    assert cleared(incident("i1", lead), by=(finding("p/step", 60.0, line=9),)) == {"i1"}


def test_a_process_that_wrote_on_for_long_was_not_stopped() -> None:
    went_on = {(0, 40): Writing(900, START_NS + 300 * SECOND_NS)}

    assert cleared(error(), writing=went_on) == {"i1"}
    assert cleared(error(role="cause"), writing=went_on) == set()


def test_a_run_that_ended_well_clears_conditions_too() -> None:
    slow = incident("i1", finding("x/a", 10.0), category="performance")

    assert cleared(slow, by=(finding("p/step", 60.0, line=9),)) == set()
    assert cleared(slow, by=(finding("p/done", 60.0, line=9),)) == {"i1"}


@pytest.mark.parametrize(("step_line", "clears"), [(80, True), (3, False)])
def test_a_loss_that_is_no_number_to_the_last_step_is_no_good_end(step_line: int, clears: bool) -> None:  # noqa: FBT001
    lead = msgspec.structs.replace(finding("x/a", 10.0, line=5), last_line=70)
    loss = incident("i1", lead, "either", category="accuracy", subcategory="nan-loss")
    loss = msgspec.structs.replace(loss, count=20)
    step, done = finding("p/step", 40.0, line=step_line), finding("p/done", 60.0, line=90)

    assert cleared(loss, by=(step, done)) == ({"i1"} if clears else set())


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


def test_a_remark_about_speed_is_cleared_by_steps_and_a_condition_is_not() -> None:
    step = finding("p/step", 20.0, line=9)
    remark = incident("i1", finding("x/a", 10.0, line=5), "either", category="performance", subcategory="cpu-fallback")
    slow = incident("i1", finding("x/a", 10.0, line=5), "either", category="performance")

    assert cleared(remark, by=(step,)) == {"i1"}
    assert cleared(remark) == set()
    assert cleared(slow, by=(step,)) == set()


def test_the_end_of_a_container_is_not_got_over_by_what_its_log_shows_below() -> None:
    ended = incident("i1", finding("launcher/container-exit-code", None, line=5), "symptom")
    untimed, later = finding("p/step", None, line=9), finding("p/step", 90.0, line=9)
    dated = incident("i1", finding("launcher/container-exit-code", 10.0, line=5), "symptom")

    assert cleared(ended, by=(untimed, structs.replace(untimed, line=12))) == set()
    assert cleared(dated, by=(later,)) == {"i1"}


def test_the_good_end_of_a_run_elsewhere_clears_what_was_long_before() -> None:
    done = finding("p/done", 60.0, source=3, clock=1)

    assert cleared(error(), by=(done,)) == {"i1"}
    assert cleared(error(at_s=40.0), by=(done,)) == set()


def test_the_good_end_of_a_run_was_after_an_error_without_a_stamp_of_its_own() -> None:
    lead = structs.replace(finding("x/a", 10.0, line=5), time_quality="inherited")

    assert cleared(incident("i1", lead), by=(finding("p/done", 60.0, source=3),)) == {"i1"}


def test_unknown_errors_that_are_all_there_is_and_were_outlived_are_no_failure() -> None:
    unknown = incident("i1", finding(None, 10.0, line=5), "either")
    other = incident("i2", finding("x/a", 10.0, line=5), "symptom")
    wrote_on = Progress((), NAMES, {(0, 40): Writing(30, START_NS + 60 * SECOND_NS)}, ONE_CLOCK)
    stopped = Progress((), NAMES, {(0, 40): Writing(9, START_NS + 60 * SECOND_NS)}, ONE_CLOCK)

    assert outlived([unknown], wrote_on) == {"i1"}
    assert outlived([unknown], stopped) == set()
    assert outlived([unknown, other], wrote_on) == {"i1", "i2"}
    assert outlived([unknown, structs.replace(other, waits=True)], wrote_on) == set()
    assert outlived([unknown, structs.replace(other, role="cause")], wrote_on) == set()
    assert outlived([other], Progress((), NAMES, {(0, 40): Writing(20, START_NS + 60 * SECOND_NS)}, ONE_CLOCK)) == set()
    assert outlived([other], Progress((), NAMES, {(0, 40): Writing(90, START_NS + 30 * SECOND_NS)}, ONE_CLOCK)) == set()


def test_what_a_session_of_tests_prints_before_it_passes_was_expected() -> None:
    cause = incident("i1", structs.replace(finding("x/a", None, line=5)), "cause")

    assert cleared(cause, by=(finding("p/passed", None, line=9),)) == {"i1"}
    assert cleared(cause, by=(finding("p/passed", None, line=3),)) == set()
    assert cleared(cause, by=(finding("p/passed", None, line=9, source=3),)) == set()


@pytest.mark.parametrize(
    ("level", "role", "over"),
    [("WARNING", "symptom", True), ("ERROR", "symptom", False), ("WARNING", "cause", False)],
)
def test_a_warning_below_the_good_end_is_a_farewell(level: str, role: str, over: bool) -> None:  # noqa: FBT001 - parameter
    lead = structs.replace(finding("x/a", 40.0, line=9), level=level)
    late = incident("i1", lead, role, waits=True)  # type: ignore[arg-type]

    assert cleared(late, by=(finding("p/done", 10.0, line=5),)) == ({"i1"} if over else set())


@pytest.mark.parametrize(("last_s", "clears"), [(21.0, True), (19.0, False)])
def test_a_process_that_spoke_elsewhere_much_later_outlived_its_unknown_error(last_s: float, *, clears: bool) -> None:
    unknown = incident("i1", finding(None, 10.0, line=5), "either")
    mine = Process(node="a", pid=40, last_ns=START_NS + int(last_s * SECOND_NS))
    neighbour = Process(node="a", pid=41, last_ns=START_NS + 900 * SECOND_NS)

    assert outlived([unknown], Progress((), NAMES, {}, ONE_CLOCK, (mine, neighbour))) == ({"i1"} if clears else set())
    assert outlived([unknown], Progress((), NAMES, {}, ONE_CLOCK, (neighbour,))) == set()
