from __future__ import annotations

import pytest

from plogscope.correlate.carriers import mark_carriers
from plogscope.correlate.incidents import judge
from plogscope.data import grammar_root
from plogscope.grammar.compile import read_grammar
from plogscope.model.record import Finding
from tests.correlate.things import finding, source

ROOT = grammar_root()
assert ROOT is not None
SIGNATURES = read_grammar(ROOT).by_id()
OUTPUT, OTHER = source(0, "stdout", "a", None), source(1, "stdout", "a", None)


def roles(*findings: Finding) -> list[str]:
    judged = [judge(one, SIGNATURES, lambda _family, _code: None) for one in findings]
    return [one.role for one in mark_carriers(judged) if one.finding.signature != "runtime/error-section"]


def says(signature: str, line: int) -> Finding:
    return finding(signature, OUTPUT, 1.0, line=line)


def test_an_exception_that_quotes_errors_of_cann_states_no_cause() -> None:
    assert roles(says("python/runtime-error", 27), says("runtime/error-section", 30)) == ["symptom"]


@pytest.mark.parametrize("line", [12, 40])
def test_an_exception_elsewhere_is_believed(line: int) -> None:
    assert roles(says("python/runtime-error", line), says("runtime/error-section", 30)) == ["either"]


def test_an_exception_in_another_file_is_believed() -> None:
    elsewhere = finding("python/runtime-error", OTHER, 1.0, line=27)

    assert roles(elsewhere, says("runtime/error-section", 30)) == ["either"]


def test_an_exception_whose_type_says_what_was_wrong_is_believed() -> None:
    assert roles(says("python/value-error", 27), says("runtime/error-section", 30)) == ["cause"]
