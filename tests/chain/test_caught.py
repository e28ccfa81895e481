from __future__ import annotations

import pytest
from msgspec import structs

from plogscope.chain.caught import MAX_ASKED, LastWords, caught, hush_handled
from plogscope.model.record import ANNOUNCED, Finding, Sequel
from tests.chain.things import ONE_CLOCK, SECOND_NS, START_NS, finding, incident

AT_NS = START_NS + 10 * SECOND_NS
NOTE = Sequel(told="WARNING", same_logger=True, told_ns=AT_NS, next_level="INFO", next_ns=AT_NS + SECOND_NS)
ERROR = Sequel(told="ERROR", same_logger=True, told_ns=AT_NS, next_level="WARNING", next_ns=AT_NS + SECOND_NS)


def is_caught(
    sequel: Sequel, *, pid: int | None = 40, lived_s: float | None = None, printed_as: str = "exception"
) -> bool:
    lead = finding("x/a", 10.0, format=printed_as)
    lead = structs.replace(lead, actor=structs.replace(lead.actor, pid=pid))
    last: LastWords = {} if lived_s is None else {("pid", "a", pid): [(0, AT_NS + int(lived_s * SECOND_NS))]}
    return bool(caught([incident("i1", lead)], lambda _: sequel, last, ONE_CLOCK))


def test_an_exception_between_two_calm_records_of_one_logger_was_caught() -> None:
    assert is_caught(NOTE)


def test_what_a_launcher_says_next_is_no_sign_that_the_process_went_on() -> None:
    lead = finding("x/a", 10.0, format="exception")
    lead = structs.replace(lead, actor=structs.replace(lead.actor, pid=40))
    ended = structs.replace(NOTE, next_text="Killing subprocess 40")
    others = [incident("i1", lead)]

    assert caught(others, lambda _: ended, {}, ONE_CLOCK)
    assert not caught(others, lambda _: ended, {}, ONE_CLOCK, tells_of_end=lambda text: text.startswith("Killing"))


def test_only_exceptions_and_what_a_logger_alone_says_can_be_caught() -> None:
    assert not is_caught(NOTE, printed_as="plog")


@pytest.mark.parametrize(
    "sequel",
    [
        Sequel(),
        Sequel(told="WARNING"),
        Sequel(told="WARNING", same_logger=True, next_level="ERROR"),
        Sequel(told=ANNOUNCED, next_level="INFO"),
        Sequel(told="WARNING", same_logger=True, next_level="INFO", next_ns=AT_NS + 60 * SECOND_NS),
    ],
    ids=["bare", "last-words", "another-error", "of-a-thread", "said-a-minute-later"],
)
def test_other_exceptions_were_not(sequel: Sequel) -> None:
    assert not is_caught(sequel, lived_s=600.0)


def test_an_exception_told_as_an_error_was_caught_if_its_process_wrote_long_after_it() -> None:
    assert not is_caught(ERROR)
    assert not is_caught(ERROR, lived_s=5.0)
    assert is_caught(ERROR, lived_s=300.0)


def test_an_error_and_a_warning_in_one_breath_tell_of_an_exception_that_was_caught() -> None:
    warned = structs.replace(ERROR, next_ns=AT_NS)

    assert is_caught(warned)
    assert not is_caught(structs.replace(warned, next_level="INFO"))
    assert not is_caught(structs.replace(warned, same_logger=False))
    assert not is_caught(warned, pid=None)


def test_in_a_stream_of_many_writers_the_two_records_must_be_of_one_moment() -> None:
    together = Sequel(told="WARNING", same_logger=True, told_ns=AT_NS, next_level="WARNING", next_ns=AT_NS)

    assert not is_caught(NOTE, pid=None)
    assert is_caught(together, pid=None)


def test_the_files_of_endless_exceptions_are_not_all_opened() -> None:
    asked = []

    def sequel_of(found: Finding) -> Sequel:
        asked.append(found)
        return NOTE

    many = [incident(f"i{number}", finding("x/a", 10.0, format="exception")) for number in range(MAX_ASKED + 5)]

    assert len(caught(many, sequel_of, {}, ONE_CLOCK)) == len(asked) == MAX_ASKED


HANDLED = Sequel(handled=True)


@pytest.mark.parametrize(
    ("subcategory", "printed_as", "cleared", "hushed"),
    [
        ("python-import", "exception", True, True),
        ("python-exception", "exception", False, True),
        ("python-import", "plog", False, False),
    ],
)
def test_what_a_handler_inside_a_package_printed_is_a_hint_and_a_missing_module_not_even_that(
    subcategory: str, printed_as: str, *, cleared: bool, hushed: bool
) -> None:
    one = structs.replace(incident("i1", finding("x/a", 10.0, format=printed_as)), subcategory=subcategory)

    assert bool(caught([one], lambda _: HANDLED, {}, ONE_CLOCK)) is cleared
    assert hush_handled([one], lambda _: HANDLED)[0].hushed is hushed
    assert not hush_handled([one], lambda _: Sequel())[0].hushed


@pytest.mark.parametrize(
    ("text", "was_caught"),
    [
        ("WARNING: Flash-Attn is not installed, using sdpa", True),
        ("WARNING: apex is not installed, using sdpa", False),
        ("flash_attn: aborting", False),
        ("", False),
    ],
)
def test_a_program_that_says_how_it_does_without_a_module_goes_on(text: str, *, was_caught: bool) -> None:
    lead = finding("x/a", 10.0, format="exception", module="flash_attn.ops")
    says = [incident("i1", lead)]

    assert (
        bool(caught(says, lambda _: Sequel(next_text=text), {}, ONE_CLOCK, lambda line: "using" in line)) == was_caught
    )
