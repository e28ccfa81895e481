"""Rule `tls`: ranks whose links time out print different TLS states: the minority is the first cause.

Read from the TlsStatus column of LINK_ERROR_INFO, which is the writer's own state.
"""

from __future__ import annotations

from collections import Counter

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import Writer, incident_of, these, writer
from plogscope.chain.checkers.signatures import LINK_ROW
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 14
STATES = ("ENABLE", "DISABLE")


def check(view: JobView) -> list[CheckerResult]:
    """One result when both states are printed."""
    state: dict[Writer, Finding] = {}
    for finding in these(view, LINK_ROW):
        if finding.fields.get("tls") in STATES:
            state.setdefault(writer(finding), finding)
    votes = Counter(finding.fields["tls"] for finding in state.values())
    if len(votes) < len(STATES):
        return []
    odd = min(state.values(), key=lambda finding: votes[finding.fields["tls"]])
    incident = incident_of(view, odd)
    if incident is None:
        return []
    reason = say("checker.tls", here=odd.fields["tls"], enabled=votes["ENABLE"], disabled=votes["DISABLE"])
    return [CheckerResult(rule="tls", kind="root", reason=reason, incident=incident.id, proven=True, finding=odd)]
