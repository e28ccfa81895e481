"""Rule `nic-down`: when a rank's own network port is down, the port that it then cannot bind is not taken.

HCCL prints the same text for both ("…being used by other process"); the line about the port itself decides.
"""

from __future__ import annotations

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of, incidents_of, place, these
from plogscope.chain.checkers.signatures import LISTEN_FAIL, NIC_DOWN
from plogscope.wording import say

ORDER = 8


def check(view: JobView) -> list[CheckerResult]:
    """One result: the first of the ranks whose port is down and that therefore could not listen."""
    failing = {finding.writer for finding in these(view, *LISTEN_FAIL)}
    down = [finding for finding in these(view, *NIC_DOWN) if finding.writer in failing]
    if not down:
        return []
    first = min(down, key=lambda finding: (-finding.nearness, place(finding)))
    incident = incident_of(view, first)
    if incident is None:
        return []
    return [
        CheckerResult(
            rule="nic-down",
            kind="root",
            reason=say("checker.nic_down"),
            incident=incident.id,
            proven=True,
            finding=first,
            covers=incidents_of(view, *LISTEN_FAIL, *NIC_DOWN),
        )
    ]
