"""Rule `cqe-pairs`: who lost whom on the network.

One remote named by several and naming nobody back is suspect (it left, or its adapter died). Two that name each other:
the link, both ends suspect. A remote with a failure of its own is left to that failure.
"""

from __future__ import annotations

from collections import defaultdict

from plogscope.chain.checkers.accuse import suspect, suspect_place
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import incident_of, is_own_failure, these
from plogscope.chain.checkers.seats import find_seats, server
from plogscope.chain.checkers.signatures import CQE
from plogscope.model.chain import Suspect
from plogscope.model.record import Finding
from plogscope.model.vocabulary import Text
from plogscope.wording import say

ORDER = 30
Name = int | str
"""A world rank, or the address of an adapter when nothing says the rank."""


def check(view: JobView) -> list[CheckerResult]:
    """One result: the remotes that most of the writers name."""
    seats = find_seats(view)
    named_by: dict[Name, set[Name]] = defaultdict(set)
    names: dict[Name, set[Name]] = defaultdict(set)
    lines: dict[Name, Finding] = {}
    for finding in these(view, *CQE):
        remote = finding.fields.get("remote_address") or finding.fields.get("remote_ip") or ""
        local = finding.fields.get("address") or f"{finding.actor.node}/{finding.actor.pid}"
        there: Name | None = _first(seats.at(remote), server(remote) or None)
        here: Name = _first(finding.actor.rank, seats.at(local), local) or 0
        if there is not None and there != here:
            named_by[there].add(here)
            names[here].add(there)
            lines.setdefault(there, finding)
    failing = {one.actor.rank for one in view.incidents if is_own_failure(one) and one.actor.rank is not None}
    if not named_by or failing & set(named_by):
        return []
    sinks = {remote for remote in named_by if remote not in names}
    accused = {one for one in sinks if len(named_by[one]) == max(len(named_by[other]) for other in sinks)}
    key = "checker.cqe_remote" if sinks else "checker.cqe_pair"
    return [_result(view, accused or set(named_by), lines, key)]


def _first(*options: Name | None) -> Name | None:
    return next((one for one in options if one is not None), None)


def _result(view: JobView, accused: set[Name], lines: dict[Name, Finding], key: str) -> CheckerResult:
    ordered = sorted(accused, key=lambda one: (isinstance(one, str), str(one).zfill(8)))
    reason = say(key, who=", ".join(map(str, ordered)))
    line = lines[ordered[0]]
    incident = incident_of(view, line)
    return CheckerResult(
        rule="cqe-pairs",
        kind="suspects",
        reason=reason,
        incident=incident.id if incident else None,
        suspects=tuple(_accuse(view, one, reason) for one in ordered),
        finding=line,
    )


def _accuse(view: JobView, name: Name, why: Text) -> Suspect:
    return suspect(view, name, why) if isinstance(name, int) else suspect_place(name, None, why)
