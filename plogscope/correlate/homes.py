"""Which machine a process runs on when the line that names it stands in a file of no machine, or of another name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from plogscope.model.record import Finding
from plogscope.model.source import Bundle


class Homes(msgspec.Struct, frozen=True):
    """Machines of processes.

    Attributes:
        by_pid: Pid → the one machine on which a process of that pid wrote CANN logs.
        alias: Name under which a printed log knows a machine (an address) → name of the folder with its CANN logs;
            None if that is the folder of no machine.
    """

    by_pid: dict[int, str] = {}
    alias: dict[str, str | None] = {}

    def node(self, node: str | None, pid: int | None) -> str | None:
        """The machine of a process, under the one name that the bundle is told with."""
        if node is None:
            return self.by_pid.get(pid) if pid is not None else None
        return self.alias.get(node, node)


def find_homes(findings: Iterable[Finding], bundle: Bundle) -> Homes:
    """Reads the homes from the names of CANN logs; a machine that only printed logs know is the one of its pids.

    CANN logs in a folder of no machine belong to the one machine on which printed logs know their pids. If these know
    several, each pid is at home on its own; if they know one, the folder is that machine.
    """
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
    printed = {
        (one.actor.node, one.actor.pid)
        for one in findings
        if one.actor.node is not None and one.actor.node not in logging and one.actor.pid is not None
    }
    votes: dict[str, set[str]] = defaultdict(set)
    lodgers: dict[int, set[str]] = defaultdict(set)
    for node, pid in printed:
        if pid in by_pid:
            votes[node].add(by_pid[pid])
        elif nodes_of.get(pid) == {None}:
            lodgers[pid].add(node)
    alias: dict[str, str | None] = {node: next(iter(homes)) for node, homes in votes.items() if len(homes) == 1}
    machines = set().union(*lodgers.values())
    if len(machines) == 1:
        return Homes(by_pid, {**dict.fromkeys(machines), **alias})
    by_pid |= {pid: next(iter(nodes)) for pid, nodes in lodgers.items() if len(nodes) == 1}
    return Homes(by_pid, alias)


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
