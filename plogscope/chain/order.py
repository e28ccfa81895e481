"""What came before what: by line in one source, by time on one clock, across clocks beyond their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence

from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import Clock, Incident
from plogscope.model.record import Finding


def lag_s(cause: Finding, effect: Finding, clocks: Sequence[Clock]) -> float | None:
    """Seconds from cause to effect on the reference clock; None if one has no time or nothing relates their clocks."""
    if cause.order_ns is None or effect.order_ns is None or not comparable(cause, effect, clocks):
        return None
    return (effect.order_ns - cause.order_ns) / SECOND_NS


def uncertainty_s(a: Finding, b: Finding, clocks: Sequence[Clock]) -> float:
    """How far the lag between the two can be wrong; infinite if nothing relates their clocks."""
    doubt = clocks[a.clock].doubt_s(clocks[b.clock])
    return math.inf if doubt is None else doubt


def comparable(a: Finding, b: Finding, clocks: Sequence[Clock]) -> bool:
    """False when the two stand on clocks that nothing relates."""
    return a.clock == b.clock or clocks[a.clock].doubt_s(clocks[b.clock]) is not None


def precedes(a: Incident, b: Incident, clocks: Sequence[Clock]) -> bool | None:
    """True if incident a started before b, False if after, None if nothing in the bundle can tell."""
    first_a, first_b = a.findings[0], b.findings[0]
    if first_a.source == first_b.source and not (a.waits or b.waits):
        return (first_a.line, a.lead.line) < (first_b.line, b.lead.line)
    if a.start_ns is None or b.start_ns is None or not comparable(first_a, first_b, clocks):
        return None
    lag = (b.start_ns - a.start_ns) / SECOND_NS
    if abs(lag) <= uncertainty_s(first_a, first_b, clocks) or lag == 0:
        return None
    return lag > 0
