"""Reads ranks, numbers, times and places out of findings; finds the incident that a finding stands in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from itertools import combinations

from plogscope.chain.checkers.base import JobView
from plogscope.chain.checkers.signatures import (
    CONNECT_TIMEOUT,
    EXEC_TIMEOUT,
    FFTSPLUS_TIMEOUT,
    SOCKET_ESTABLISH,
    TOPO_AGENT_TIMEOUT,
    TOPO_SERVER_TIMEOUT,
)
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock, Incident
from plogscope.model.record import Finding

NO_RANK = 4_294_967_295
"""HCCL prints the largest u32 where there is no rank."""

MAX_RANKS = 65_536
"""No job is larger; a larger number in a hostile line must not make a list of that length."""


_NUMBER = re.compile(r"\d{1,20}")
_STAMP = re.compile(r"(\d{4})-(\d{2})-(\d{2})[- ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{3})\.?(\d{3})?)?")


def these(view: JobView, *ids: str) -> list[Finding]:
    """Findings of the given signatures, by time on the reference clock, then by source and line."""
    wanted = set(ids)
    return sorted((one for one in view.findings if one.signature in wanted), key=place)


def place(finding: Finding) -> tuple[int, int, int]:
    """Order of findings; without a time they come last."""
    return (finding.order_ns if finding.order_ns is not None else 1 << 62, finding.source, finding.line)


def number(finding: Finding, name: str) -> int | None:
    """A field as a non-negative number; None if it is missing, too large to be meant, or HCCL's sign for no rank."""
    text = finding.fields.get(name, "")
    value = int(text) if text.isdecimal() and len(text) <= len(str(NO_RANK)) else None
    return None if value == NO_RANK else value


def ranks_in(text: str) -> tuple[int, ...]:
    """The ranks of a printed list; HCCL pads them with zeros in decimal."""
    found = {int(digits) for digits in _NUMBER.findall(text)}
    return tuple(sorted(rank for rank in found if rank < MAX_RANKS))


def incident_of(view: JobView, finding: Finding) -> Incident | None:
    """The incident that the finding was folded into, if it is part of the failing job."""
    for incident in view.incidents:
        if any((one.source, one.line) == (finding.source, finding.line) for one in incident.findings):
            return incident
    return None


def incidents_of(view: JobView, *ids: str) -> tuple[str, ...]:
    """Ids of the incidents in which a finding of these signatures stands."""
    return tuple(one.id for one in view.incidents if any(finding.signature in ids for finding in one.findings))


def stamp_ns(text: str) -> int | None:
    """A printed local time as ns since 1970-01-01 read as if UTC; None if it is none."""
    match = _STAMP.search(text)
    if match is None:
        return None
    parts = [int(part or 0) for part in match.groups()]
    try:
        moment = datetime(*parts[:6], tzinfo=timezone.utc)  # type: ignore[misc,arg-type]
    except ValueError:
        return None
    return int(moment.timestamp()) * SECOND_NS + parts[6] * 1_000_000 + parts[7] * 1000


def on_reference_clock(finding: Finding, local_ns: int | None) -> int | None:
    """A local time that the writer of the finding printed, moved as the finding's own stamp was moved."""
    if local_ns is None or finding.order_ns is None or finding.time_ns is None:
        return None
    return local_ns + finding.order_ns - finding.time_ns


def uncertainty_ns(findings: Iterable[Finding], clocks: Sequence[Clock]) -> int:
    """How far the distance between the times of these findings can be wrong; `NEVER_NS` if nothing relates them."""
    used = [clocks[index] for index in sorted({one.clock for one in findings}) if index < len(clocks)]
    doubts = [a.doubt_s(b) for a, b in combinations(used, 2)]
    return max((NEVER_NS if doubt is None else int(doubt * SECOND_NS) for doubt in doubts), default=0)


NEVER_NS = 1 << 62
"""Longer than anything that a log can show."""


def connect_limit_ns(view: JobView) -> int:
    """How long ranks wait for each other at bring-up: the largest that any process printed, else the default."""
    return _limit_ns(view, (CONNECT_TIMEOUT, SOCKET_ESTABLISH, TOPO_AGENT_TIMEOUT, TOPO_SERVER_TIMEOUT), 120.0)


def exec_limit_ns(view: JobView) -> int:
    """How long a collective waits: the largest that any process printed, else the default; 0 = for ever."""
    return _limit_ns(view, (EXEC_TIMEOUT, FFTSPLUS_TIMEOUT), 1836.0)


def _limit_ns(view: JobView, signatures: tuple[str, ...], default_s: float) -> int:
    limits = [int(one.fields["limit"]) for one in view.findings if one.signature in signatures and _is_limit(one)]
    return int(max(limits, default=default_s) * SECOND_NS)


def _is_limit(finding: Finding) -> bool:
    return finding.fields.get("limit", "").isdecimal() and len(finding.fields["limit"]) <= len(str(NO_RANK))


def is_own_failure(incident: Incident) -> bool:
    """True for a failure that is not about somebody else: a cause, an error that can be one, or an unknown error."""
    return not incident.waits and incident.role in ("cause", "either")


def anybody_waits(view: JobView) -> bool:
    """True when some rank says that somebody else did not come."""
    return any(incident.waits for incident in view.incidents)
