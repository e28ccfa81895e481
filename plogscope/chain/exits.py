"""What came too late to be the first cause: a launcher had already seen another process end."""

from __future__ import annotations

from collections.abc import Sequence

from plogscope.chain.edges import UNKNOWN_STRENGTH, strength
from plogscope.chain.order import lag_s, uncertainty_s
from plogscope.model.chain import Clock, Incident
from plogscope.model.record import Finding

LAUNCHER = "launcher"
"""Subcategory of what launchers say."""

CODE, PID = "code", "pid"
"""Fields of their remarks: how a process ended, and which."""


def after_an_exit(alive: Sequence[Incident], clocks: Sequence[Clock]) -> frozenset[str]:
    """Ids of the errors of no known meaning that a process printed after a launcher saw another one fail.

    What ended that process was before; such errors tell of its loss. Output that has no stamps of its own is buffered
    and can be printed late, so only stamped records count.
    """
    exits = [
        finding
        for one in alive
        if one.subcategory == LAUNCHER
        for finding in one.findings
        if finding.fields.get(PID) and finding.fields.get(CODE) not in (None, "0")
    ]
    return frozenset(
        one.id
        for one in alive
        if strength(one) == UNKNOWN_STRENGTH and one.subcategory != LAUNCHER and _is_after(one, exits, clocks)
    )


def _is_after(incident: Incident, exits: Sequence[Finding], clocks: Sequence[Clock]) -> bool:
    first = incident.findings[0]
    if first.time_quality != "exact" or first.actor.pid is None:
        return False
    for ended in exits:
        lag = lag_s(ended, first, clocks) if ended.fields[PID] != str(first.actor.pid) else None
        if lag is not None and lag > _doubt_s(ended, first, clocks):
            return True
    return False


ONE_MACHINE_S = 0.1
"""Records of one machine carry the time of one clock once their zones are known, whoever printed them."""


def _doubt_s(a: Finding, b: Finding, clocks: Sequence[Clock]) -> float:
    one_machine = clocks[a.clock].island == clocks[b.clock].island
    return ONE_MACHINE_S if one_machine else uncertainty_s(a, b, clocks)
