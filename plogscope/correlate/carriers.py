"""Which exceptions only carry what the device side reported: MindSpore prints the errors of CANN below its own.

The text of such an exception ("Sync stream error!", "Compile graph kernel_graph0 failed.") names the call of the host
that came back with an error. The section below it holds the errors, so the exception itself states no cause.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from plogscope.correlate.incidents import Judged

SECTION = "runtime/error-section"
"""The title of the section in which an exception quotes the errors of CANN."""

SECTION_LINES = 8
"""How far below the exception the title stands: an empty line, a ruler, and what little the message says more."""

CARRIERS = frozenset({"python/runtime-error", "python/exception"})
"""Exceptions of which nothing but the type is known. A type that says what was wrong is believed."""


def mark_carriers(judged: Sequence[Judged]) -> list[Judged]:
    """What was judged, with the exceptions right above such a section as symptoms."""
    sections: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for one in judged:
        if one.finding.signature == SECTION:
            sections[_stream(one)].append(one.finding.line)
    if not sections:
        return list(judged)
    return [msgspec.structs.replace(one, role="symptom") if _carries(one, sections) else one for one in judged]


def _carries(one: Judged, sections: dict[tuple[object, ...], list[int]]) -> bool:
    if one.role != "either" or one.finding.signature not in CARRIERS:
        return False
    return any(0 < line - one.finding.line <= SECTION_LINES for line in sections.get(_stream(one), ()))


def _stream(one: Judged) -> tuple[object, ...]:
    return (one.finding.source, one.finding.writer)
