"""Rule `sdma`: a copy between devices that failed beats every wait, even if the waits are reported half an hour later.

The copy is often reported once, at the device or the host of one end, while all other ranks report that they waited.
"""

from __future__ import annotations

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import anybody_waits, incident_of, these
from plogscope.chain.checkers.signatures import SDMA
from plogscope.wording import say

ORDER = 20


def check(view: JobView) -> list[CheckerResult]:
    """The earliest failed copy, if anybody waits."""
    if not anybody_waits(view):
        return []
    for finding in these(view, *SDMA):
        incident = incident_of(view, finding)
        if incident is not None:
            reason = say("checker.sdma")
            return [CheckerResult(rule="sdma", kind="root", reason=reason, incident=incident.id, finding=finding)]
    return []
