"""Kept counts per rank and time bin, on the reference clock, for the picture of the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from plogscope.correlate.clocks import Clocks
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Chain, Cluster, Incident
from plogscope.model.record import ProcessKey
from plogscope.model.report import Timeline, TimelineRank
from plogscope.model.source import Bundle

BINS = 120
LEVELS = ["info", "warning", "error"]
MAX_ROWS = 1024

Bins = Mapping[tuple[int, int], int]


def build_timeline(
    bundle: Bundle, clocks: Clocks, cluster: Cluster, chain: Chain, bins: Mapping[int, tuple[int, Bins]]
) -> tuple[int | None, Timeline]:
    """The start (ns on the reference clock) and the timeline; `bins` holds (shift, counts) by source id."""
    rank_of = {p.key: p.rank for p in cluster.processes if p.key is not None and p.rank is not None}
    counted: dict[tuple[str, int | None], dict[tuple[int, int], int]] = defaultdict(dict)
    for source in bundle.sources:
        if source.id not in bins:
            continue
        rank = source.rank if source.rank is not None else rank_of.get((source.node, source.pid or 0))
        label = f"rank {rank}" if rank is not None else source.path
        offset = int(clocks.clocks[clocks.index(source.id, source.node)].offset_s)
        row = counted[label, rank]
        shift, counts = bins[source.id]
        for (start, level), count in counts.items():
            key = ((start << shift) + offset, level)
            row[key] = row.get(key, 0) + count
    seconds = [second for row in counted.values() for second, _ in row]
    if not seconds:
        return None, Timeline(t0=None, bin_s=1.0, ranks=[], levels=LEVELS)
    first = min(seconds)
    width = max(1, -(-(max(seconds) - first + 1) // BINS))
    paths = {source.id: source.path for source in bundle.sources}
    marks = _marks(chain, rank_of, paths, first, width)
    rows = [
        TimelineRank(label=label, rank=rank, counts=_row(row, first, width), marks=marks.get(label, []))
        for (label, rank), row in sorted(
            counted.items(), key=lambda item: (item[0][1] is None, item[0][1] or 0, item[0][0])
        )
    ]
    return first * SECOND_NS, Timeline(t0=None, bin_s=float(width), ranks=rows[:MAX_ROWS], levels=LEVELS)


def _row(row: Mapping[tuple[int, int], int], first: int, width: int) -> list[list[int]]:
    counts = [[0] * BINS for _ in LEVELS]
    for (second, level), count in row.items():
        counts[level][min(BINS - 1, (second - first) // width)] += count
    return counts


def _marks(
    chain: Chain,
    rank_of: Mapping[ProcessKey, int],
    paths: Mapping[int, str],
    first: int,
    width: int,
) -> dict[str, list[tuple[int, str]]]:
    marks: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for incident in chain.incidents:
        label = _label(incident, rank_of) or paths[incident.lead.source]
        if incident.time_ns is not None:
            place = (incident.time_ns // SECOND_NS - first) // width
            if 0 <= place < BINS:
                marks[label].append((place, incident.id))
    return marks


def _label(incident: Incident, rank_of: Mapping[ProcessKey, int]) -> str | None:
    actor = incident.actor
    rank = actor.rank if actor.rank is not None else rank_of.get(actor.process or (None, 0))
    return f"rank {rank}" if rank is not None else None
