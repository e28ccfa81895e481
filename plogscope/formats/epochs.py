"""Instants that a line states in UTC beside its local stamp: what tells the zone of the writer.

HCCL names a communicator after the instant at which its root made it (`…_<microseconds>`, formerly
`hccl-<pid>-<n>-<seconds>-…`), and the kernel of the device prints `time=<seconds>.<fraction>` of an exception. The line
that names such an instant is written then or later: a vote counts only if that makes it at most `MAX_DELAY_NS` late
for some zone. A line written much later can fit a wrong zone by chance (about one in seven), so a zone is proven by at
least two agreeing votes of different instants, never by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

SECOND_NS = 1_000_000_000
QUARTER_NS = 900 * SECOND_NS
"""Zones differ from UTC by whole quarters of an hour."""

MAX_DELAY_NS = 120 * SECOND_NS
MAX_EARLY_NS = 5 * SECOND_NS
"""The clock of the root, which named the communicator, may be this much ahead."""

MIN_AGREEING = 2
WEST_NS = -12 * 3600 * SECOND_NS
EAST_NS = 14 * 3600 * SECOND_NS

_INSTANT = re.compile(
    r"%[\w.\-]{1,64}_\d{1,5}_\d{1,4}_(?P<group_us>\d{16})(?!\d)"
    r"|\bhccl-\d{1,10}-\d{1,6}-(?P<group_s>\d{10})(?=-)"
    r"|(?:mntn_system_error: |excep_code=)0x[0-9a-f]{1,16},\s{1,32}time[:=]\s?(?P<kernel_s>\d{10})\.\d",
    re.ASCII,
)


def instants(text: str) -> list[int]:
    """The distinct instants that a line states in UTC, ns since the epoch."""
    found: dict[int, None] = {}
    for match in _INSTANT.finditer(text):
        micros, seconds, kernel = match.groups()
        found[int(micros) * 1000 if micros else int(seconds or kernel) * SECOND_NS] = None
    return list(found)


def zone_votes(text: str, time_local_ns: int) -> list[int]:
    """What the writer's clock is ahead of UTC, as each instant in a line has it.

    Args:
        text: One line or record.
        time_local_ns: Its stamp as printed, ns since 1970-01-01 read as if UTC.

    Returns:
        Local time minus UTC in ns, whole quarters of an hour, one for each distinct instant that fits; often none.
    """
    votes = (_vote(instant, time_local_ns) for instant in instants(text))
    return [vote for vote in votes if vote is not None]


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
    votes = Counter(vote for instant, local in earliest.items() if (vote := _vote(instant, local)) is not None)
    if not votes:
        return None
    zone, count = votes.most_common(1)[0]
    return zone if count >= MIN_AGREEING and 2 * count > sum(votes.values()) else None


def _vote(instant_ns: int, local_ns: int) -> int | None:
    zone = (local_ns - instant_ns + MAX_EARLY_NS) // QUARTER_NS * QUARTER_NS
    prompt = local_ns - instant_ns - zone <= MAX_DELAY_NS
    return zone if prompt and WEST_NS <= zone <= EAST_NS else None
