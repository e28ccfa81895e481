"""Rule `ended`: every launcher of the job was asked to end, and nothing that could be a cause stands before it.

A launcher sends SIGTERM, it does not get one from its workers: whoever sent it is outside the job. That is the answer
only if the logs of all ranks are there and none of them failed or waited; the rule speaks when no other cause is left.
"""

from __future__ import annotations

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import MAX_RANKS, anybody_waits, incident_of, these
from plogscope.wording import say

ORDER = 95
RULE = "ended"
SIGNAL = "launcher/received-sigterm"
BY_AGENT = "Signals."
"""How the agent of torch elastic prints the number of the signal that it received."""


def check(view: JobView) -> list[CheckerResult]:
    """One result, at the first launcher's own record."""
    expected = view.cluster.expected_ranks
    seen = {one.rank for one in view.cluster.processes if one.rank is not None}
    if anybody_waits(view) or expected is None or expected > MAX_RANKS or not set(range(expected)) <= seen:
        return []
    asked = [one for one in these(view, SIGNAL) if BY_AGENT in one.fields.get("message", "")]
    nodes = {one.node for one in view.cluster.processes if one.rank is not None}
    if not asked or len({(one.source, one.actor.node) for one in asked}) < len(nodes):
        return []
    incident = incident_of(view, asked[0])
    if incident is None:
        return []
    reason = say("checker.ended", count=len(asked))
    return [CheckerResult(rule=RULE, kind="end", reason=reason, incident=incident.id, finding=asked[0])]
