"""Puts the lines of one failed collective together: what was waited for, in which communicator, issued when."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.reading import number, on_reference_clock, place, stamp_ns, these
from plogscope.chain.checkers.seats import Seats
from plogscope.chain.checkers.signatures import (
    AICPU_OP,
    AICPU_WAIT,
    NOTIFY_WAIT,
    TASK_FAILED,
    TASK_GROUP,
    TASK_OP,
    TASK_REMOTE,
)
from plogscope.model.record import Finding

LINES_APART = 40
"""The lines of one report follow each other; other threads of the process write between them."""

_HEADS = (TASK_FAILED, NOTIFY_WAIT, AICPU_WAIT)
_PARTS = (TASK_REMOTE, TASK_GROUP, TASK_OP, AICPU_OP)
_OPERATION = re.compile(r"(?:Hcom|Hccl|world|group)?_?([A-Za-z]+)")
_POINT_TO_POINT = re.compile(r"Send|Recv|Receive", re.IGNORECASE)


class TaskReport(msgspec.Struct, kw_only=True):
    """One rank's report of a collective that did not end.

    Attributes:
        finding: The line that states it.
        issued: The line with the time at which the operation was issued, if it was printed.
        rank: World rank of the writer.
        inside: Rank of the writer inside the communicator; `remote` likewise for the peer it waited for.
        issued_ns, at_ns: On the reference clock: when the operation was issued, when the failure was reported.
    """

    finding: Finding
    issued: Finding | None = None
    rank: int | None = None
    inside: int | None = None
    remote: int | None = None
    communicator: str | None = None
    size: int | None = None
    tag: str = ""
    index: int | None = None
    count: int | None = None
    issued_ns: int | None = None
    at_ns: int | None = None

    @property
    def operation(self) -> str:
        """AllReduce and the like, of the tag."""
        match = _OPERATION.match(self.tag)
        return match.group(1) if match else ""

    @property
    def collective(self) -> bool:
        """False for operations between two ranks: their counters differ from rank to rank."""
        return not _POINT_TO_POINT.search(self.tag)

    @property
    def member(self) -> object:
        """What tells the writers of one communicator apart."""
        return self.inside if self.inside is not None else (self.rank, self.finding.writer)


def task_reports(view: JobView, seats: Seats) -> list[TaskReport]:
    """All reports, by time. A process that has a plog tells it there; its stdout repeats it with less."""
    by_source: dict[int, list[Finding]] = defaultdict(list)
    for finding in these(view, *_HEADS, *_PARTS):
        by_source[finding.source].append(finding)
    reports = [report for findings in by_source.values() for report in _reports_of(findings)]
    for report in reports:
        _complete(report, seats)
    return sorted(_without_echoes(reports), key=lambda report: place(report.finding))


def by_communicator(reports: Iterable[TaskReport]) -> dict[str, list[TaskReport]]:
    """Communicator → the first report of each member, in order of time."""
    groups: dict[str, dict[object, TaskReport]] = defaultdict(dict)
    for report in reports:
        if report.communicator:
            groups[report.communicator].setdefault(report.member, report)
    return {name: list(members.values()) for name, members in groups.items()}


def _reports_of(findings: list[Finding]) -> list[TaskReport]:
    reports: list[TaskReport] = []
    for finding in sorted(findings, key=lambda one: one.line):
        if finding.signature in _HEADS:
            reports.append(TaskReport(finding=finding, rank=finding.actor.rank, at_ns=finding.order_ns))
            _read(reports[-1], finding)
            continue
        mine = next((one for one in reversed(reports) if _belongs(one.finding, finding)), None)
        if mine is not None:
            _read(mine, finding)
    return reports


def _belongs(head: Finding, part: Finding) -> bool:
    near = 0 < part.line - head.line <= LINES_APART
    same_thread = head.actor.tid is None or part.actor.tid is None or head.actor.tid == part.actor.tid
    return near and same_thread and head.writer == part.writer


def _read(report: TaskReport, finding: Finding) -> None:
    report.tag = report.tag or finding.fields.get("tag", "")
    report.communicator = report.communicator or finding.fields.get("communicator")
    report.size = report.size if report.size is not None else number(finding, "rank_size")
    report.inside = report.inside if report.inside is not None else number(finding, "group_rank")
    report.remote = report.remote if report.remote is not None else number(finding, "remote_rank")
    report.index = report.index if report.index is not None else number(finding, "index")
    report.count = report.count if report.count is not None else number(finding, "count")
    if finding.signature == TASK_OP and report.issued is None:
        report.issued = finding
        report.issued_ns = on_reference_clock(finding, stamp_ns(finding.fields.get("issued", "")))


def _complete(report: TaskReport, seats: Seats) -> None:
    """The tag ends in the communicator; the communicator's own lines say its size and members."""
    known = [*seats.sizes, *seats.members]
    if not report.communicator:
        report.communicator = next((name for name in known if name and report.tag.endswith(name)), None)
    if not report.communicator and "_" in report.tag and report.operation:
        report.communicator = report.tag.partition("_")[2] or None
    name = report.communicator or ""
    report.size = report.size if report.size is not None else seats.sizes.get(name)
    if report.inside is None and report.rank is not None:
        inside = {world: member for member, world in seats.members.get(name, {}).items()}
        report.inside = inside.get(report.rank)
    if report.rank is None:
        report.rank = seats.world(report.communicator, report.inside)


def _without_echoes(reports: list[TaskReport]) -> list[TaskReport]:
    """Drops the stdout's repetition of what the same process states in its plog.

    A repetition that names no process is one if any process of that node states the same tag.
    """
    stated = {one.finding.writer for one in reports if one.finding.signature != NOTIFY_WAIT}
    tags = {(one.finding.actor.node, one.tag) for one in reports if one.finding.signature != NOTIFY_WAIT}
    anywhere = {tag for _, tag in tags}
    kept = []
    for one in reports:
        actor = one.finding.actor
        if one.finding.signature == NOTIFY_WAIT and actor.pid is None and actor.rank is None:
            echo = one.tag in anywhere if actor.node is None else (actor.node, one.tag) in tags
        else:
            echo = one.finding.signature == NOTIFY_WAIT and one.finding.writer in stated
        if not echo:
            kept.append(one)
    return kept
