"""Rule `consistency`: when ranks compare the arguments of a collective, the minority is the first cause.

Each end prints its own value and that of its peer. Votes: the own value of every rank that reports, or the peer's value
when the peer does not report. A tie is not decided: the earliest record stands for both ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import Writer, incident_of, these, writer
from plogscope.chain.checkers.signatures import PARAMETERS
from plogscope.model.record import Finding
from plogscope.wording import say

ORDER = 10
PAIR = 2


def check(view: JobView) -> list[CheckerResult]:
    """One result for the first argument that differs."""
    by_variable: dict[str, list[Finding]] = defaultdict(list)
    for finding in these(view, *PARAMETERS):
        if finding.fields.get("value") is not None and finding.fields.get("expected") is not None:
            by_variable[finding.fields.get("variable", "")].append(finding)
    for variable, findings in by_variable.items():
        odd, decided = _odd(findings)
        incident = incident_of(view, odd)
        if incident is None:
            continue
        key = "checker.odd_argument" if decided else "checker.different_argument"
        reason = say(key, variable=variable, here=odd.fields["value"], there=odd.fields["expected"])
        result = CheckerResult(
            rule="consistency", kind="root", reason=reason, incident=incident.id, proven=decided, finding=odd
        )
        return [result]
    return []


def _odd(findings: Sequence[Finding]) -> tuple[Finding, bool]:
    """The record of the minority, and whether the votes decide."""
    own: dict[Writer, Finding] = {}
    for finding in findings:
        own.setdefault(writer(finding), finding)
    votes = Counter(finding.fields["value"] for finding in own.values())
    for finding in own.values():
        if finding.fields["expected"] not in {one.fields["value"] for one in own.values()}:
            votes[finding.fields["expected"]] += 1
    rarest = min(own.values(), key=lambda finding: votes[finding.fields["value"]])
    least = votes[rarest.fields["value"]]
    decided = least < max(votes.values()) and sum(votes.values()) > PAIR
    return (rarest, True) if decided else (findings[0], False)
