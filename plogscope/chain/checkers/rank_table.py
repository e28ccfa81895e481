"""Rule `rank-table`: when several processes say the same of the rank table, the table is wrong and not one of them.

Every rank reads the table, so every rank reports a wrong one. If the statement names the rank whose entry it is, that
rank's entry is the first cause, at its own record if it wrote one; otherwise nobody is named, or only the node when all
that report it run on one of several. Processes that state different things speak of their own entries.
"""

from __future__ import annotations

from collections import defaultdict

from plogscope.chain.checkers.accuse import at_fault, process_of_rank
from plogscope.chain.checkers.base import CheckerResult, JobView
from plogscope.chain.checkers.reading import number
from plogscope.model.chain import Incident
from plogscope.model.record import Actor
from plogscope.wording import say

ORDER = 13
RULE = "rank-table"
SEVERAL = 2


def check(view: JobView) -> list[CheckerResult]:
    """One result when at least two processes state the same."""
    told = [one for one in view.incidents if one.subcategory == RULE and one.role == "cause"]
    same: dict[tuple[object, ...], list[Incident]] = defaultdict(list)
    for incident in told:
        statement = (incident.signature, *sorted(incident.lead.fields.items()))
        same[statement].append(incident)
    stated = max(same.values(), key=lambda group: len({one.writer for one in group}), default=[])
    count = len({one.writer for one in stated})
    if count < SEVERAL:
        return []
    lead, rank = stated[0], number(stated[0].lead, "rank")
    actor = Actor(node=_only_node(view, stated))
    reason = say("checker.rank_table", count=count, title=lead.title)
    if rank is not None:
        process = process_of_rank(view, rank)
        actor = Actor(rank=rank)
        if process is not None:
            actor = Actor(rank=rank, node=process.node, pid=process.pid, device=process.device)
            lead = next((one for one in stated if one.actor.process == process.key), lead)
        reason = say("checker.table_entry", count=count, rank=rank, title=lead.title)
    return [
        CheckerResult(
            rule=RULE,
            kind="root",
            reason=reason,
            incident=lead.id,
            proven=True,
            finding=lead.lead,
            suspects=at_fault(view, (rank, number(lead.lead, "remote_rank")), reason),
            covers=tuple(one.id for one in told),
            actor=actor,
        )
    ]


def _only_node(view: JobView, stated: list[Incident]) -> str | None:
    """The node of all that report it, if the job has others."""
    nodes = {one.actor.node for one in stated}
    others = {one.node for one in view.cluster.processes} - nodes
    return next(iter(nodes)) if len(nodes) == 1 and others else None
