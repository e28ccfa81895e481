"""Rule `restart`: what fails in workers that the launcher started again is no first cause while a failure before it is.

The new workers meet what the first ones left: ports that are still bound, stores that are closed, files that are half
written. Later is what stands below the restart in the launcher's own file, what a process says that began after it, and
what nobody is named for but is stamped after it. A failure that steps followed is recovered and does not count here.
"""

from __future__ import annotations

from collections.abc import Mapping

from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import these
from plogscope.chain.checkers.signatures import GROUP_RESTART
from plogscope.chain.clear import is_condition
from plogscope.chain.edges import STRENGTH, strength
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Incident, Process
from plogscope.model.record import Finding, ProcessKey
from plogscope.wording import say

ORDER = 5


def check(view: JobView) -> list[CheckerResult]:
    """One result: all incidents of later workers, if the first ones failed too."""
    marks: dict[int, Finding] = {}
    for finding in these(view, GROUP_RESTART):
        marks.setdefault(finding.source, finding)
    if not marks:
        return []
    processes = {one.key: one for one in view.cluster.processes if one.key is not None}
    later = [one for one in view.incidents if _is_later(view, one, marks, processes)]
    ids = {one.id for one in later}
    first = [one for one in view.incidents if one.id not in ids]
    if not any(strength(one) <= STRENGTH["either"] and not is_condition(one) for one in first):
        return []
    return [CheckerResult(rule="restart", kind="aftermath", reason=say("checker.restart"), covers=tuple(sorted(ids)))]


def _is_later(
    view: JobView, incident: Incident, marks: Mapping[int, Finding], processes: Mapping[ProcessKey, Process]
) -> bool:
    lead = incident.lead
    if lead.source in marks:
        return lead.line > marks[lead.source].line
    process = processes.get(incident.actor.process) if incident.actor.process is not None else None
    began = (process.first_ns, process.clock) if process is not None else (incident.start_ns, lead.clock)
    return any(_after(view, began, mark) for mark in marks.values())


def _after(view: JobView, began: tuple[int | None, int], mark: Finding) -> bool:
    """True when the clocks prove that it began after the restart."""
    clocks = view.cluster.clocks
    doubt = clocks[began[1]].doubt_s(clocks[mark.clock])
    if began[0] is None or mark.order_ns is None or doubt is None:
        return False
    return began[0] - mark.order_ns > int(doubt * SECOND_NS)
