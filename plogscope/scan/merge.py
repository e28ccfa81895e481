"""Fragments of all sources → one list of findings and one line of statistics a source."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from plogscope.formats.stamps import FIRST_DATED_NS, SECOND_NS, with_year
from plogscope.model.record import Finding
from plogscope.model.source import Bundle, Skipped
from plogscope.scan.activity import Span
from plogscope.scan.engine import Scanned
from plogscope.scan.fragment import Fragment

HALF_A_YEAR_NS = 181 * 86_400 * SECOND_NS
"""A stamp that is nearest to a time so long before a file was written is at most a day (zones) later than that."""


class SourceStats(msgspec.Struct, frozen=True, kw_only=True):
    """What one source held. Times are local as printed, ns; `bins` as in `Activity`."""

    lines: int
    bytes: int
    records: int
    unparsed: int
    errors: int
    cut_lines: int
    folded: int
    dropped: int
    first_ns: int | None
    last_ns: int | None
    bins: dict[tuple[int, int], int]
    shift: int
    spans: dict[int, Span]

    @property
    def mostly_errors(self) -> bool:
        """More than a quarter of the records are errors: that more of them follow is no sign of health."""
        return self.errors * 4 > self.records


class Observations(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the scan saw: findings in the order of sources and lines, statistics by source id."""

    findings: tuple[Finding, ...]
    stats: dict[int, SourceStats]
    skipped: tuple[Skipped, ...] = ()
    timeouts: int = 0
    set_aside: int = 0
    """Sources that were found to be of other runs."""

    @property
    def known_form(self) -> bool:
        """At least half of the lines have a form that the program knows."""
        lines = sum(stats.lines for stats in self.stats.values())
        return lines > 0 and sum(stats.unparsed for stats in self.stats.values()) * 2 <= lines

    def ends(self) -> dict[int, tuple[int, int]]:
        """(first, last) stamp as printed by source id, where there are any."""
        return {
            source: (stats.first_ns, stats.last_ns)
            for source, stats in self.stats.items()
            if stats.first_ns is not None and stats.last_ns is not None
        }

    def spoke(self) -> dict[int, list[int]]:
        """When each source was written to: the beginnings of its bins that hold something, ascending, local, ns."""
        return {
            source: sorted({(start << stats.shift) * SECOND_NS for start, _ in stats.bins})
            for source, stats in self.stats.items()
        }

    def without(self, sources: frozenset[int], lines: frozenset[tuple[int, int]]) -> Observations:
        """The same as if these sources, and these lines by source, said nothing. What was read stays counted."""
        silent = {
            source: msgspec.structs.replace(stats, first_ns=None, last_ns=None, bins={}, spans={})
            if source in sources
            else stats
            for source, stats in self.stats.items()
        }
        left = tuple(one for one in self.findings if one.source not in sources and (one.source, one.line) not in lines)
        return msgspec.structs.replace(self, findings=left, stats=silent, set_aside=len(sources))


def merge(bundle: Bundle, scanned: Scanned) -> Observations:
    """Flattens the folds and gives every stamp a year.

    Stamps without a year take the one that brings them nearest to a dated record of the same source, else of the
    bundle; else the last one before the file was written.
    """
    dated = [f.counts.dated_ns for f in scanned.fragments.values() if f.counts.dated_ns is not None]
    anywhere = min(dated) if dated else None
    findings: list[Finding] = []
    stats: dict[int, SourceStats] = {}
    for source in bundle.sources:
        fragment = scanned.fragments.get(source.id)
        if fragment is None:
            continue
        written = source.mtime_ns - HALF_A_YEAR_NS if source.mtime_ns else None
        reference = _first_known(fragment.counts.dated_ns, source.stamp_ns, anywhere, written)
        rows = [finding for fold in fragment.table.kept() for finding in fold.rows()]
        rows.sort(key=lambda finding: (finding.line, finding.signature or "", finding.template))
        findings.extend(_dated(_timed_from_behind(rows), reference))
        stats[source.id] = _stats(fragment, rows, reference)
    return Observations(findings=tuple(findings), stats=stats, skipped=scanned.skipped, timeouts=scanned.timeouts)


def _first_known(*times: int | None) -> int:
    return next((time for time in times if time is not None and time >= FIRST_DATED_NS), FIRST_DATED_NS)


def _timed_from_behind(rows: list[Finding]) -> list[Finding]:
    """Rows before the first stamp of a source inherit that stamp."""
    first = next((row.time_ns for row in rows if row.time_ns is not None), None)
    if first is None:
        return rows
    return [
        msgspec.structs.replace(row, time_ns=first, time_quality="inherited", before=True)
        if row.time_ns is None
        else row
        for row in rows
    ]


def _dated(rows: list[Finding], reference_ns: int) -> list[Finding]:
    return [
        msgspec.structs.replace(
            row, time_ns=_with_year(row.time_ns, reference_ns), last_time_ns=_with_year(row.last_time_ns, reference_ns)
        )
        for row in rows
    ]


def _with_year(time_ns: int | None, reference_ns: int) -> int | None:
    if time_ns is None or time_ns >= FIRST_DATED_NS:
        return time_ns
    return with_year(time_ns, reference_ns)


def _dated_bins(bins: Mapping[tuple[int, int], int], shift: int, reference_ns: int) -> dict[tuple[int, int], int]:
    """Counts by (time in units of `1 << shift` s, level), all with a year: else a picture would span half a century."""
    dated: dict[tuple[int, int], int] = {}
    for (start, level), count in bins.items():
        time_ns = (start << shift) * SECOND_NS
        if 0 <= time_ns < FIRST_DATED_NS:
            start = with_year(time_ns, reference_ns) // SECOND_NS >> shift  # noqa: PLW2901 - the same bin, with a year
        dated[start, level] = dated.get((start, level), 0) + count
    return dated


def _stats(fragment: Fragment, rows: list[Finding], reference_ns: int) -> SourceStats:
    counts, activity = fragment.counts, fragment.activity
    spans = {
        pid: Span(
            _with_year(span.first_ns, reference_ns) or 0, _with_year(span.last_ns, reference_ns) or 0,
            span.records, span.last_line,
        )
        for pid, span in activity.spans.items()
    }  # fmt: skip
    return SourceStats(
        lines=counts.lines,
        bytes=counts.bytes,
        records=counts.records,
        unparsed=counts.unparsed,
        errors=counts.errors,
        cut_lines=counts.cut_lines,
        folded=fragment.table.findings - len(rows),
        dropped=fragment.table.dropped,
        first_ns=min((span.first_ns for span in spans.values()), default=None),
        last_ns=max((span.last_ns for span in spans.values()), default=None),
        bins=_dated_bins(activity.bins, activity.shift, reference_ns),
        shift=activity.shift,
        spans=spans,
    )
