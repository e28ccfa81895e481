"""Rule `silent-rank`: while others wait, a rank of the job has no log, or its log stops before they began to wait.

Absence is proven by counting when the number of ranks is known and most of them are seen. A log that stops early is a
hint: that rank may have died, or hung.
"""

from __future__ import annotations

from collections.abc import Mapping

from plogscope.chain.checkers.accuse import listed, suspects
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import MAX_RANKS, is_own_failure
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Process
from plogscope.wording import say

ORDER = 90
RULE = "silent-rank"
QUIET_NS = 5 * SECOND_NS
"""Ranks write at least once within this time while they work; below it nothing is called silent."""


def check(view: JobView) -> list[CheckerResult]:
    """Ranks without a log first, then ranks whose log stops early."""
    waits = [one for one in view.incidents if one.waits]
    if not waits:
        return []
    seen = {one.rank for one in view.cluster.processes if one.rank is not None}
    seen |= {one.actor.rank for one in view.findings if one.actor.rank is not None}
    expected = view.cluster.expected_ranks
    ranked = sum(one.rank is not None for one in view.cluster.processes)
    if expected is not None and expected <= MAX_RANKS and expected / 2 <= len(seen) < expected > ranked:
        missing = set(range(expected)) - seen
        reason = say("checker.no_log", ranks=listed(missing), expected=expected)
        return [
            CheckerResult(
                rule=RULE, kind="suspects", reason=reason, suspects=suspects(view, missing, reason), proven=True
            )
        ]
    return _stopped_early(view)


def _stopped_early(view: JobView) -> list[CheckerResult]:
    starts: dict[int, int] = {}
    for one in view.incidents:
        if one.waits and one.start_ns is not None:
            starts[one.lead.clock] = min(one.start_ns, starts.get(one.lead.clock, one.start_ns))
    talking = {one.actor.rank for one in view.incidents}
    failing = any(is_own_failure(one) for one in view.incidents)
    ranked = [one for one in view.cluster.processes if one.rank is not None and one.last_ns is not None]
    if not starts or failing or len(ranked) <= 1:
        return []
    quiet = [one for one in ranked if one.rank not in talking and _stops_before(view, one, starts)]
    if not quiet or len(quiet) * 2 > len(ranked):
        return []
    ranks = {one.rank for one in quiet if one.rank is not None}
    reason = say("checker.log_stops", ranks=listed(ranks))
    return [CheckerResult(rule=RULE, kind="suspects", reason=reason, suspects=suspects(view, ranks, reason))]


def _stops_before(view: JobView, process: Process, starts: Mapping[int, int]) -> bool:
    """True when the last record is older than the beginning of the waits, beyond what the clocks can be wrong.

    Args:
        view: The job.
        process: Who may have stopped.
        starts: Beginning of the first wait by clock; clocks that nothing relates to the process say nothing.
    """
    own = view.cluster.clocks[process.clock]
    doubts = {clock: own.doubt_s(view.cluster.clocks[clock]) for clock in starts}
    related = [starts[clock] - int(doubt * SECOND_NS) for clock, doubt in doubts.items() if doubt is not None]
    return process.last_ns is not None and bool(related) and process.last_ns + QUIET_NS < min(related)
