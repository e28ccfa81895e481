from __future__ import annotations

from collections.abc import Callable

import pytest

from plogscope.grammar import match
from plogscope.grammar.compile import assemble
from plogscope.grammar.match import HEAD, MOST_OF_ONE, TAIL, Matcher
from plogscope.model.signature import Signature

Sign = Callable[..., Signature]


def found(matcher: Matcher, text: str, form: str = "plog", level: str | None = "ERROR") -> list[tuple[str, int]]:
    """Ids and starts of what is matched."""
    return [(matcher.grammar.signatures[hit.signature].id, hit.start) for hit in matcher.match(text, form, level)]


def test_fields_are_the_groups_that_took_part(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/one", r"task (?P<task>\d+) lost(?: on (?P<device>\d+))?")]))
    first, second = matcher.match("task 7 lost, task 8 lost on 3", "plog", None)
    assert (first.fields, first.start, first.end) == ({"task": "7"}, 0, 11)
    assert second.fields == {"task": "8", "device": "3"}


def test_formats_and_levels_restrict(sign: Sign) -> None:
    grammar = assemble(
        [sign("a/any", "lost"), sign("a/plog", "lost", formats=("plog",), levels=("ERROR",), generic=False)]
    )
    matcher = Matcher(grammar)
    assert found(matcher, "lost") == [("a/any", 0), ("a/plog", 0)]
    assert found(matcher, "lost", level="NULL") == [("a/any", 0)]
    assert found(matcher, "lost", level=None) == [("a/any", 0)]
    assert found(matcher, "lost", form="dmesg") == [("a/any", 0)]


def test_a_generic_signature_loses_on_the_same_line_only(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/generic", r"Error: [^\n]*", generic=True), sign("a/special", "out of memory")]))
    assert found(matcher, "Error: out of memory\nError: other") == [("a/special", 7), ("a/generic", 21)]


def test_of_two_generic_signatures_the_one_that_reads_more_stays(sign: Sign) -> None:
    grammar = assemble([sign("a/long", r"Error: [^\n]*", generic=True), sign("a/word", "Error", generic=True)])
    assert found(Matcher(grammar), "Error: lost") == [("a/long", 0)]


def test_the_refined_give_way_to_the_refiner_also_through_others(sign: Sign) -> None:
    grammar = assemble(
        [
            sign("a/wide", "failed"),
            sign("a/middle", "task failed", refines=("a/wide",)),
            sign("a/narrow", "task failed twice", refines=("a/middle",)),
        ]
    )
    matcher = Matcher(grammar)
    assert found(matcher, "task failed twice") == [("a/narrow", 0)]
    assert found(matcher, "task failed") == [("a/middle", 0)]
    without_middle = assemble([signature for signature in grammar.signatures if signature.id != "a/middle"])
    assert found(Matcher(without_middle), "task failed twice") == [("a/narrow", 0), ("a/wide", 5)]


def test_a_prefix_refines_all_that_stands_under_it_but_not_itself(sign: Sign) -> None:
    grammar = assemble([sign("a/one", "failed"), sign("a/two", "task failed", refines=("a/",)), sign("b/x", "task")])
    assert found(Matcher(grammar), "task failed") == [("a/two", 0), ("b/x", 0)]


def test_two_unrelated_statements_on_one_line_are_both_kept(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/one", "link down"), sign("a/two", "retry exceeded")]))
    assert found(matcher, "link down, retry exceeded") == [("a/one", 0), ("a/two", 11)]


def test_of_a_long_text_the_head_and_the_tail_are_searched_with_right_offsets(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/lost", "lost")]))
    text = "lost" + "." * (HEAD * 2) + "lost" + "." * (HEAD * 2) + "lost"
    hits = matcher.match(text, "plog", "ERROR")
    assert [text[hit.start : hit.end] for hit in hits] == ["lost", "lost"]
    assert [hit.start for hit in hits] == [0, len(text) - 4]


def test_a_line_start_in_the_tail_is_a_line_start_and_the_cut_is_none(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/killed", "^Killed")]))
    cut = "." * HEAD + "Killed" * TAIL
    assert matcher.match(cut, "text", None) == []
    assert [hit.start for hit in matcher.match(cut + "\nKilled", "text", None)] == [len(cut) + 1]


def test_one_signature_is_found_a_limited_number_of_times_in_one_record(sign: Sign) -> None:
    matcher = Matcher(assemble([sign("a/lost", "lost")]))
    assert len(matcher.match("lost " * 1000, "plog", "ERROR")) == MOST_OF_ONE


def test_a_pattern_that_takes_too_long_is_given_up_and_counted(sign: Sign, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "TIMEOUT_S", 0.02)
    matcher = Matcher(assemble([sign("a/evil", r"lost(?:x{1,30}){1,30}y"), sign("a/lost", "lost")]))
    assert found(matcher, "lost" + "x" * 8000) == [("a/lost", 0)]
    assert matcher.timeouts == {0: 1}


def test_short_texts_are_searched_by_re_where_both_engines_mean_the_same(sign: Sign) -> None:
    grammar = assemble([sign("a/gap", r"^(?P<value>lost)\s(?P<device>card)?"), sign("a/word", r"\w{1,9} lost")])
    one, other = Matcher(grammar, proven=True), Matcher(grammar)
    texts = ["lost card", "a lost\nlost ", "lost\x1ccard", "e\u0301 lost", "lost lost " * 60, "lost " * 80, ""]
    for text in texts:
        assert one.match(text, None, None) == other.match(text, None, None), text


def test_half_a_character_in_a_text_does_not_stop_the_search(sign: Sign) -> None:
    assert found(Matcher(assemble([sign("a/lost", "lost")])), "\udce9 lost \x00") == [("a/lost", 2)]
