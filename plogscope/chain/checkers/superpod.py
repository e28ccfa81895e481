"""Rule `superpod`: ranks of one logical super pod print different physical super pods: the configuration is wrong.

The note about it is printed with every failed link of a logical super pod, so one rank alone proves nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of, these
from plogscope.chain.checkers.signatures import SUPERPOD
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 12
PAIR = 2


def check(view: JobView) -> list[CheckerResult]:
    """One result for each logical super pod that spans physical ones: the rarer physical pod is the odd one."""
    logical: dict[str, list[Finding]] = defaultdict(list)
    for finding in these(view, SUPERPOD):
        logical[finding.fields.get("value", "")].append(finding)
    results = []
    for name, findings in logical.items():
        votes = Counter(finding.fields.get("pod", "") for finding in findings)
        if len(votes) < PAIR:
            continue
        odd = min(findings, key=lambda finding: votes[finding.fields.get("pod", "")])
        incident = incident_of(view, odd)
        if incident is None:
            continue
        reason = say("checker.superpod", name=name, pods=", ".join(sorted(votes)))
        results.append(
            CheckerResult(rule="superpod", kind="root", reason=reason, incident=incident.id, proven=True, finding=odd)
        )
    return results
