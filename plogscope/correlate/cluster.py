"""Who takes part in the job, and when each process wrote its first and last record."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from plogscope.correlate.clocks import Clocks
from plogscope.correlate.homes import Homes
from plogscope.correlate.identity import Identities
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock, Cluster, Process
from plogscope.model.source import Bundle


def build_cluster(
    bundle: Bundle,
    identities: Identities,
    clocks: Clocks,
    spans: Mapping[int, Mapping[int, tuple[int, int]]],
    homes: Homes = Homes(),  # noqa: B008 - frozen
) -> Cluster:
    """Processes with their spans on the reference clock.

    Args:
        bundle: The sources.
        identities: Rank and device of each process.
        clocks: Offsets.
        spans: (first, last) local stamps by pid by source id.
        homes: Machines of processes.
    """
    seen: dict[tuple[str | None, int], Span] = {}
    for source in bundle.sources:
        for pid, (first, last) in spans.get(source.id, {}).items():
            known_pid = pid or source.pid
            if not known_pid or known_pid < 0:
                continue
            key = (homes.node(source.node, known_pid), known_pid)
            index = clocks.index(source.id, key[0])
            shift = int(clocks.clocks[index].offset_s * SECOND_NS)
            seen[key] = _wider(seen.get(key), (first + shift, last + shift, index), clocks.clocks)
    processes = [_process(key, identities.processes.get(key), span) for key, span in seen.items()]
    processes += [process for key, process in identities.processes.items() if key not in seen]
    return Cluster(
        processes=tuple(sorted(processes, key=_shown_first)),
        clocks=clocks.clocks,
        communicators=identities.communicators,
        expected_ranks=identities.expected_ranks,
    )


Span = tuple[int, int, int]
"""First and last record on the reference clock, and the clock that says so."""


def _wider(known: Span | None, more: Span, clocks: Sequence[Clock]) -> Span:
    """Both together; of clocks that nothing relates the better proven one."""
    if known is None:
        return more
    a, b = clocks[known[2]], clocks[more[2]]
    if a.doubt_s(b) is None:
        return more if b.uncertainty_s < a.uncertainty_s else known
    return (min(known[0], more[0]), max(known[1], more[1]), known[2] if a.uncertainty_s <= b.uncertainty_s else more[2])


def _process(key: tuple[str | None, int], known: Process | None, span: Span) -> Process:
    process = known or Process(node=key[0], pid=key[1])
    return msgspec.structs.replace(process, first_ns=span[0], last_ns=span[1], clock=span[2])


def _shown_first(process: Process) -> tuple[int, str, int]:
    rank = process.rank if process.rank is not None else 1 << 30
    return (rank, process.node or "", process.pid or 0)


def last_words(
    bundle: Bundle, cluster: Cluster, clocks: Clocks, ends: Mapping[int, tuple[int, int]]
) -> dict[tuple[object, ...], list[tuple[int, int]]]:
    """(clock, time on the reference clock) of the last record in each file that one process wrote alone.

    They stand under ("pid", node, pid); under ("rank", rank) if one process has it; a printed log of one rank under
    ("source", id).

    Args:
        bundle: The sources.
        cluster: Who has which rank.
        clocks: Offsets.
        ends: (first, last) local stamp by source id.
    """
    found: dict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for source in bundle.sources:
        if source.id not in ends:
            continue
        clock = clocks.index(source.id, source.node)
        end = (clock, ends[source.id][1] + int(clocks.clocks[clock].offset_s * SECOND_NS))
        if source.pid is not None:
            found["pid", source.node, source.pid].append(end)
        elif source.rank is not None and source.kind == "stdout":
            found["source", source.id].append(end)
    holders = Counter(process.rank for process in cluster.processes)
    for process in cluster.processes:
        if process.rank is not None and holders[process.rank] == 1:
            found["rank", process.rank] += found.get(("pid", process.node, process.pid), [])
    return found


def nodes_of(cluster: Cluster, bundle: Bundle) -> Sequence[str]:
    """Names of all nodes, sorted."""
    names = {process.node for process in cluster.processes} | {source.node for source in bundle.sources}
    return sorted(name for name in names if name)
