from __future__ import annotations

import functools
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import plogscope
from plogscope.model.report import ChainEntry, NextAction, Report
from plogscope.model.vocabulary import STATUSES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
CUTS = 12


@functools.cache
def expected(name: str) -> dict[str, Any]:
    return tomllib.loads((FIXTURES / name / "expect.toml").read_text(encoding="utf-8"))


@functools.cache
def analysed(name: str) -> Report:
    return plogscope.analyze(FIXTURES / name / "run")


ALL = sorted(path.parent.name for path in FIXTURES.glob("*/expect.toml"))
BY_NAME = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in ALL]  # analysed once, by one worker
WITH_EDGES = [name for name in ALL if expected(name).get("edge")]
WITH_ACTION = [name for name in ALL if expected(name)["next_action_token"]]


def place(value: Any) -> tuple[str, int] | None:
    if value is None:
        return None
    return (value["file"], value["line"]) if isinstance(value, dict) else (value.file, value.line)


def words_of(action: NextAction) -> str:
    return "\n".join([action.action.en, action.command or "", action.repro or "", *action.env, *action.env.values()])


def entries_at(report: Report, spot: dict[str, Any]) -> list[ChainEntry]:
    return [entry for entry in report.chain if place(entry) == place(spot)]


def test_there_are_fixtures_of_every_status() -> None:
    assert {expected(name)["status"] for name in ALL} == set(STATUSES)


@pytest.mark.parametrize("name", BY_NAME)
def test_every_line_that_is_expected_is_in_the_fixture(name: str) -> None:
    wanted = expected(name)
    edges = [spot for edge in wanted.get("edge", []) for spot in (edge["cause"], edge["effect"])]
    for spot in [*filter(None, [wanted.get("root")]), *wanted.get("must_not_blame", []), *edges]:
        lines = (FIXTURES / name / "run" / spot["file"]).read_bytes().split(b"\n")
        assert lines[spot["line"] - 1].strip(), spot


@pytest.mark.parametrize("name", BY_NAME)
def test_status_route_and_category_are_right(name: str) -> None:
    report, wanted = analysed(name), expected(name)
    assert report.verdict.status == wanted["status"], report.verdict.statement.en
    assert report.triage.route == wanted["route"], report.triage.rests_on
    assert report.verdict.category == wanted["category"]


@pytest.mark.parametrize("name", BY_NAME)
def test_the_root_cause_is_the_line_that_states_it(name: str) -> None:
    assert place(analysed(name).verdict.root_cause) == place(expected(name).get("root"))


@pytest.mark.parametrize("name", BY_NAME)
def test_the_root_cause_quotes_its_line(name: str) -> None:
    root = analysed(name).verdict.root_cause
    if root is None:
        assert expected(name)["status"] != "explained"
        return
    lines = (FIXTURES / name / "run" / root.file).read_bytes().decode("utf-8", "replace").split("\n")
    assert root.quote.removesuffix("…") in lines[root.line - 1]


@pytest.mark.parametrize("name", BY_NAME)
def test_decoys_consequences_and_witnesses_are_not_blamed(name: str) -> None:
    verdict = analysed(name).verdict
    for innocent in expected(name).get("must_not_blame", []):
        assert place(verdict.root_cause) != place(innocent), innocent["why"]


@pytest.mark.parametrize("name", WITH_ACTION)
def test_the_first_next_action_is_the_useful_one(name: str) -> None:
    actions = analysed(name).next_actions
    assert actions
    assert expected(name)["next_action_token"] in words_of(actions[0])


@pytest.mark.parametrize("name", WITH_EDGES)
def test_the_chain_leads_from_the_cause_to_its_effect_and_says_why(name: str) -> None:
    report = analysed(name)
    for edge in expected(name)["edge"]:
        causes = {entry.id for entry in entries_at(report, edge["cause"])}
        effects = entries_at(report, edge["effect"])
        shown = [(entry.id, entry.file, entry.line, entry.role, entry.explained_by) for entry in report.chain]
        assert causes, shown
        assert effects, shown
        leads = [entry for entry in effects if causes & set(entry.explained_by)]
        assert leads, shown
        assert any(edge["reason_token"] in (entry.reason.en if entry.reason else "") for entry in leads), leads


@pytest.mark.parametrize("name", [name for name in ALL if expected(name).get("suspect")])
def test_the_ranks_that_nobody_heard_from_are_suspects(name: str) -> None:
    wanted = {suspect["rank"] for suspect in expected(name)["suspect"]}
    named = {suspect.rank for suspect in analysed(name).verdict.suspects}
    assert wanted <= named
    assert len(named) <= 2 * len(wanted)


@pytest.mark.parametrize("name", BY_NAME)
def test_a_report_never_says_more_than_its_status_allows(name: str, leaks: Callable[[Report], list[str]]) -> None:
    assert leaks(analysed(name)) == []


@pytest.mark.parametrize("name", BY_NAME)
def test_every_line_of_the_run_is_counted(name: str) -> None:
    coverage = analysed(name).coverage
    assert coverage.read == coverage.parsed + coverage.unparsed
    assert coverage.read == sum(entry.lines for entry in analysed(name).bundle.files)
    assert coverage.skipped == []


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_NAME)
def test_a_log_that_is_cut_anywhere_still_gives_a_report(
    name: str, tmp_path: Path, leaks: Callable[[Report], list[str]]
) -> None:
    shutil.copytree(FIXTURES / name / "run", tmp_path / "run")
    log = tmp_path / "run" / expected(name)["main_log"]
    whole = log.read_bytes()
    for cut in range(CUTS):
        log.write_bytes(whole[: len(whole) * (2 * cut + 1) // (2 * CUTS)])
        report = plogscope.analyze(tmp_path / "run", jobs=1)
        assert report.verdict.status in STATUSES
        assert leaks(report) == [], f"cut {cut} of {CUTS}"
