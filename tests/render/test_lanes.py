from __future__ import annotations

import msgspec

from plogscope.model.report import ClusterEntry, SuspectEntry
from plogscope.model.vocabulary import Text
from plogscope.render.lanes import MAX_LANES, draw_lanes
from plogscope.render.waits import draw_waits
from tests.render import reports


def test_the_rank_of_the_first_cause_is_the_first_lane_and_equal_ranks_share_one() -> None:
    lanes = draw_lanes(reports.explained())
    assert lanes is not None
    assert [lane.rank for lane in lanes.lanes] == [13, 2, None, 0]
    assert lanes.lanes[0].strong
    assert lanes.lanes[3].alike == [1, *range(3, 13), 14, 15]
    assert lanes.start == "2026-02-14T08:47:31.204771"


def test_a_wait_is_a_bar_from_its_start_to_its_end_and_other_findings_have_none() -> None:
    lanes = draw_lanes(reports.explained())
    assert lanes is not None
    assert [len(lane.waits) for lane in lanes.lanes] == [0, 1, 0, 0]
    ((begin, end),) = lanes.lanes[1].waits
    assert lanes.gutter < begin < end <= lanes.gutter + lanes.plot_width


def test_a_clock_that_is_wrong_moves_the_mark_and_makes_no_wait() -> None:
    report = reports.explained()
    late = msgspec.structs.replace(
        report.chain[0], time="2026-02-14T08:48:12.204771", start_time="2026-02-14T08:47:31.204771", offset_s=-41.0
    )
    plain, moved = draw_lanes(report), draw_lanes(msgspec.structs.replace(report, chain=[late, *report.chain[1:]]))
    assert plain is not None
    assert moved is not None
    assert moved.lanes[0].waits == []
    assert [mark.x for mark in moved.lanes[0].marks] == [mark.x for mark in plain.lanes[0].marks]


def test_a_job_of_a_thousand_ranks_has_few_lanes_and_says_how_many_are_missing() -> None:
    report = reports.huge()
    lanes = draw_lanes(report)
    assert lanes is not None
    assert len(lanes.lanes) <= MAX_LANES
    shown = sum(1 + lane.alike_count for lane in lanes.lanes if lane.rank is not None)
    assert shown + lanes.left_out >= 1_024


def test_nothing_that_failed_gives_no_lanes_and_no_graph() -> None:
    assert draw_lanes(reports.no_failure()) is None
    assert draw_waits(reports.no_failure()) is None


def test_the_graph_says_who_waited_for_whom() -> None:
    graph = draw_waits(reports.explained())
    assert graph is not None
    assert graph.proven
    assert [(wait.waiters, wait.awaited, wait.entry.id) for wait in graph.waits] == [([2], [13], "c-3")]
    assert [(box.label, box.awaited) for box in graph.boxes] == [("2", False), ("13", True)]


def test_ranks_that_wait_for_the_same_rank_are_one_box() -> None:
    report = reports.explained()
    waits = [msgspec.structs.replace(report.chain[2], id=f"w{rank}", rank=rank) for rank in range(13)]
    graph = draw_waits(msgspec.structs.replace(report, chain=[*report.chain[:2], *waits]))
    assert graph is not None
    assert [box.label for box in graph.boxes] == ["0-12", "13"]


def test_ranks_that_wait_for_each_other_are_drawn_and_do_not_loop() -> None:
    report = reports.explained()
    first = msgspec.structs.replace(report.chain[2], id="a", rank=0, explained_by=["b"])
    second = msgspec.structs.replace(report.chain[2], id="b", rank=1, explained_by=["a"])
    graph = draw_waits(msgspec.structs.replace(report, chain=[first, second]))
    assert graph is not None
    assert sorted((wait.waiters, wait.awaited) for wait in graph.waits) == [([0], [1]), ([1], [0])]


def test_witnesses_only_point_at_a_suspect() -> None:
    report = reports.insufficient()
    graph = draw_waits(report)
    assert graph is not None
    assert not graph.proven
    assert [(wait.waiters, wait.awaited) for wait in graph.waits] == [([2], [13])]


def test_a_suspect_without_a_log_has_a_lane_without_a_line() -> None:
    report = reports.insufficient()
    empty = ClusterEntry(nodes=[], ranks=[], communicators=[], clocks=[])
    why = Text("It is missing.", "缺失。")
    suspect = SuspectEntry(rank=13, node=None, device=None, pid=None, why=why, need=why)
    verdict = msgspec.structs.replace(report.verdict, suspects=[suspect])
    lanes = draw_lanes(msgspec.structs.replace(report, cluster=empty, verdict=verdict))
    assert lanes is not None
    assert [(lane.rank, lane.alive, lane.strong) for lane in lanes.lanes][:1] == [(13, None, True)]
