"""Instants that a line states in UTC beside its local stamp: what tells the zone of the writer.

HCCL names a communicator after the instant at which its root made it (`…_<microseconds>`, formerly
`hccl-<pid>-<n>-<seconds>-…`), the kernel of the device prints `time=<seconds>.<fraction>` of an exception, and some
writers and collectors put the zone behind a stamp. The line that names such an instant is written then or later: a
vote counts only if that makes it at most `MAX_DELAY_NS` late for some zone. A line written much later can fit a wrong
zone by chance (about one in seven), so a zone is proven by at least two agreeing votes of different instants, never
by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from plogscope.formats.stamps import SECOND_NS, local_ns

QUARTER_NS = 900 * SECOND_NS
"""Zones differ from UTC by whole quarters of an hour."""

MAX_DELAY_NS = 120 * SECOND_NS
MAX_EARLY_NS = 5 * SECOND_NS
"""The clock of the root, which named the communicator, may be this much ahead."""

MIN_AGREEING = 2
WEST_NS = -24 * 3600 * SECOND_NS
EAST_NS = 28 * 3600 * SECOND_NS
"""Zones are from 12 h behind UTC to 14 h ahead; a clock set to local time and read as UTC counts its zone twice."""

_INSTANT = re.compile(
    r"%[\w.\-]{1,64}_\d{1,5}_\d{1,4}_(?P<group_us>\d{16})(?!\d)"
    r"|\bhccl-\d{1,10}-\d{1,6}-(?P<group_s>\d{10})(?=-)"
    r"|(?:mntn_system_error: |excep_code=)0x[0-9a-f]{1,16},\s{1,32}time[:=]\s?(?P<kernel_s>\d{10})\.\d",
    re.ASCII,
)


_ZONED = re.compile(
    r"(?:\{[^{}]{0,200}?\"@?(?:ts|time|timestamp|asctime)\": ?\"|[\s\[(\"]{0,4}(?:time=\")?)"
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?"
    r" ?(?:Z|([+-])(\d\d):?(\d\d))(?![\d:])",
    re.ASCII,
)
"""A stamp with its zone, where stamps stand: at the head of a line, before another head, or in a JSON object."""

_MARKS = ("%", "hccl-", "excep_code=", "mntn_system_error: ")
"""A line without any of these names no instant: cheaper to ask than the pattern."""


def instants(text: str) -> list[int]:
    """The distinct instants that a line states in UTC, ns since the epoch."""
    found: dict[int, None] = {}
    if any(mark in text for mark in _MARKS):
        for match in _INSTANT.finditer(text):
            micros, seconds, kernel = match.groups()
            found[int(micros) * 1000 if micros else int(seconds or kernel) * SECOND_NS] = None
    zoned = _zoned_ns(text)
    if zoned is not None:
        found[zoned] = None
    return list(found)


def _zoned_ns(text: str) -> int | None:
    """The stamp at the head of a line in UTC, if it states its zone."""
    match = _ZONED.match(text)
    if match is None:
        return None
    second, fraction, sign, hours, minutes = match.groups()
    stamp = local_ns(second, fraction)
    ahead = (int(hours or 0) * 60 + int(minutes or 0)) * 60 * SECOND_NS
    return None if stamp is None else stamp + (ahead if sign == "-" else -ahead)


def agreed_zone(seen: Iterable[tuple[int, int]]) -> int | None:
    """The zone of one clock, or None where it is not proven.

    Only the first line that names an instant can be prompt, so each instant votes by its earliest stamp.

    Args:
        seen: (instant, local stamp of a line that names it) of one clock, ns, in any order, repeats allowed.

    Returns:
        Local time minus UTC in ns, if at least two instants and more than half of those that vote agree.
    """
    earliest: dict[int, int] = {}
    for instant, local in seen:
        earliest[instant] = min(local, earliest.get(instant, local))
    votes = Counter(vote for instant, local in earliest.items() if (vote := vote_of(instant, local)) is not None)
    if not votes:
        return None
    zone, count = votes.most_common(1)[0]
    return zone if count >= MIN_AGREEING and 2 * count > sum(votes.values()) else None


def vote_of(instant_ns: int, local_ns: int) -> int | None:
    """Local time minus UTC in ns, a whole quarter of an hour, if the line is prompt for one; else None."""
    zone = (local_ns - instant_ns + MAX_EARLY_NS) // QUARTER_NS * QUARTER_NS
    prompt = local_ns - instant_ns - zone <= MAX_DELAY_NS
    return zone if prompt and WEST_NS <= zone <= EAST_NS else None
