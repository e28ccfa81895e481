"""Which machine a process runs on when the line that names it stands in a file of no machine, or of another name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from plogscope.model.record import Finding
from plogscope.model.source import Bundle


class Homes(msgspec.Struct, frozen=True):
    """Machines of processes.

    Attributes:
        by_pid: Pid → the one machine on which a process of that pid wrote CANN logs.
        alias: Name under which a printed log knows a machine (an address) → name of the folder with its CANN logs.
    """

    by_pid: dict[int, str] = {}
    alias: dict[str, str] = {}

    def node(self, node: str | None, pid: int | None) -> str | None:
        """The machine of a process, under the one name that the bundle is told with."""
        if node is None:
            return self.by_pid.get(pid) if pid is not None else None
        return self.alias.get(node, node)


def find_homes(findings: Iterable[Finding], bundle: Bundle) -> Homes:
    """Reads the homes from the names of CANN logs; a machine that only printed logs know is the one of its pids."""
    nodes_of: dict[int, set[str | None]] = defaultdict(set)
    logging: set[str] = set()
    for source in bundle.sources:
        if source.kind in ("plog", "device-log") and source.pid is not None:
            nodes_of[source.pid].add(source.node)
            if source.node is not None:
                logging.add(source.node)
    by_pid = {
        pid: node for pid, nodes in nodes_of.items() if len(nodes) == 1 and (node := next(iter(nodes))) is not None
    }
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    seen: set[tuple[str, int]] = set()
    for finding in findings:
        node, pid = finding.actor.node, finding.actor.pid
        if node is None or node in logging or pid is None or pid not in by_pid or (node, pid) in seen:
            continue
        seen.add((node, pid))
        votes[node][by_pid[pid]] += 1
    return Homes(by_pid, {node: next(iter(count)) for node, count in votes.items() if len(count) == 1})


def at_home(findings: Iterable[Finding], homes: Homes) -> list[Finding]:
    """Findings whose actors run where their processes run."""
    placed = []
    for finding in findings:
        node = homes.node(finding.actor.node, finding.actor.pid)
        if node != finding.actor.node:
            actor = msgspec.structs.replace(finding.actor, node=node)
            finding = msgspec.structs.replace(finding, actor=actor)  # noqa: PLW2901
        placed.append(finding)
    return placed
