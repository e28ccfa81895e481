"""Every rule of the specification has a test that exists."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TESTS = Path(__file__).resolve().parents[1]
TABLE = tomllib.loads((Path(__file__).parent / "RULES.toml").read_text(encoding="utf-8"))
PROVEN = {**TABLE["rules"], **TABLE["checks"]}
RANGES = [(1, 18), (20, 36), (40, 50), (60, 65), (70, 79)]
RULES = {f"R{number}" for first, last in RANGES for number in range(first, last + 1)} | {"R29a", "R49a"}


def test_no_rule_is_forgotten() -> None:
    assert set(TABLE["rules"]) == RULES
    assert set(TABLE["checks"]) == {f"C{number}" for number in range(1, 14)}
    assert set(TABLE["decided"]) == {f"A{number}" for number in range(1, 15)}


@pytest.mark.parametrize("rule", sorted(PROVEN))
def test_the_tests_of_a_rule_exist(rule: str) -> None:
    assert PROVEN[rule]
    for name in PROVEN[rule]:
        file, _, test = name.partition("::")
        code = (TESTS / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {test}\(", code, re.MULTILINE), name


def test_signals_of_slowness_are_signatures_or_say_why_not() -> None:
    assert set(TABLE["signals"]) | set(TABLE["not_read"]) == {f"S{number}" for number in range(1, 11)}
    for names in TABLE["signals"].values():
        assert all((TESTS.parent / "grammars" / f"{name}.toml").is_file() for name in names)
