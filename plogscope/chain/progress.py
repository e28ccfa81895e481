"""What tells that a process went on: steps that it made, and how long it still wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock, Incident, Process
from plogscope.model.record import Finding
from plogscope.model.signature import Signature

OUTLIVED_NS = 10 * SECOND_NS
"""A process that wrote on for so long after an error of no known meaning was not stopped by it."""


class Writing(msgspec.Struct, frozen=True):
    """How long a process wrote into one source."""

    last_line: int
    last_ns: int | None
    failing: bool = False
    """Most of what was written was errors: writing on was no sign of health."""


class Progress(msgspec.Struct, frozen=True):
    """Steps, saved checkpoints and the like, and where each process stopped to write.

    Attributes:
        findings: Findings of role progress, on the reference clock.
        writing: Last line and time by (source, pid); pid 0 = all of the source.
    """

    findings: tuple[Finding, ...]
    signatures: Mapping[str, Signature]
    writing: Mapping[tuple[int, int], Writing]
    clocks: Sequence[Clock]
    processes: Sequence[Process] = ()


def ended_at(finding: Finding) -> int | None:
    """Time of the last of the folded records on the reference clock, if it is not only known what it was before."""
    if finding.order_ns is None or (finding.before and finding.last_time_ns in (None, finding.time_ns)):
        return None
    if finding.last_time_ns is None or finding.time_ns is None:
        return finding.order_ns
    return finding.order_ns + finding.last_time_ns - finding.time_ns


def wrote(incident: Incident, progress: Progress, *, lines: int, during_ns: int) -> bool:
    """True when the process wrote so much more into the same source, for so long, and not only errors."""
    last = incident.findings[-1]
    writing = progress.writing.get((last.source, last.actor.pid or 0))
    if writing is None or writing.failing or writing.last_ns is None or last.time_ns is None:
        return False
    ended = last.last_time_ns if last.last_time_ns is not None else last.time_ns
    return writing.last_line - (last.last_line or last.line) > lines and writing.last_ns - ended > during_ns
