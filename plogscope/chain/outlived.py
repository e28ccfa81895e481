"""Which errors are no failure: what all processes outlived, and what machines say of themselves beside a job."""

from __future__ import annotations

from collections.abc import Sequence

from plogscope.chain.edges import INTERRUPTED, is_background
from plogscope.chain.progress import OUTLIVED_NS, Progress, ended_at, wrote
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Incident

OUTLIVED_RECORDS = 10
LIVELY_RECORDS, LIVELY_NS = 20, 30 * SECOND_NS
"""Known symptoms need more: a process that dies of something prints its aftermath for a while."""


def outlived(left: Sequence[Incident], progress: Progress) -> frozenset[str]:
    """Ids of errors without a cause that are all the job has, if every process wrote on after its own: nothing failed.

    Args:
        left: All incidents that nothing else cleared.
        progress: Where each process stopped to write.
    """
    of_job = [one for one in left if not is_background(one)]
    return frozenset(one.id for one in of_job) if all(_is_outlived(one, progress) for one in of_job) else frozenset()


def _is_outlived(incident: Incident, progress: Progress) -> bool:
    """True for an unknown error, or a known symptom that did not wait for anybody, after which its process wrote on."""
    if incident.signature is None and incident.role == "either":
        wrote_on = wrote(incident, progress, lines=OUTLIVED_RECORDS, during_ns=OUTLIVED_NS)
        return wrote_on or _spoke_later(incident, progress)
    if incident.role != "symptom" or incident.waits:
        return False
    return wrote(incident, progress, lines=LIVELY_RECORDS, during_ns=LIVELY_NS)


def _spoke_later(incident: Incident, progress: Progress) -> bool:
    """True when the process, by name, wrote so much later into any of its files: logs rotate, and differ in pace."""
    last = incident.findings[-1]
    ended = ended_at(last)
    process = next((one for one in progress.processes if one.key == incident.actor.process), None)
    if process is None or process.last_ns is None or ended is None or incident.actor.pid is None:
        return False
    doubt = progress.clocks[last.clock].doubt_s(progress.clocks[process.clock])
    return doubt is not None and process.last_ns - ended - int(doubt * SECOND_NS) > OUTLIVED_NS


def beside_the_job(left: Sequence[Incident]) -> frozenset[str]:
    """Ids of what machines say of themselves, if nothing else failed: processes that come to their end say more.

    Args:
        left: All incidents that nothing else cleared.
    """
    if not all(is_background(one) or _is_of_the_end(one) for one in left):
        return frozenset()
    return frozenset(one.id for one in left if is_background(one))


def _is_of_the_end(incident: Incident) -> bool:
    """True for what a process says while it ends by itself."""
    return incident.role == "teardown" and incident.subcategory != INTERRUPTED
