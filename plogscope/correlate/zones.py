"""The zone of a clock, from what lines of the bundle state themselves. Where they do not, there is none.

Two kinds of zone: of any clock against UTC, by instants in UTC that stand beside local stamps; and of what a node's
processes print against their plogs, by errors that one process states in both and by logs that begin and end together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from plogscope.formats.epochs import QUARTER_NS, agreed_zone, instants
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.record import Finding
from plogscope.model.vocabulary import ClockProof

LEAST_ZONE_NS = 3600 * SECOND_NS
MAX_ZONE_NS = 26 * 3600 * SECOND_NS
TOGETHER_NS = 120 * SECOND_NS
"""Logs of one job begin, or end, within this time of each other."""

SAME_ERROR_NS = 15 * SECOND_NS
"""A process prints an error within this time of the record of the same code in its plog."""

ANY_ERROR_NS = 2 * SECOND_NS
"""And within this time of its plog's record if nothing but the time says that they are one: quarters of an hour are
so many that a longer window fits some zone by chance."""

ClockName = tuple[str | None, str]
"""(node, kind): stamps of a node in its CANN logs ("plog"), its output ("stdout"), its system log ("host") or those of
its devices ("device")."""

NameOf = Callable[[Finding], ClockName]
Zone = tuple[int, ClockProof | None]
"""What has to be added to printed stamps to compare them with plogs, ns, and what proves it."""

TIMED = ("exact", "no_year")


def utc_zones(findings: Sequence[Finding], name_of: NameOf) -> dict[ClockName, int]:
    """Local time minus UTC in ns, of every clock for which at least two instants agree."""
    seen: dict[ClockName, list[tuple[int, int]]] = defaultdict(list)
    for finding in findings:
        if finding.time_ns is not None and finding.time_quality in TIMED:
            stated = instants(finding.quote)
            if stated:
                seen[name_of(finding)] += [(instant, finding.time_ns) for instant in stated]
    return {name: zone for name, pairs in seen.items() if (zone := agreed_zone(pairs)) is not None}


def own_zones(
    findings: Sequence[Finding],
    ends: Mapping[ClockName, tuple[int, int]],
    utc: Mapping[ClockName, int],
    name_of: NameOf,
    main: Mapping[str | None, ClockName],
) -> dict[ClockName, Zone]:
    """The other clocks of a node → their zones against its main clock.

    Args:
        findings: Of all sources.
        ends: First and last stamp of all sources of a clock.
        utc: As `utc_zones` found them.
        name_of: The clock of a finding.
        main: Node → its main clock.
    """
    errors = _by_errors(findings, name_of)
    zones: dict[ClockName, Zone] = dict.fromkeys(_hosts_in_step(findings, name_of, main), (0, "host"))
    zones |= {name: (zone, "spans") for name, zone in _by_spans(ends).items()}
    zones |= {name: (zone, "errors") for name, zone in errors.items()}
    for name, zone in utc.items():
        logged = utc.get(main[name[0]])
        if name == main[name[0]] or logged is None:
            continue
        if errors.get(name, logged - zone) == logged - zone:
            zones[name] = (logged - zone, "epochs")
        else:
            del zones[name]  # two proofs that contradict each other are none
    printed = {zone for (_, kind), (zone, _) in zones.items() if kind == "stdout"}
    if len(printed) == 1:
        common = next(iter(printed))
        for name in ends:
            if name[1] == "stdout" and name not in zones and common in _gaps(ends, name[0]):
                zones[name] = (common, "spans")
    return zones


def _by_errors(findings: Sequence[Finding], name_of: NameOf) -> dict[ClockName, int]:
    """Zones of output, from errors that one process states in its output and in its plogs."""
    seen: dict[tuple[str | None, int], dict[str, list[Finding]]] = defaultdict(lambda: {"plog": [], "stdout": []})
    for finding in findings:
        node, kind = name_of(finding)
        if finding.actor.pid is None or finding.time_ns is None or finding.time_quality not in TIMED:
            continue
        if finding.level in ("ERROR", "CRITICAL") and kind in ("plog", "stdout"):
            seen[node, finding.actor.pid][kind].append(finding)
    votes: dict[ClockName, Counter[int]] = defaultdict(Counter)
    for (node, _), logs in seen.items():
        for printed in logs["stdout"]:
            fitting = [gap for logged in logs["plog"] if (gap := _error_gap(printed, logged)) is not None]
            if fitting:
                votes[node, "stdout"][min(fitting, key=abs)] += 1
    zones: dict[ClockName, int] = {}
    for name, count in votes.items():
        zone, agreeing = min(count.items(), key=lambda one: (-one[1], abs(one[0])))
        if agreeing * 2 > sum(count.values()):
            zones[name] = zone
    return zones


def _error_gap(printed: Finding, logged: Finding) -> int | None:
    gap = (logged.time_ns or 0) - (printed.time_ns or 0)
    code = printed.fields.get("code")
    same = code is not None and code == logged.fields.get("code")
    near = SAME_ERROR_NS if same or abs(gap) <= SAME_ERROR_NS else ANY_ERROR_NS
    return _zone_gap(gap, near)


def _hosts_in_step(
    findings: Sequence[Finding], name_of: NameOf, main: Mapping[str | None, ClockName]
) -> set[ClockName]:
    """System logs that say something while processes of their node log errors: they stand in the same zone."""
    failing: dict[str | None, list[int]] = defaultdict(list)
    system: dict[ClockName, list[int]] = defaultdict(list)
    for finding in findings:
        name = name_of(finding)
        node, kind = name
        if finding.time_ns is None:
            continue
        if kind in ("host", "device"):
            system[name].append(finding.time_ns)
        elif name == main[node] and finding.level in ("ERROR", "CRITICAL"):
            failing[node].append(finding.time_ns)
    return {
        name
        for name, times in system.items()
        if any(abs(moment - other) <= TOGETHER_NS for moment in times for other in failing.get(name[0], ()))
    }


def _zone_gap(gap_ns: int, within_ns: int) -> int | None:
    """The difference of zones if stamps that far apart fit one event, else None.

    Zones differ by whole quarters, but never by less than an hour: half an hour between two errors is a timeout.
    """
    zone = round(gap_ns / QUARTER_NS) * QUARTER_NS
    if abs(gap_ns - zone) > within_ns or not (zone == 0 or LEAST_ZONE_NS <= abs(zone) <= MAX_ZONE_NS):
        return None
    return zone


def _gaps(ends: Mapping[ClockName, tuple[int, int]], node: str | None) -> tuple[int | None, int | None]:
    """Whole quarter hours between output and plogs of a node, where they begin and where they end."""
    if (node, "stdout") not in ends or (node, "plog") not in ends:
        return None, None
    printed, logged = ends[node, "stdout"], ends[node, "plog"]
    return _zone_gap(logged[0] - printed[0], TOGETHER_NS), _zone_gap(logged[1] - printed[1], TOGETHER_NS)


def _by_spans(ends: Mapping[ClockName, tuple[int, int]]) -> dict[ClockName, int]:
    """Zones of output that begins and ends with the plogs.

    Short logs do both at many shifts: they prove none but 0. For that one end is enough: logs whose stamps meet as they
    are printed are in one zone.
    """
    offsets: dict[ClockName, int] = {}
    for name, (first, last) in ends.items():
        if name[1] != "stdout":
            continue
        begin, end = _gaps(ends, name[0])
        if (begin == end and begin is not None and last - first > QUARTER_NS) or {begin, end} in ({0}, {0, None}):
            offsets[name] = begin if begin is not None else 0
    return offsets
