"""Rule `short-limit`: ranks that wait much shorter than the others give up on what is only slow.

Compared are the limits of one kind (of bring-up or of collectives) that the processes print at start. The first cause
is the limit of at most half of the ranks that is at most half of the usual one, when one of them gave up first of all,
after that time. A failure of another rank's own speaks against it.
"""

from __future__ import annotations

from collections import Counter

from plogscope.chain.checkers.accuse import at_fault
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import number, these, uncertainty_ns
from plogscope.chain.checkers.signatures import CONNECT_TIMEOUT, EXEC_TIMEOUT
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Incident
from plogscope.model.record import Finding, Writer
from plogscope.wording import say

ORDER = 53
MANY = 3
"""With two processes nothing tells the usual limit from the odd one."""


def check(view: JobView) -> list[CheckerResult]:
    """The line of the limit that ran out first, if it is much shorter than the usual one."""
    return [result for kind in (EXEC_TIMEOUT, CONNECT_TIMEOUT) if (result := _of_kind(view, kind)) is not None]


def _of_kind(view: JobView, kind: str) -> CheckerResult | None:
    told = {one.writer: one for one in these(view, kind) if number(one, "limit")}
    limits = Counter(number(one, "limit") or 0 for one in told.values())
    if len(told) < MANY or len(limits) == 1:
        return None
    usual, votes = max(limits.items(), key=lambda one: (one[1], one[0]))
    short = {key: one for key, one in told.items() if 2 * (number(one, "limit") or 0) <= usual}
    first = _gave_up_first(view, short)
    if first is None or 2 * votes < len(told):
        return None
    odd = short[first.writer]
    reason = say(KEYS[kind], limit=number(odd, "limit"), usual=usual, count=votes)
    same = [one.actor.rank for one in short.values()]
    suspects = at_fault(view, same, reason)
    return CheckerResult(rule="short-limit", kind="root", reason=reason, finding=odd, suspects=suspects)


KEYS = {EXEC_TIMEOUT: "checker.short_limit", CONNECT_TIMEOUT: "checker.short_connect_limit"}


def _gave_up_first(view: JobView, short: dict[Writer, Finding]) -> Incident | None:
    """The wait that ended before all others, if it is one of the short ones."""
    waits = [one for one in view.incidents if one.waits and one.time_ns is not None and one.lead.format == "plog"]
    first = min(waits, key=lambda one: one.time_ns or 0, default=None)
    if first is None or first.writer not in short or not _ran_out(first, short[first.writer]):
        return None
    for other in waits:
        slack = uncertainty_ns((first.lead, other.lead), view.cluster.clocks)
        if other.writer not in short and (other.time_ns or 0) - (first.time_ns or 0) <= slack:
            return None
    return first


def _ran_out(wait: Incident, limit: Finding) -> bool:
    """True when the wait, as far as it says how long it was, was as long as the limit."""
    lasted_ns = (wait.time_ns or 0) - (wait.start_ns or 0)
    limit_ns = (number(limit, "limit") or 0) * SECOND_NS
    return lasted_ns <= 0 or wait.start_ns is None or limit_ns / 2 <= lasted_ns <= 2 * limit_ns
