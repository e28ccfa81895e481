"""Sessions of unittest: the number of tests that ran says nothing, the word some lines below says how they went."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plogscope.evidence.around import text_after
from plogscope.formats.prefixes import clean, peel
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Source

TESTS_RAN = "progress/tests-ran"
"""States that a session came to its end."""

_OK = re.compile(r"OK(?: \((?:(?:skipped|expected failures)=\d{1,6}(?:, )?){1,2}\))?\s*$", re.ASCII)
_WITHIN_LINES = 4
_WITHIN_BYTES = 2048


def passed_sessions(bundle: Bundle, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings without sessions of which no `OK` tells: they failed, or the log breaks off."""
    return tuple(
        one for one in findings if one.signature != TESTS_RAN or _is_passed(bundle.sources[one.source], one.offset)
    )


def _is_passed(source: Source, offset: int) -> bool:
    below = text_after(source, offset, limit_bytes=_WITHIN_BYTES).split("\n")[1 : 1 + _WITHIN_LINES]
    bodies = (peel(clean(line.encode("utf-8", "replace")))[1] for line in below)
    first = next((body for body in bodies if body.strip()), "")
    return _OK.match(first) is not None
