"""Instants that a line states in UTC beside its local stamp: what tells the zone of the writer.

HCCL names a communicator after the instant at which its root made it (`…_<microseconds>`, formerly
`hccl-<pid>-<n>-<seconds>-…`), and the kernel of the device prints `time=<seconds>.<fraction>` of an exception. The line
that names such an instant is written then or later: a vote counts only if that makes it at most `MAX_DELAY_NS` late
for some zone. A line written much later can fit a wrong zone by chance (about one in seven), so a zone is proven by at
least two agreeing votes of different instants, never by one.
"""

from __future__ import annotations

import re

SECOND_NS = 1_000_000_000
QUARTER_NS = 900 * SECOND_NS
"""Zones differ from UTC by whole quarters of an hour."""

MAX_DELAY_NS = 120 * SECOND_NS
MAX_EARLY_NS = 5 * SECOND_NS
"""The clock of the root, which named the communicator, may be this much ahead."""

WEST_NS = -12 * 3600 * SECOND_NS
EAST_NS = 14 * 3600 * SECOND_NS

_INSTANT = re.compile(
    r"%[\w.\-]{1,64}_\d{1,5}_\d{1,4}_(?P<group_us>\d{16})(?!\d)"
    r"|\bhccl-\d{1,10}-\d{1,6}-(?P<group_s>\d{10})(?=-)"
    r"|(?:mntn_system_error: |excep_code=)0x[0-9a-f]{1,16},\s{1,32}time[:=]\s?(?P<kernel_s>\d{10})\.\d",
    re.ASCII,
)


def zone_votes(text: str, time_local_ns: int) -> list[int]:
    """What the writer's clock is ahead of UTC, as each instant in a line has it.

    Args:
        text: One line or record.
        time_local_ns: Its stamp as printed, ns since 1970-01-01 read as if UTC.

    Returns:
        Local time minus UTC in ns, whole quarters of an hour, one for each distinct instant that fits; often none.
    """
    votes: dict[int, int] = {}
    for found in _INSTANT.finditer(text):
        micros, seconds, kernel = found.groups()
        instant_ns = int(micros) * 1000 if micros else int(seconds or kernel) * SECOND_NS
        zone = (time_local_ns - instant_ns + MAX_EARLY_NS) // QUARTER_NS * QUARTER_NS
        if time_local_ns - instant_ns - zone <= MAX_DELAY_NS and WEST_NS <= zone <= EAST_NS:
            votes[instant_ns] = zone
    return list(votes.values())
