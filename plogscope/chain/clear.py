"""Which incidents the job got over: real progress of the same process after them, or a run that ended well."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from plogscope.chain.order import comparable
from plogscope.chain.progress import OUTLIVED_NS, Progress, ended_at, wrote
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock, Incident
from plogscope.model.record import BELOW_ERROR, Finding, Writer
from plogscope.model.signature import Signature

WENT_ON_RECORDS = 150
"""A process that wrote so many more lines after an error, and went on for `WENT_ON_NS`, was not stopped by it."""

WENT_ON_NS = SECOND_NS // 2
LATE_PRINT_NS = 2 * SECOND_NS
"""Output is buffered: a step that is printed within this time after a fault may have ended before it."""

FINISHED = "run-finished"
"""Subcategory of progress signatures that say that the whole run ended well."""

TESTS_PASSED = "tests-passed"
"""The same of sessions of tests: what they print before their end, they expected."""


def recovered(incidents: Sequence[Incident], progress: Progress) -> frozenset[str]:
    """Ids of the incidents that something healthy followed."""
    by_writer: dict[Writer, list[Finding]] = defaultdict(list)
    finished: list[Finding] = []
    passed: list[Finding] = []
    taken_back: list[Finding] = []
    for finding in progress.findings:
        signature = progress.signatures.get(finding.signature or "")
        if signature is not None and signature.subcategory == TAKEN_BACK:
            taken_back.append(finding)
            continue
        if signature is not None and signature.subcategory in (FINISHED, TESTS_PASSED):
            finished.append(finding)
            if signature.subcategory == TESTS_PASSED:
                passed.append(finding)
        for key in finding.actor.names(finding.source):
            by_writer[key].append(finding)
    cleared = set()
    for incident in incidents:
        if is_condition(incident) and incident.subcategory not in REMARKS:
            ended_well = any(_same_job(finding, incident) for finding in finished)
            over = _is_passing(incident) or (ended_well and not _lasted(incident, progress.findings, finished))
        elif incident.lead.signature == CONTAINER_END:
            over = any(_long_after(one, incident, progress.clocks) for one in progress.findings)
        else:
            over = (
                _is_got_over(incident, by_writer, finished, progress)
                or _is_taken_back(incident, taken_back)
                or _is_expected(incident, passed)
                or _is_farewell(incident, finished, progress.clocks)
            )
        if over:
            cleared.add(incident.id)
    return frozenset(cleared)


def _is_got_over(
    incident: Incident,
    by_writer: Mapping[Writer, Sequence[Finding]],
    finished: Sequence[Finding],
    progress: Progress,
) -> bool:
    """True when progress of its own process, or of all, or the good end of the run came after the incident."""
    clocks = progress.clocks
    made = [finding for key in incident.lead.actor.names(incident.lead.source) for finding in by_writer.get(key, [])]
    own = _without_closing_print(made, incident, progress.signatures)
    ends = [finding for finding in finished if _same_job(finding, incident)]
    if any(_follows(finding, incident, clocks) for finding in own) or _two_follow([*own, *ends], incident):
        return True
    if any(_ends_after(finding, incident, clocks) for finding in ends):
        return True
    alone = not own and not ends and not incident.waits  # whoever waited long enough to say so may wait for the others
    if alone and _everybody_went_on(incident, by_writer, clocks):
        return True
    if incident.signature is None and ends:
        return True  # nothing known failed there and the run came to its good end
    if incident.role != "cause" and finished:
        wrote_on = wrote(incident, progress, lines=PROGRESS_BELOW, during_ns=OUTLIVED_NS)
        if wrote_on or any(_long_after(finding, incident, clocks) for finding in finished):
            return True
    return incident.role not in {"cause", "symptom"} and _went_on(incident, progress)


CONTAINER_END = "launcher/container-exit-code"
"""What a cluster says of a container that is gone: the steps below it in one file are what the container did before."""


def _is_expected(incident: Incident, passed: Sequence[Finding]) -> bool:
    """True for what a session of tests printed, none of which failed."""
    last = incident.findings[-1]
    names = set(last.actor.names(last.source))
    return any(
        one.source == last.source
        and (one.last_line or one.line) > (last.last_line or last.line)
        and names.intersection(one.actor.names(one.source))
        for one in passed
    )


def _is_farewell(incident: Incident, finished: Sequence[Finding], clocks: Sequence[Clock]) -> bool:
    """True for mere warnings below the good end of the run: processes leave one after the other."""
    if incident.role == "cause" or any(one.level not in BELOW_ERROR for one in incident.findings):
        return False
    first = incident.findings[0]
    return any(_same_job(one, incident) and _precedes(one, first, clocks) for one in finished)


def _precedes(one: Finding, first: Finding, clocks: Sequence[Clock]) -> bool:
    if one.source == first.source:
        return one.line < first.line
    known = one.time_quality == first.time_quality == "exact" and comparable(one, first, clocks)
    return known and one.order_ns is not None and first.order_ns is not None and one.order_ns < first.order_ns


TAKEN_BACK = "taken-back"
"""Subcategory of progress signatures by which a process takes back one earlier complaint, and says no more."""


def _is_taken_back(incident: Incident, taken_back: Sequence[Finding]) -> bool:
    """True when the process itself said later, in the same file, that the operation it waited for went well."""
    last = incident.findings[-1]
    return incident.waits and any(
        one.source == last.source
        and one.actor.pid == last.actor.pid
        and (one.last_line or one.line) > (last.last_line or last.line)
        and one.fields.get("op") == last.fields.get("op")
        for one in taken_back
    )


WEAK_CATEGORIES = ("accuracy", "performance")
"""Conditions of a run, not failures: steps go on with them, so steps do not clear them."""


REMARKS = ("cpu-fallback",)
"""Subcategories of remarks about speed that healthy runs print as well: steps after them say that all is well."""


def is_condition(incident: Incident) -> bool:
    """True for what is wrong or slow while the run goes on; a check that raised an exception ended the process."""
    if incident.category not in WEAK_CATEGORIES:
        return False
    raised = incident.role == "cause" and incident.lead.format in ("exception", "traceback")
    return not (incident.category == "accuracy" and raised)


PERSISTENT_COUNT = 4


def _is_passing(incident: Incident) -> bool:
    """A loss scale that falls once or twice is how mixed precision works; only a lasting one is a symptom."""
    return incident.category == "accuracy" and incident.count < PERSISTENT_COUNT and incident.role != "cause"


NOT_FINITE = "nan-loss"
"""Subcategory of signatures of a loss that is no number: nothing that is trained after it is of use."""


def _lasted(incident: Incident, made: Sequence[Finding], finished: Sequence[Finding]) -> bool:
    """True for a loss that was no number to the last step: the run came to its end, but not to a good one."""
    if incident.subcategory != NOT_FINITE:
        return False
    last = incident.findings[-1]
    line = last.last_line or last.line
    return not any(
        one.source == last.source and (one.last_line or one.line) > line for one in made if one not in finished
    )


BAR = "bar"
"""Subcategory of progress bars, which are drawn a last time when a program that failed closes them."""


def _without_closing_print(
    own: Sequence[Finding], incident: Incident, signatures: Mapping[str, Signature]
) -> Sequence[Finding]:
    """The progress without the bars that were drawn at most once below the incident in its own file."""
    last = incident.findings[-1]
    line = last.last_line or last.line

    def is_bar(one: Finding) -> bool:
        signature = signatures.get(one.signature or "")
        return signature is not None and signature.subcategory == BAR and one.source == last.source

    drawn = {one.line for one in own if is_bar(one) and one.line > line}
    return own if len(drawn) >= PROGRESS_BELOW else [one for one in own if not is_bar(one)]


def _two_follow(own: Sequence[Finding], incident: Incident) -> bool:
    """True when two or more records of progress stand below the incident in its own file, whatever their times."""
    last = incident.findings[-1]
    line = last.last_line or last.line
    below = [finding for finding in own if finding.source == last.source and finding.line > line]
    timed = [ended_at(finding) for finding in below]
    ended = ended_at(last)
    if ended is not None and any(end is not None and end != ended for end in timed):
        return False  # there are times, and they decide
    return len(below) >= PROGRESS_BELOW


PROGRESS_BELOW = 2


def _everybody_went_on(
    incident: Incident, by_writer: Mapping[Writer, Sequence[Finding]], clocks: Sequence[Clock]
) -> bool:
    """True when every process that makes progress made it long after the incident.

    This decides for a process whose own progress is not in the logs: were it stopped, collectives would stop the rest.
    """
    last = incident.findings[-1]
    if _may_be_later(last):
        return False
    ended = ended_at(last)
    latest = []
    for made in by_writer.values():
        ends = [ended_at(finding) for finding in made if comparable(finding, last, clocks)]
        latest.append(max((end for end in ends if end is not None), default=None))
    known = [end for end in latest if end is not None]
    return bool(known) and ended is not None and len(known) == len(latest) and min(known) - ended > JOB_WENT_ON_NS


JOB_WENT_ON_NS = 30 * SECOND_NS


def _follows(finding: Finding, incident: Incident, clocks: Sequence[Clock]) -> bool:
    """True when the progress was made after the last record of the incident."""
    last = incident.findings[-1]
    last_line = max(one.last_line or one.line for one in incident.findings if one.source == last.source)
    end = finding.last_line or finding.line
    if finding.source == last.source:
        return end > last_line and _far_enough(finding, last, incident)
    if _may_be_later(last) or not comparable(finding, last, clocks):
        return False
    return _far_enough(finding, last, incident)


def _long_after(finding: Finding, incident: Incident, clocks: Sequence[Clock]) -> bool:
    """True when a run came to its good end long after the incident: no process of it can have stopped there."""
    last = incident.findings[-1]
    end_ns, last_ns = ended_at(finding), ended_at(last)
    if end_ns is None or last_ns is None:
        return False
    if not comparable(finding, last, clocks):
        return end_ns - last_ns > ANY_ZONE_NS
    return end_ns - last_ns > JOB_WENT_ON_NS


ANY_ZONE_NS = 48 * 3600 * SECOND_NS
"""Times of any two zones, on clocks that nobody set wrong, are nearer than this if their moments are the same."""


def _ends_after(finding: Finding, incident: Incident, clocks: Sequence[Clock]) -> bool:
    """True when the good end of a run came after an incident: whatever has no stamp of its own was before it."""
    last = incident.findings[-1]
    if _may_be_later(last) and finding.source != last.source and comparable(finding, last, clocks):
        return _far_enough(finding, last, incident)
    return _follows(finding, incident, clocks)


def _may_be_later(finding: Finding) -> bool:
    """True for a record without a stamp of its own: it may be much later than the one above it in its file."""
    return finding.time_quality == "inherited"


def _far_enough(finding: Finding, last: Finding, incident: Incident) -> bool:
    """For a fault of the device, progress counts only when it is too late to be a delayed print.

    What a program's own logger prints below ERROR tells that the program had it in hand when it wrote the line.
    """
    end_ns = ended_at(finding)
    last_ns = ended_at(last)
    same_source = finding.source == last.source
    in_hand = incident.hushed and incident.lead.format in PROGRAM_FORMATS
    if end_ns is None or last_ns is None:
        return same_source and (incident.role != "cause" or in_hand)
    if (incident.role == "cause" and not in_hand) or not same_source:
        return end_ns - last_ns > LATE_PRINT_NS
    return True


PROGRAM_FORMATS = frozenset({"py-logging", "vllm"})
"""Formats of loggers of Python programs. C++ libraries print faults of the device as warnings and end all the same."""


def _same_job(finding: Finding, incident: Incident) -> bool:
    """A launcher or rank 0 that ends well speaks for all of its node, and for a job of which nodes are unknown."""
    return finding.actor.node == incident.actor.node or finding.actor.node is None


def _went_on(incident: Incident, progress: Progress) -> bool:
    """True when the same process wrote much more into the same source for a while."""
    return wrote(incident, progress, lines=WENT_ON_RECORDS, during_ns=WENT_ON_NS)
