from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plogscope import analyze
from plogscope.explain import explain
from plogscope.grammar.load import load_grammar
from plogscope.model.chain import Chain, Incident, Suspect
from plogscope.model.vocabulary import Place, Text
from plogscope.render.markdown import render_markdown
from plogscope.render.prompt import agent_prompt
from plogscope.render.terminal import render_terminal
from plogscope.statement import state_verdict
from plogscope.verdict import Heard, judge_chain
from plogscope.wording import say
from tests.chain.things import finding, incident

SAID = {
    "two-rank-hccl": (
        (
            "Rank 1 on node-b failed first after 10:09:16: A value was refused (ValueError), “caption of sample 88412 "
            "has token 50271, the vocabulary ends at 50257”. Rank 0 only waited for it."
        ),
        "rank 1（node-b）在 10:09:16 之后最先失败：",
    ),
    "five-step-replay-aicore": (
        "Process 41009 (device 0) failed first at 09:32:54: A kernel failed on the AI Core, kernel SwiGlu_",
        "进程 41009（device 0）于 09:32:54 最先失败：",
    ),
    "peer-missing": (
        "The first cause is not in these logs. Rank 3 never connected to the root",
        "这些日志中没有首因。",
    ),
}


@pytest.mark.parametrize("fixture", SAID)
def test_the_statement_says_who_when_what_and_who_only_waited(fixture: str, fixture_run: Callable[[str], Path]) -> None:
    statement = analyze(fixture_run(fixture), jobs=1).verdict.statement
    english, chinese = SAID[fixture]
    assert statement.en.startswith(english)
    assert statement.zh.startswith(chinese)


@pytest.mark.parametrize("fixture", ["two-rank-hccl", "five-step-replay-aicore"])
def test_stamps_without_a_year_do_not_stretch_the_timeline(fixture: str, fixture_run: Callable[[str], Path]) -> None:
    timeline = analyze(fixture_run(fixture), jobs=1).timeline
    assert (timeline.t0 or "").startswith("2026-")
    assert timeline.bin_s < 60
    assert any(rank.marks for rank in timeline.ranks)


def _suspect(rank: int) -> Suspect:
    return Suspect(rank=rank, why=say("checker.no_log_not_connected", rank=rank), need=Text("x", "x"))


def _said(*ranks: int) -> Text:
    chain = Chain(suspects=tuple(map(_suspect, ranks)), proven_absence=True)
    judgement = judge_chain(
        chain, steps=None, symptom=None, signatures={}, codes={}, where={}, clocks=(), heard=Heard()
    )
    return state_verdict(chain, judgement, {})


def test_several_missing_ranks_are_all_named_and_one_is_told_about() -> None:
    said = _said(*range(8, 16))
    assert said.en.startswith("The first cause is not in these logs. Look at ranks 8-15. Rank 8 never connected")
    assert said.zh.startswith("这些日志中没有首因，需要查看 rank 8-15。rank 8 未连接到 root")
    assert _said(8).en.startswith("The first cause is not in these logs. Rank 8 never connected")


def test_a_time_of_the_line_before_is_never_shown_as_a_stamp(fixture_run: Callable[[str], Path]) -> None:
    report = analyze(fixture_run("python-dataset-error"), jobs=1)
    root = report.verdict.root_cause
    assert root is not None
    assert root.time_quality == "inherited"
    assert root.time is not None
    english = [render_terminal(report), render_markdown(report), agent_prompt(report)]
    assert all(root.time not in text for text in english)
    assert all(f"after {root.time[:19]}" in text for text in english[:2])
    assert f"{root.time[:19]} 之后" in render_markdown(report, "zh")


def test_the_first_error_of_a_rank_is_its_first_stamped_one(fixture_run: Callable[[str], Path]) -> None:
    report = analyze(fixture_run("peer-missing"), jobs=1)
    failing = [rank for rank in report.cluster.ranks if rank.first_error]
    assert failing
    assert {rank.first_error_quality for rank in failing} == {"exact"}
    unstamped = {entry.time for entry in report.chain if entry.time_quality == "inherited"}
    assert unstamped
    assert unstamped.isdisjoint(rank.first_error for rank in failing)
    assert "First noticed by: rank 0 · node node-07 · device 0 · pid 33120 · 2026-02-20T15:35:11" in render_terminal(
        report
    )


def test_a_short_code_is_named_as_explain_takes_it(tmp_path: Path) -> None:
    stamp = "2026-03-09-10:09:16.534.120"
    (tmp_path / "plog-4711_20260309100900000.log").write_text(
        f"[ERROR] RUNTIME(4711,python):{stamp} [npu_driver.cc:691]4711 DevMemAllocHugePageManaged:[driver interface] "
        "halMemAlloc failed: device_id=1, size=1610612736, type=2, env_type=3, drvRetCode=6!\n",
        encoding="utf-8",
    )
    report = analyze(tmp_path, jobs=1)
    root = report.verdict.root_cause
    assert root is not None
    assert (root.code, root.code_name) == ("6", "drv:6")
    assert explain(["drv:6"]).answers[0].entries
    assert "(drv:6)" in render_terminal(report)
    assert "`drv:6`" in render_markdown(report)


def test_a_code_that_is_clear_alone_keeps_its_form(fixture_run: Callable[[str], Path]) -> None:
    root = analyze(fixture_run("five-step-replay-aicore"), jobs=1).verdict.root_cause
    assert root is not None
    assert root.code == "0x10"
    assert root.code_name is None


def _of_rank(rank: int, name: str, signature: str) -> Incident:
    fields = {"number": 15, "signal": "SIGTERM"} if signature == "launcher/signal-term" else {}
    return incident(name, finding(signature, rank=rank, line=rank + 1, **fields))  # type: ignore[arg-type]  # any field


def test_ranks_that_only_a_signal_ended_are_accounted_for() -> None:
    signatures = {one.id: one for one in load_grammar().signatures}
    root = _of_rank(1, "root", "python/process-raised")
    late = [_of_rank(rank, f"i{rank}", "launcher/signal-term") for rank in (0, 2, 4)]
    failed = _of_rank(4, "own", "python/process-raised")
    places: dict[str, Place] = {one.id: "teardown" for one in late}
    chain = Chain(incidents=(root, failed, *late), places={"root": "root", "own": "cascade", **places}, root="root")
    judgement = judge_chain(
        chain,
        steps=None,
        symptom=None,
        signatures=signatures,
        codes={},
        where={"root": "x:1"},
        clocks=(),
        heard=Heard(),
    )
    said = state_verdict(chain, judgement, signatures)
    assert "Ranks 0, 2 were only ended by SIGTERM." in said.en
    assert "rank 0, 2 都只是被 SIGTERM 终止。" in said.zh
