"""Rule `negotiation`: ranks that never connected to the root, counted or printed by the root.

1. The printed list (Failed to connect agent, connectFailedAgentIdList, List of unconnected ranks).
2. Otherwise {0..N-1} minus the `connected rankinfo` rows of the process that printed them.
3. Otherwise, of a rank that cannot reach the root: the root, not proven.
Ranks that only wait themselves and are not in the list are victims.
"""

from __future__ import annotations

from collections import defaultdict

from plogscope.chain.checkers.accuse import listed, process_of_rank, suspect, suspects
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import (
    MAX_RANKS,
    incident_of,
    is_own_failure,
    number,
    ranks_in,
    these,
)
from plogscope.chain.checkers.signatures import (
    AGENTS_CONNECT_FAILED,
    AGENTS_MISSING,
    COMM_INIT_FAILED,
    CONNECTED_RANKS,
    ENTRY_COMM_INIT,
    NEEDED_COUNT,
    RANK_DETECT_FAILED,
    RANK_LIST_SHORT,
    TOPO_AGENT_TIMEOUT,
)
from plogscope.model.chain import Suspect
from plogscope.model.record import Finding, Writer
from plogscope.wording import say

ORDER = 50
RULE = "negotiation"

Missing = tuple[set[int], Finding]
"""Ranks that did not come, and the line that shows it."""


def check(view: JobView) -> list[CheckerResult]:
    """One result: the missing ranks, or the root that somebody cannot reach."""
    found = missing_ranks(view)
    if found is None:
        return _unreachable_root(view)
    missing, finding = found
    failing = {one.actor.rank for one in view.incidents if is_own_failure(one)}
    if missing & failing:
        return []
    incident = incident_of(view, finding)
    return [
        CheckerResult(
            rule=RULE,
            kind="suspects",
            reason=say("checker.not_connected", ranks=listed(missing), count=len(missing)),
            incident=incident.id if incident else None,
            suspects=_accused(view, missing),
            proven=True,
            finding=finding,
        )
    ]


def missing_ranks(view: JobView) -> Missing | None:
    """The ranks that the root printed as missing, or that its list of connected ranks leaves out."""
    return _printed(view) or _counted(view)


def _printed(view: JobView) -> Missing | None:
    """The list of the first failure. A later list also holds ranks that left because of it."""
    for finding in these(view, AGENTS_MISSING, AGENTS_CONNECT_FAILED, RANK_DETECT_FAILED):
        ranks = set(ranks_in(finding.fields.get("missing", "")))
        if ranks:
            return ranks, finding
    return None


def _counted(view: JobView) -> Missing | None:
    rows: dict[Writer, list[Finding]] = defaultdict(list)
    for finding in these(view, CONNECTED_RANKS):
        rows[finding.writer].append(finding)
    for who, findings in rows.items():
        size = _size(view, who)
        connected = {rank for finding in findings for rank in ranks_in(finding.fields.get("connected", ""))}
        if size is None or not connected or len(connected) >= size:
            continue
        missing = set(range(size)) - connected
        return missing, _gap(findings, min(missing))
    return None


def _gap(findings: list[Finding], rank: int) -> Finding:
    """The row in which the first missing rank should stand; without one, the last row."""
    for finding in findings:
        ranks = ranks_in(finding.fields.get("connected", ""))
        if ranks and ranks[0] < rank < ranks[-1]:
            return finding
    return findings[-1]


def _size(view: JobView, who: Writer) -> int | None:
    """How many ranks the root expects: by its own word, else by that of others."""
    ids = (NEEDED_COUNT, RANK_LIST_SHORT, COMM_INIT_FAILED, ENTRY_COMM_INIT)
    told = [(one.writer != who, ids.index(one.signature or ""), number(one, "rank_size")) for one in these(view, *ids)]
    sizes = [size for _, _, size in sorted(told, key=lambda one: one[:2]) if size]
    size = sizes[0] if sizes else view.cluster.expected_ranks or _guessed(view)
    return size if size is not None and size <= MAX_RANKS else None


def _guessed(view: JobView) -> int | None:
    """Without any word about the size: the highest connected rank is the last one."""
    ranks = [rank for finding in these(view, CONNECTED_RANKS) for rank in ranks_in(finding.fields.get("connected", ""))]
    return max(ranks) + 1 if ranks else None


def _accused(view: JobView, missing: set[int]) -> tuple[Suspect, ...]:
    """A rank that entered in time and is missing all the same points at the network, not at the rank."""
    entered = {one.actor.rank for one in these(view, ENTRY_COMM_INIT)}
    accused = []
    for rank in sorted(missing):
        if rank in entered:
            key = "checker.entered_not_connected"
        else:
            key = "checker.log_not_connected" if process_of_rank(view, rank) else "checker.no_log_not_connected"
        accused.append(suspect(view, rank, say(key, rank=rank)))
    return tuple(accused)


def _unreachable_root(view: JobView) -> list[CheckerResult]:
    timeouts = these(view, TOPO_AGENT_TIMEOUT)
    if not timeouts or any(is_own_failure(one) and one.actor.rank == 0 for one in view.incidents):
        return []
    incident = incident_of(view, timeouts[0])
    reason = say("checker.root_unreachable")
    return [
        CheckerResult(
            rule=RULE,
            kind="suspects",
            reason=reason,
            incident=incident.id if incident else None,
            suspects=suspects(view, [0], reason),
            finding=timeouts[0],
        )
    ]
