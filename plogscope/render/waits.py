"""Who waited for whom: ranks as boxes, waits as arrows, and the same as sentences.

Ranks that wait for the same ranks are one box, so a job of a thousand ranks that hangs on one is two boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from plogscope.model.report import ChainEntry, Report
from plogscope.wording import spans

_MAX_BOXES = 12
_WIDTH, _BOX, _BOX_HEIGHT, _GAP_Y = 900, 220, 40, 18


class Box(msgspec.Struct, frozen=True, kw_only=True):
    """Ranks that wait for the same ranks; `awaited` = others wait for it and it waits for nobody."""

    ranks: list[int]
    label: str
    x: int
    y: int
    width: int
    height: int
    awaited: bool


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """The ranks `waiters` waited for the ranks `awaited`; `entry` is a line that says so."""

    waiters: list[int]
    awaited: list[int]
    entry: ChainEntry
    path: str


class WaitGraph(msgspec.Struct, frozen=True, kw_only=True):
    """The picture and its sentences; `proven` is false while the graph rests on witnesses only."""

    boxes: list[Box]
    waits: list[Wait]
    width: int
    height: int
    left_out: int
    proven: bool


def draw_waits(report: Report) -> WaitGraph | None:
    """The graph of a report; None when no rank waited for another one."""
    targets, said = _edges(report)
    if not targets:
        return None
    groups: dict[tuple[int, ...], list[int]] = {}
    for waiter in sorted(targets):
        groups.setdefault(tuple(sorted(targets[waiter])), []).append(waiter)
    lists = sorted(groups.items(), key=lambda item: -len(item[1]))
    kept = lists[:_MAX_BOXES]
    boxes = _boxes([waiters for _, waiters in kept], [awaited for awaited, _ in kept], targets)
    at = {rank: box for box in boxes for rank in box.ranks}
    waits = [
        Wait(waiters=waiters, awaited=list(awaited), entry=said[waiters[0]], path=_arrow(at[waiters[0]], at, awaited))
        for awaited, waiters in kept
    ]
    bottom = max(box.y + box.height for box in boxes)
    return WaitGraph(
        boxes=boxes,
        waits=waits,
        width=_WIDTH,
        height=bottom + 2,
        left_out=sum(len(waiters) for _, waiters in lists[_MAX_BOXES:]),
        proven=report.verdict.status == "explained",
    )


def _edges(report: Report) -> tuple[dict[int, set[int]], dict[int, ChainEntry]]:
    """The ranks that each rank waited for, and the line that says so."""
    by_id = {entry.id: entry for entry in report.chain}
    targets: dict[int, set[int]] = {}
    said: dict[int, ChainEntry] = {}
    if report.verdict.status == "explained":
        for entry in report.chain:
            cause = by_id.get(entry.explained_by[0]) if entry.explained_by else None
            ranks = (entry.rank, cause.rank if cause else None)
            if entry.relation == "starves" and ranks[0] is not None and ranks[1] is not None and ranks[0] != ranks[1]:
                targets.setdefault(ranks[0], set()).add(ranks[1])
                said.setdefault(ranks[0], entry)
        return targets, said
    suspects = {suspect.rank for suspect in report.verdict.suspects if suspect.rank is not None}
    if report.verdict.status == "insufficient" and report.verdict.category == "communication" and suspects:
        for entry in report.chain:
            if entry.role == "witness" and entry.rank is not None and entry.rank not in suspects:
                targets.setdefault(entry.rank, set()).update(suspects)
                said.setdefault(entry.rank, entry)
    return targets, said


def _boxes(waiting: list[list[int]], awaited: list[tuple[int, ...]], targets: Mapping[int, set[int]]) -> list[Box]:
    """Waiters left, whom they wait for right; who waits itself stands between."""
    groups = [list(ranks) for ranks in waiting]
    ends: dict[tuple[int, ...], None] = {}
    for ranks in awaited:
        end = tuple(rank for rank in ranks if rank not in targets)
        if end:
            ends.setdefault(end)
    seen: set[int] = set()
    last: list[list[int]] = []
    for end in ends:
        fresh = [rank for rank in end if rank not in seen]
        seen.update(fresh)
        if fresh:
            last.append(fresh)
    wanted = {rank for ranks in awaited for rank in ranks}
    columns = [
        [ranks for ranks in groups if not wanted.intersection(ranks)],
        [ranks for ranks in groups if wanted.intersection(ranks)],
        last,
    ]
    shown = [column for column in columns if column]
    step = (_WIDTH - _BOX) // max(len(shown) - 1, 1)
    return [
        Box(
            ranks=ranks,
            label=spans(ranks),
            x=number * step + 1,
            y=row * (_BOX_HEIGHT + _GAP_Y) + 1,
            width=_BOX - 2,
            height=_BOX_HEIGHT,
            awaited=column is last,
        )
        for number, column in enumerate(shown)
        for row, ranks in enumerate(column)
    ]


def _arrow(start: Box, at: Mapping[int, Box], awaited: Iterable[int]) -> str:
    """Curves from the box of the waiters to each box that they wait for."""
    ends = {id(at[rank]): at[rank] for rank in awaited if rank in at}
    curves = []
    for end in ends.values():
        x1, y1 = start.x + start.width, start.y + start.height // 2
        x2, y2 = end.x - 8, end.y + end.height // 2
        if end.x <= start.x:
            x1, x2 = start.x + start.width // 2, end.x + end.width // 2
            y1, y2 = start.y + start.height, end.y
        middle = (x1 + x2) // 2
        curves.append(f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}")
    return "".join(curves)
