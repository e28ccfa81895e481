"""A verdict is about what happened, not about how it was written down: see `tests/variants.py`.

Over the fixtures always, over the folder that PLOGSCOPE_CASES names as well. Each bundle is tried in a few variants,
each variant on a part of the bundles; PLOGSCOPE_VARIANTS=all tries every variant of every bundle.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pytest

from tests.variants import (
    VARIANTS,
    Original,
    Said,
    bundles,
    other_dates,
    other_devices,
    other_pids,
    read_original,
    split,
    verdict_of,
)

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CASES = Path(os.environ.get("PLOGSCOPE_CASES") or os.devnull)
EVERY = os.environ.get("PLOGSCOPE_VARIANTS") == "all"
OF_FIXTURE, OF_CASE = 3, 1
"""Variants of one bundle."""

LEAST_SHARE = 0.98

Trial = tuple[Path, str]


def trials(folder: Path, each: int) -> list[Trial]:
    """Bundles and variants, dealt out in turn so that all variants are tried."""
    names = list(VARIANTS)
    chosen = []
    for number, path in enumerate(bundles(folder).values()):
        picked = names if EVERY else [names[(number * each + step) % len(names)] for step in range(each)]
        chosen += [(path, name) for name in picked]
    return chosen


@functools.cache
def original(path: Path) -> Original:
    return read_original(path)


@functools.cache
def before(path: Path) -> Said | None:
    return verdict_of(original(path), None)


def named(trial: Trial) -> str:
    return f"{trial[0].parent.name}-{trial[1]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "trial",
    [pytest.param(one, marks=pytest.mark.xdist_group(one[0].parent.name)) for one in trials(FIXTURES, OF_FIXTURE)],
    ids=named,
)
def test_a_fixture_written_down_otherwise_has_the_same_verdict(trial: Trial) -> None:
    path, variant = trial
    after = verdict_of(original(path), variant)
    if after is None:
        pytest.skip("the variant means nothing for these logs")
    assert after == before(path)


@pytest.mark.slow
@pytest.mark.xdist_group("variants")
@pytest.mark.skipif(not CASES.is_dir(), reason="PLOGSCOPE_CASES names no folder of cases")
def test_cases_written_down_otherwise_have_the_same_verdicts() -> None:
    said = {(path, variant): verdict_of(original(path), variant) for path, variant in trials(CASES, OF_CASE)}
    counted = {trial: after for trial, after in said.items() if after is not None}
    flipped = [named(trial) for trial, after in counted.items() if after != before(trial[0])]
    share = 1 - len(flipped) / len(counted)
    assert share >= LEAST_SHARE, f"{share:.1%} of {len(counted)} stay; flipped: {', '.join(flipped)}"


def lines(*texts: str) -> dict[str, list[tuple[str, tuple[str, int]]]]:
    return {"stdout.log": [(text, ("stdout.log", number)) for number, text in enumerate(texts, 1)]}


def texts_of(changed: object) -> list[str]:
    assert isinstance(changed, dict)
    return [text for name in sorted(changed) for text, _ in changed[name]]


def test_a_variant_changes_every_notation_and_keeps_the_rest() -> None:
    logs = lines(
        "[ERROR] RUNTIME(4711,python):2025-12-30-10:20:30.123.456 [a.cc:1]4712 Run:device_id=1, size=4711",
        "[W1230 10:20:30.410226900 a.cpp:9] Warning",
        "(Worker pid=4711) ERROR 12-30 10:20:30 [a.py:1] x",
        "[ERROR] 2025-12-30-10:20:30 (PID:4711, Device:1, RankID:-1) ERR00100",
    )

    moved = texts_of(other_dates(logs))
    assert [line.count("10:20:30") for line in moved] == [1, 1, 1, 1]
    assert ["2026-01-16" in moved[0], "[W0116 " in moved[1], "ERROR 01-16 " in moved[2]] == [True, True, True]
    renumbered = texts_of(other_pids(logs))
    assert [line.count("4711") for line in renumbered] == [1, 0, 0, 0]  # a size is no pid
    assert ["device_id=4" in texts_of(other_devices(logs))[0], "Device:4" in texts_of(other_devices(logs))[3]] == [
        True,
        True,
    ]


def test_records_of_the_logger_leave_the_output_and_remember_their_lines() -> None:
    logs = lines("step 1", "[ERROR] RUNTIME(47,python):2025-12-30-10:20:30.123.456 [a.cc:1]47 Run:failed", "step 2")

    changed = split(logs)

    assert changed is not None
    assert {name: [place[1] for _, place in rest] for name, rest in changed.items()} == {
        "stdout.log": [1, 3],
        "ascend_plog/debug/plog/plog-47_20250102030405678.log": [2],
    }
