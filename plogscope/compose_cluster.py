"""The cluster of a report: nodes, ranks, communicators and clocks."""

from __future__ import annotations

from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Chain, Cluster
from plogscope.model.record import ProcessKey
from plogscope.model.report import ClockEntry, ClusterEntry, CommunicatorEntry, RankEntry
from plogscope.model.source import Bundle
from plogscope.model.vocabulary import TimeQuality
from plogscope.moment import iso_local

MAX_RANKS = 4096

SILENT_NS = 60 * SECOND_NS
"""A process whose last record is this much older than the last one of the job was silent at the end."""


def cluster_entry(bundle: Bundle, chain: Chain, cluster: Cluster) -> ClusterEntry:
    """Who took part in the job, what each said first and last, and on which clock."""
    names = {process.node for process in cluster.processes} | {source.node for source in bundle.sources}
    return ClusterEntry(
        nodes=sorted(name for name in names if name),
        ranks=_rank_entries(chain, cluster)[:MAX_RANKS],
        communicators=[
            CommunicatorEntry(identifier=one.identifier, size=one.size, ranks=list(one.ranks))
            for one in cluster.communicators
        ],
        clocks=[
            ClockEntry(
                clock=clock.name,
                offset_s=clock.offset_s,
                uncertainty_s=None if clock.basis == "assumed" else clock.uncertainty_s,
                basis=clock.basis,
                proof=clock.proof,
                zone_s=clock.zone_s,
            )
            for clock in cluster.clocks
        ],
    )


def _rank_entries(chain: Chain, cluster: Cluster) -> list[RankEntry]:
    first = _first_errors(chain)
    job_end = _ends(cluster)
    ranks = []
    for process in cluster.processes:
        first_error = first.get(process.key)
        silent = process.last_ns is not None and job_end[process.clock] - process.last_ns > SILENT_NS
        ranks.append(
            RankEntry(
                rank=process.rank,
                node=process.node,
                device=process.device,
                pid=process.pid,
                first_error=iso_local(first_error[1]) if first_error else None,
                last_seen=iso_local(process.last_ns),
                silent_since=iso_local(process.last_ns) if silent else None,
                first_error_quality=_quality(first_error),
            )
        )
    return ranks


def _first_errors(chain: Chain) -> dict[ProcessKey | None, tuple[bool, int]]:
    """Process → whether the time is inherited, and its first error on the reference clock; a stamp goes first."""
    first: dict[ProcessKey | None, tuple[bool, int]] = {}
    for one in chain.incidents:
        for finding in (one.lead, *one.findings) if one.role != "teardown" else ():
            if finding.time_ns is not None:
                at = finding.time_ns + round(finding.offset_s * SECOND_NS)
                found = (finding.time_quality == "inherited", at)
                first[one.actor.process] = min(first.get(one.actor.process, found), found)
    return first


def _quality(first_error: tuple[bool, int] | None) -> TimeQuality:
    if first_error is None:
        return "none"
    return "inherited" if first_error[0] else "exact"


def _ends(cluster: Cluster) -> dict[int, int]:
    """Clock → the last record of all processes on clocks that compare with it."""
    last: dict[int, int] = {}
    for process in cluster.processes:
        if process.last_ns is not None:
            last[process.clock] = max(last.get(process.clock, process.last_ns), process.last_ns)
    clocks = cluster.clocks
    return {
        own: max(end for other, end in last.items() if clocks[own].doubt_s(clocks[other]) is not None) for own in last
    }
