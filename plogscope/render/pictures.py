"""Pictures without a drawing library: an indexed PNG of records over rank and time, and the geometry of two SVGs.

The PNG is written by hand (zlib and struct), because a picture of 1,024 ranks by 1,200 bins is 100 KB this way and
megabytes as drawing elements. Counts are greys with transparency, so that one picture serves light and dark pages;
colour is used only for what belongs to a finding.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from math import ceil, log

import msgspec

from plogscope.model.report import ChainEntry, Report, Timeline, TimelineRank
from plogscope.render.facts import ROLE_ORDER, foremost

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS, _INDEXED = 8, 3
_GREY_STEPS = 5
_PALETTE: tuple[tuple[int, int, int, int], ...] = (
    (0, 0, 0, 0),
    (112, 124, 140, 38),
    (112, 124, 140, 80),
    (112, 124, 140, 122),
    (112, 124, 140, 164),
    (112, 124, 140, 206),
    (217, 45, 32, 255),
    (224, 123, 0, 255),
    (130, 80, 223, 255),
    (84, 103, 130, 255),
    (26, 127, 55, 255),
)
_ROLE_COLOUR = {"root": 6, "cascade": 7, "witness": 8, "teardown": 9, "recovered": 10}
_MAX_BINS = 1_200
_MAX_ROWS = 1_024
_MAX_SHAPES = 240
_SHAPE_ROW = 8
_COLUMNS_PER_MARK = 400
_ROW_HEIGHTS = ((16, 18), (32, 13), (64, 8), (256, 3))
_LABEL_GAP = 12
_GUTTER, _PLOT, _AXIS, _MARGIN = 168, 812, 30, 6
_TICKS = 6


class Label(msgspec.Struct, frozen=True):
    """A text at a height of the picture; `strong` marks the row of the first failure."""

    y: float
    text: str
    strong: bool


class Tick(msgspec.Struct, frozen=True):
    """A place on the time axis, in seconds after its start."""

    x: float
    seconds: float


class Mark(msgspec.Struct, frozen=True):
    """A finding on the picture: `role` chooses shape and colour, `entry` is the chain id."""

    x: float
    y: float
    role: str
    entry: str


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Records per rank and time bin: the PNG and what is drawn around it, in units of the view box."""

    png_base64: str
    width: int
    height: int
    gutter: int
    plot_width: int
    plot_height: int
    labels: list[Label]
    ticks: list[Tick]
    marks: list[Mark]
    rows: int
    rows_left_out: int
    marks_left_out: int
    roles: list[str]


def write_png(pixels: Sequence[bytes], palette: Sequence[tuple[int, int, int, int]]) -> bytes:
    """An indexed PNG of `pixels` (one bytes object a row, one palette index a pixel); colours are RGBA.

    Source: PNG specification, third edition: IHDR, PLTE, tRNS, IDAT (filter type 0 before each row), IEND.
    """
    width = len(pixels[0]) if pixels else 0
    header = struct.pack(">IIBBBBB", width, len(pixels), _EIGHT_BITS, _INDEXED, 0, 0, 0)
    colours = b"".join(bytes(colour[:3]) for colour in palette)
    alphas = bytes(colour[3] for colour in palette)
    data = zlib.compress(b"".join(b"\x00" + row for row in pixels), 9)
    chunks = ((b"IHDR", header), (b"PLTE", colours), (b"tRNS", alphas), (b"IDAT", data), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def draw_matrix(report: Report) -> Matrix | None:
    """The picture of the timeline; None when there is nothing to show."""
    timeline = report.timeline
    bins = _used_bins(timeline)
    if not timeline.ranks or not bins:
        return None
    roles = {entry.id: entry.role for entry in report.chain}
    rows = _choose_rows(timeline.ranks, roles)
    fold = ceil(bins / _MAX_BINS)
    columns = ceil(bins / fold)
    counts = [_fold(rank, fold, columns) for rank in rows]
    most = max(map(max, counts))
    pixels = [_pixels(row, most, rank, roles, fold) for rank, row in zip(rows, counts, strict=True)]
    row_height = next((height for limit, height in _ROW_HEIGHTS if len(rows) <= limit), 1)
    plot_height = row_height * len(rows)
    marks = _marks(rows, roles, bins, row_height)
    # Where rows are thinner than a shape, shapes would hide each other and the colours below them.
    shapes = [mark for mark in marks if row_height >= _SHAPE_ROW or mark.role == "root"][:_MAX_SHAPES]
    return Matrix(
        png_base64=base64.b64encode(write_png(pixels, _PALETTE)).decode("ascii"),
        width=_GUTTER + _PLOT + _MARGIN,
        height=plot_height + _AXIS,
        gutter=_GUTTER,
        plot_width=_PLOT,
        plot_height=plot_height,
        labels=_labels(rows, _strong_rows(report, rows, roles), row_height),
        ticks=_ticks(timeline, bins),
        marks=shapes[::-1],
        rows=len(rows),
        rows_left_out=len(timeline.ranks) - len(rows),
        marks_left_out=len(marks) - len(shapes),
        roles=[role for role in ROLE_ORDER if any(mark.role == role for mark in marks)],
    )


def _used_bins(timeline: Timeline) -> int:
    """Bins up to the last one that holds anything: a short run must not be a narrow strip on the left."""
    last = -1
    for rank in timeline.ranks:
        for counts in rank.counts:
            last = max(last, next((at for at in range(len(counts) - 1, last, -1) if counts[at]), last))
        most = max((len(counts) for counts in rank.counts), default=0)
        last = max([last, *(place for place, _ in rank.marks if place < most)])
    return last + 1


def _choose_rows(ranks: Sequence[TimelineRank], roles: Mapping[str, str]) -> list[TimelineRank]:
    """At most 1,024 rows in their order; rows with findings are never left out before rows without."""
    if len(ranks) <= _MAX_ROWS:
        return list(ranks)

    def importance(position: int) -> tuple[int, int]:
        found = [ROLE_ORDER.index(roles[entry]) for _, entry in ranks[position].marks if entry in roles]
        return (min(found, default=len(ROLE_ORDER)), position)

    kept = sorted(sorted(range(len(ranks)), key=importance)[:_MAX_ROWS])
    return [ranks[position] for position in kept]


def _fold(rank: TimelineRank, fold: int, columns: int) -> list[int]:
    """Records of all levels per column."""
    totals = [0] * columns
    for counts in rank.counts:
        for position, count in enumerate(counts):
            if count and position // fold < columns:
                totals[position // fold] += count
    return totals


def _pixels(row: list[int], most: int, rank: TimelineRank, roles: Mapping[str, str], fold: int) -> bytes:
    scale = (_GREY_STEPS - 1) / log(most) if most > 1 else 0.0
    shades = {count: 1 + int(log(count) * scale) if count > 0 else 0 for count in set(row)}
    pixels = bytearray(min(shades[count], _GREY_STEPS) for count in row)
    # A page shows fewer pixels than there are columns and drops some: a mark is as wide as survives that.
    reach = ceil(len(row) / _COLUMNS_PER_MARK)
    for place, entry in sorted(rank.marks, key=lambda mark: -ROLE_ORDER.index(roles.get(mark[1], "recovered"))):
        column = place // fold
        if entry in roles and 0 <= column < len(pixels):
            end = min(column + reach, len(pixels))
            pixels[column:end] = bytes([_ROLE_COLOUR[roles[entry]]]) * (end - column)
    return bytes(pixels)


def _marks(rows: Sequence[TimelineRank], roles: Mapping[str, str], bins: int, row_height: int) -> list[Mark]:
    """Marks, the most important first: the cut keeps those, and they are drawn last, on top."""
    found = [
        Mark(
            x=round(_GUTTER + (place + 0.5) / bins * _PLOT, 1),
            y=(row + 0.5) * row_height,
            role=roles[entry],
            entry=entry,
        )
        for row, rank in enumerate(rows)
        for place, entry in rank.marks
        if entry in roles and 0 <= place < bins
    ]
    return sorted(found, key=lambda mark: ROLE_ORDER.index(mark.role))


def _strong_rows(report: Report, rows: Sequence[TimelineRank], roles: Mapping[str, str]) -> set[int]:
    """Rows that the verdict is about: the first cause, or while there is none the suspects."""
    if report.verdict.status == "explained":
        return {row for row, rank in enumerate(rows) if any(roles.get(entry) == "root" for _, entry in rank.marks)}
    suspects = {suspect.rank for suspect in report.verdict.suspects if suspect.rank is not None}
    return {row for row, rank in enumerate(rows) if rank.rank in suspects}


def _labels(rows: Sequence[TimelineRank], strong: set[int], row_height: int) -> list[Label]:
    """Row labels, thinned so that they do not touch; the first strong row always has one."""
    step = max(1, ceil(_LABEL_GAP / row_height))
    first = next(iter(sorted(strong)), None)
    labels = []
    for row, rank in enumerate(rows):
        regular = row % step == 0 and (first is None or row == first or abs(row - first) >= step)
        if row == first or regular or (row in strong and step == 1):
            labels.append(Label(y=(row + 0.5) * row_height, text=rank.label, strong=row in strong))
    return labels


def _ticks(timeline: Timeline, bins: int) -> list[Tick]:
    duration = bins * timeline.bin_s
    return [
        Tick(x=round(_GUTTER + _PLOT * step / _TICKS, 1), seconds=duration * step / _TICKS)
        for step in range(_TICKS + 1)
    ]


_MAX_NODES = 12
_NODE_HEIGHT, _NODE_GAP, _INDENT, _MAX_DEPTH = 44, 10, 26, 6
_TREE_WIDTH = 900


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A box of the chain picture and the corner of the box that explains it (None for a first one)."""

    entry: ChainEntry
    x: int
    y: int
    width: int
    height: int
    parent_x: int | None
    parent_y: int | None


class Tree(msgspec.Struct, frozen=True, kw_only=True):
    """The chain as boxes, each below and right of what explains it."""

    nodes: list[Node]
    width: int
    height: int
    left_out: int


def draw_tree(entries: Sequence[ChainEntry]) -> Tree | None:
    """The chain as a tree of at most 12 boxes: the first explanation is the parent; None without entries."""
    kept = foremost(entries, _MAX_NODES)
    if not kept:
        return None
    placed = _depth_first(kept)
    corners: dict[str, tuple[int, int]] = {}
    nodes = []
    for row, (entry, parent, depth) in enumerate(placed):
        x, y = min(depth, _MAX_DEPTH) * _INDENT, row * (_NODE_HEIGHT + _NODE_GAP) + 1
        above = corners.get(parent) if parent is not None else None
        nodes.append(
            Node(
                entry=entry,
                x=x + 1,
                y=y,
                width=_TREE_WIDTH - x - 2,
                height=_NODE_HEIGHT,
                parent_x=above[0] if above else None,
                parent_y=above[1] if above else None,
            )
        )
        corners[entry.id] = (x + _INDENT // 2, y + _NODE_HEIGHT)
    height = len(nodes) * (_NODE_HEIGHT + _NODE_GAP) - _NODE_GAP + 2
    return Tree(nodes=nodes, width=_TREE_WIDTH, height=height, left_out=len(entries) - len(kept))


def _depth_first(entries: Sequence[ChainEntry]) -> list[tuple[ChainEntry, str | None, int]]:
    """Entries with parent and depth, children after their parent; a cycle in the input is cut, not followed."""
    known = {entry.id for entry in entries}
    children: dict[str | None, list[ChainEntry]] = {}
    for entry in entries:
        parent = next((name for name in entry.explained_by if name in known and name != entry.id), None)
        children.setdefault(parent, []).append(entry)
    placed: dict[str, tuple[ChainEntry, str | None, int]] = {}

    def walk(start: str | None, depth: int) -> None:
        for child in children.get(start, []):
            if child.id not in placed:
                placed[child.id] = (child, start, depth)
                walk(child.id, depth + 1)

    walk(None, 0)
    for entry in entries:
        if entry.id not in placed:
            placed[entry.id] = (entry, None, 0)
            walk(entry.id, 1)
    return list(placed.values())
