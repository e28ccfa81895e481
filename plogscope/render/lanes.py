"""Swim-lanes: what the ranks that matter did around the failure, in real time, one lane a rank or group of equal ranks.

The matrix shows the whole run in bins; here the axis is only the time between the first and the last finding, so that
the order inside one second can be seen. A bar is a wait from its start to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import msgspec

from plogscope.model.report import ChainEntry, RankEntry, Report
from plogscope.render import facts

MAX_LANES = 24
_MARKS_A_LANE = 12
_GUTTER, _PLOT, _MARGIN, _AXIS = 168, 812, 12, 30
_HEIGHT = 26
_TICKS = 5
_PAD = 0.04
_SHORTEST_S = 0.001
_EPOCH = datetime(2000, 1, 1)  # noqa: DTZ001 - local, as printed
_ACTOR = tuple[int | None, str | None, int | None, str | None]


class LaneMark(msgspec.Struct, frozen=True):
    """A finding on a lane; `count` findings of the same role stand on the same spot."""

    x: float
    entry: ChainEntry
    count: int


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """One rank, or ranks that did the same. x is in units of the view box; `alive` is where records end."""

    rank: int | None
    label: str
    alike: list[int]
    alike_count: int
    y: float
    alive: float | None
    waits: list[tuple[float, float]]
    marks: list[LaneMark]
    strong: bool
    entries: list[ChainEntry]
    last_seen: str | None
    silent: bool


class Lanes(msgspec.Struct, frozen=True, kw_only=True):
    """The picture: lanes, the axis, and how many ranks are on no lane."""

    lanes: list[Lane]
    start: str
    ticks: list[tuple[float, float]]
    width: int
    height: int
    left_out: int
    gutter: int
    plot_width: int


class _Row(msgspec.Struct, kw_only=True):
    key: _ACTOR
    entries: list[ChainEntry] = []
    rank: RankEntry | None = None
    suspect: bool = False


def _seconds(time: str | None) -> float | None:
    if not time:
        return None
    try:
        return (datetime.fromisoformat(time) - _EPOCH).total_seconds()
    except (ValueError, TypeError):
        return None


def _at(entry: ChainEntry) -> float | None:
    """When an entry was written, on the reference clock."""
    printed = _seconds(entry.time)
    return None if printed is None else printed + entry.offset_s


def _key(entry: ChainEntry | RankEntry, file: str | None = None) -> _ACTOR:
    if entry.rank is not None:
        return (entry.rank, None, None, None)
    if entry.pid is not None:
        return (None, entry.node, entry.pid, None)
    return (None, entry.node, None, file)


def draw_lanes(report: Report) -> Lanes | None:
    """The lanes of a report; None when no finding has a time, or nothing but one process is there."""
    rows = _rows(report)
    times = [
        at for row in rows for entry in row.entries for at in (_at(entry), _seconds(entry.start_time)) if at is not None
    ]
    if not times:
        return None
    first, last = min(times), max(times)
    pad = max((last - first) * _PAD, _SHORTEST_S)
    scale = _PLOT / (last - first + 2 * pad)
    begin = first - pad
    groups = _grouped([row for row in rows if _belongs(row, begin)])
    kept = groups[:MAX_LANES]
    lanes = [_lane(group, number, begin, scale, report) for number, group in enumerate(kept)]
    return Lanes(
        lanes=lanes,
        start=(_EPOCH + timedelta(seconds=first)).isoformat(timespec="microseconds"),
        ticks=[
            (round(_GUTTER + (pad + (last - first) * step / _TICKS) * scale, 1), (last - first) * step / _TICKS)
            for step in range(_TICKS + 1)
        ],
        width=_GUTTER + _PLOT + _MARGIN,
        height=len(lanes) * _HEIGHT + _AXIS,
        left_out=sum(len(group) for group in groups[MAX_LANES:]),
        gutter=_GUTTER,
        plot_width=_PLOT,
    )


def _belongs(row: _Row, begin: float) -> bool:
    """Ranks and suspects always; another process only with a finding that has a time, or records in this window."""
    if row.key[0] is not None or row.suspect or any(_at(entry) is not None for entry in row.entries):
        return True
    seen = _seconds(row.rank.last_seen) if row.rank else None
    return seen is not None and seen >= begin


def _rows(report: Report) -> list[_Row]:
    """Everybody who wrote a finding, is a rank of the job, or is suspected, the most interesting first."""
    rows: dict[_ACTOR, _Row] = {}
    for entry in report.chain:
        if entry.role != "recovered":
            key = _key(entry, entry.file)
            rows.setdefault(key, _Row(key=key, entries=[])).entries.append(entry)
    for rank in report.cluster.ranks:
        key = _key(rank)
        rows.setdefault(key, _Row(key=key, entries=[])).rank = rank
    for suspect in report.verdict.suspects:
        if suspect.rank is not None:
            key = (suspect.rank, None, None, None)
            rows.setdefault(key, _Row(key=key, entries=[])).suspect = True
    roots = {entry.id for entry in report.chain if entry.role == "root"}

    def importance(row: _Row) -> tuple[bool, bool, float, str]:
        times = [at for entry in row.entries if (at := _seconds(entry.start_time) or _at(entry)) is not None]
        has_root = any(entry.id in roots for entry in row.entries)
        return (not has_root, not row.suspect, min(times, default=1e18), f"{row.key[0] or 0:08d}{row.key[1:]}")

    return sorted(rows.values(), key=importance)


def _grouped(rows: Sequence[_Row]) -> list[list[_Row]]:
    """Rows that report the same findings in the same order, and went silent or not, are one lane."""
    groups: dict[object, list[_Row]] = {}
    for row in rows:
        findings = tuple((entry.role, entry.signature or entry.title.en) for entry in row.entries)
        silent = bool(row.rank and row.rank.silent_since)
        alone = row.suspect or any(entry.role == "root" for entry in row.entries) or row.key[0] is None
        key: object = row.key if alone else (findings, silent, row.rank is None)
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _lane(group: Sequence[_Row], number: int, begin: float, scale: float, report: Report) -> Lane:
    row = group[0]
    end = _GUTTER + _PLOT

    def place(time: float) -> float:
        return round(min(max(_GUTTER + (time - begin) * scale, _GUTTER), end), 1)

    last = row.rank.last_seen if row.rank else max((e.time for e in row.entries if e.time), default=None)
    seen = _seconds(last)
    spans = [(_seconds(entry.start_time), _at(entry)) for entry in row.entries]
    waits = {(place(a), place(b)) for a, b in spans if a is not None and b is not None and b - a > _SHORTEST_S}
    ranks = [one.key[0] for one in group[1:] if one.key[0] is not None]
    suspects = {suspect.rank for suspect in report.verdict.suspects}
    return Lane(
        rank=row.key[0],
        label=_label(row),
        alike=ranks,
        alike_count=len(group) - 1,
        y=number * _HEIGHT + _HEIGHT / 2,
        alive=None if seen is None or seen < begin else place(seen),
        waits=sorted(waits),
        marks=_marks(row.entries, place),
        strong=any(entry.role == "root" for entry in row.entries)
        or (report.verdict.status != "explained" and row.key[0] is not None and row.key[0] in suspects),
        entries=row.entries,
        last_seen=last,
        silent=bool(row.rank and row.rank.silent_since),
    )


def _label(row: _Row) -> str:
    rank, node, pid, file = row.key
    if rank is not None:
        where = next((one.node for one in [row.rank, *row.entries] if one is not None and one.node), None)
        return f"rank {rank}" + (f" {where}" if where else "")
    if pid is not None:
        return f"pid {pid}" + (f" {node}" if node else "")
    return (file or node or "?").rsplit("/", 1)[-1]


def _marks(entries: Sequence[ChainEntry], place: Callable[[float], float]) -> list[LaneMark]:
    """Marks from the least to the most important; those on one spot are one mark."""
    spots: dict[tuple[int, str], LaneMark] = {}
    for entry in entries:
        at = _at(entry)
        if at is None:
            continue
        x = place(at)
        key = (round(x / 6), entry.role)
        known = spots.get(key)
        spots[key] = LaneMark(x, entry, 1) if known is None else LaneMark(known.x, known.entry, known.count + 1)
    ordered = sorted(spots.values(), key=lambda mark: facts.ROLE_ORDER.index(mark.entry.role))
    return ordered[:_MARKS_A_LANE][::-1]
