"""Rule `short-limit`: a rank that waits much shorter than the others for a collective gives up on what is only slow.

Compared are the limits that the processes print at start. The first cause is the limit of a few ranks that is at most
half of the usual one, when one of them gave up first of all. A failure of another rank's own speaks against it.
"""

from __future__ import annotations

from collections import Counter

from plogscope.chain.checkers.accuse import at_fault
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import number, these, uncertainty_ns
from plogscope.chain.checkers.signatures import EXEC_TIMEOUT
from plogscope.model.chain import Incident
from plogscope.model.record import Finding, Writer
from plogscope.wording import say

ORDER = 57
MANY = 3
"""With two processes nothing tells the usual limit from the odd one."""


def check(view: JobView) -> list[CheckerResult]:
    """The line of the limit that ran out first, if it is much shorter than the usual one."""
    told = {one.writer: one for one in these(view, EXEC_TIMEOUT) if number(one, "limit")}
    limits = Counter(number(one, "limit") or 0 for one in told.values())
    if len(told) < MANY or len(limits) == 1:
        return []
    usual, votes = limits.most_common(1)[0]
    short = {key: one for key, one in told.items() if 2 * (number(one, "limit") or 0) <= usual}
    first = _gave_up_first(view, short)
    if first is None or 2 * votes <= len(told):
        return []
    odd = short[first.writer]
    reason = say("checker.short_limit", limit=number(odd, "limit"), usual=usual, count=votes)
    same = [one.actor.rank for one in short.values()]
    return [
        CheckerResult(
            rule="short-limit", kind="root", reason=reason, finding=odd, suspects=at_fault(view, same, reason)
        )
    ]


def _gave_up_first(view: JobView, short: dict[Writer, Finding]) -> Incident | None:
    """The wait that ended before all others, if it is one of the short ones."""
    waits = [one for one in view.incidents if one.waits and one.time_ns is not None and one.lead.format == "plog"]
    first = min(waits, key=lambda one: one.time_ns or 0, default=None)
    if first is None or first.writer not in short:
        return None
    for other in waits:
        slack = uncertainty_ns((first.lead, other.lead), view.cluster.clocks)
        if other.writer not in short and (other.time_ns or 0) - (first.time_ns or 0) <= slack:
            return None
    return first
