from __future__ import annotations

from plogscope.correlate.runs import Aside, other_runs
from plogscope.model.record import Finding
from plogscope.model.signature import Field
from plogscope.model.source import Source
from tests.chain.things import signature
from tests.correlate.things import bundle, finding, source

HOUR_NS = 3600 * 1_000_000_000
MINUTES = 1 / 60
NAMES = {
    "x/fails": signature("x/fails", "symptom", extract={"device": Field("int", "device")}),
    "x/tells": signature("x/tells", "context"),
}

Spans = dict[int, tuple[int, int]]


def hours(first: float, last: float) -> tuple[int, int]:
    return int(first * HOUR_NS), int(last * HOUR_NS)


def judged(sources: list[Source], spans: Spans, *said: Finding) -> Aside:
    return other_runs(bundle(*sources), said, spans, NAMES, {})


def aside(sources: list[Source], spans: Spans, *said: Finding) -> set[int]:
    return set(judged(sources, spans, *said).sources)


def plogs(count: int) -> list[Source]:
    return [source(number, "plog", "a", 40 + number) for number in range(count)]


def test_the_last_run_that_failed_is_the_job() -> None:
    sources = plogs(4)
    spans = {0: hours(0, 1), 1: hours(30, 31), 2: hours(30.5, 33), 3: hours(50, 51)}
    failed = [finding("x/fails", sources[number]) for number in (0, 2)]

    assert aside(sources, spans, *failed) == {0, 3}
    assert aside(sources, spans, *failed, finding("x/fails", sources[3])) == {0, 1, 2}


def test_processes_that_follow_one_another_within_hours_are_one_run() -> None:
    sources = plogs(3)
    spans = {0: hours(0, 1), 1: hours(3, 11), 2: hours(13, 14)}

    assert aside(sources, spans, finding("x/fails", sources[2])) == set()


def test_a_new_process_on_the_device_of_an_old_one_is_a_new_run_after_half_an_hour() -> None:
    sources = plogs(2)
    old, new = (finding("x/fails", one, device=3) for one in sources)
    elsewhere = finding("x/fails", sources[1], device=4)

    assert aside(sources, {0: hours(0, 1), 1: hours(2, 3)}, old, new) == {0}
    assert aside(sources, {0: hours(0, 1), 1: hours(2, 3)}, old, elsewhere) == set()
    assert aside(sources, {0: hours(0, 1), 1: hours(1.2, 3)}, old, new) == set()


def test_a_process_that_lived_through_both_makes_them_one_run() -> None:
    sources = plogs(3)
    spans = {0: hours(0, 1), 1: hours(0, 60), 2: hours(50, 51)}

    assert aside(sources, spans, finding("x/fails", sources[2])) == set()


def test_where_nothing_failed_nothing_is_set_aside() -> None:
    sources = plogs(2)

    assert aside(sources, {0: hours(0, 1), 1: hours(50, 51)}, finding("x/tells", sources[1])) == set()


def test_what_was_printed_says_which_run_it_was_whatever_its_zone() -> None:
    sources = [*plogs(2), source(2, "stdout", "a", None)]
    failed = [finding("x/fails", one) for one in sources[:2]]
    spans = {0: hours(100, 101), 1: hours(150, 151), 2: hours(92, 93)}

    assert aside(sources, spans, *failed) == {1}
    assert aside(sources, {**spans, 2: hours(300, 301)}, *failed) == {0}


def test_the_pid_in_the_output_says_which_run_it_was() -> None:
    sources = [*plogs(2), source(2, "stdout", "a", None)]
    failed = [finding("x/fails", one) for one in sources[:2]]
    spans = {0: hours(0, 1), 1: hours(50, 51)}

    assert aside(sources, spans, *failed, finding("x/tells", sources[2], pid=40)) == {1}


def test_an_output_without_times_that_tells_of_a_failure_is_of_the_last_run() -> None:
    sources = [*plogs(2), source(2, "stdout", "a", None)]
    old, spans = finding("x/fails", sources[0]), {0: hours(0, 1), 1: hours(50, 51)}

    assert aside(sources, spans, old) == {1}
    assert aside(sources, spans, old, finding("x/fails", sources[2])) == {0}


def test_what_ended_long_before_the_first_output_is_not_of_the_job() -> None:
    sources = [*plogs(2), source(2, "stdout", "a", None)]
    failed = [finding("x/fails", one) for one in sources[:2]]

    assert aside(sources, {0: hours(0, 1), 1: hours(2, 3), 2: hours(2, 3)}, *failed) == {0}
    assert aside(sources, {0: hours(0, 1), 1: hours(2, 3), 2: hours(1 + 30 * MINUTES, 3)}, *failed) == set()


def test_no_run_is_the_job_where_all_ended_days_before_it_printed_that_it_fails() -> None:
    sources = [source(0, "plog", "old", 40), source(1, "stdout", "a", None)]
    fails, tells = finding("x/fails", sources[0]), finding("x/fails", sources[1])
    years, printed = 50 * 365 * 24, hours(50 * 365 * 24 + 30, 50 * 365 * 24 + 31)

    assert aside(sources, {0: hours(years, years + 1), 1: printed}, fails, tells) == {0}
    assert aside(sources, {0: hours(years, years + 1), 1: printed}, fails) == set()
    assert aside(sources, {0: hours(years + 20, years + 21), 1: printed}, fails, tells) == set()
    assert aside(sources, {0: hours(1, 2), 1: hours(31, 32)}, fails, tells) == set()


def test_every_machine_has_runs_of_its_own() -> None:
    sources = [source(0, "plog", "a", 40), source(1, "plog", "b", 41), source(2, "plog", "b", 42)]
    failed = [finding("x/fails", one) for one in sources]

    assert aside(sources, {0: hours(0, 1), 1: hours(30, 31), 2: hours(50, 51)}, *failed) == {1}


def test_what_a_machine_noted_days_away_is_not_looked_at_and_hours_away_is_doubtful() -> None:
    log, machine = source(0, "plog", "a", 40), source(1, "host-system", "a", None)
    failed = finding("x/fails", log, 0.0)
    at_ns = failed.time_ns or 0
    span = {0: (at_ns, at_ns + HOUR_NS)}
    noted = [finding("x/fails", machine, 3600.0 * hour, line=number) for number, hour in enumerate((-30, -5, 0.5, -8))]

    found = judged([log, machine], span, failed, *noted)

    assert found.lines == {(1, 0)}
    assert found.doubtful == {(1, 1)}
