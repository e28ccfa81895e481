"""What the scan knows about a range of one source, and how two neighbouring ranges become one.

`Fragment + Fragment` is associative: `scan(a) + scan(b)` equals `scan(a and b)` for any split at any byte.
A record that straddles a border stays open on both sides (`tails` on the left, `leads` on the right) until they meet.
"""

from __future__ import annotations

import msgspec

from plogscope.model.record import Actor, Finding
from plogscope.model.vocabulary import TimeQuality
from plogscope.scan.activity import Activity
from plogscope.scan.fold import UNNAMED, FoldTable

MAX_FINDINGS_PER_RECORD = 200

TRACEBACK, EXCEPTION = "traceback", "exception"
"""Formats of the head of a traceback and of the line that ends it."""


class Seen(msgspec.Struct, frozen=True):
    """A signature matched in a line whose record is not closed yet.

    `formats` and `levels` are the conditions that can only be tested when the head is known.
    """

    key: tuple[int, str]
    finding: Finding
    formats: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()


class OpenRecord(msgspec.Struct):
    """A record whose end has not been seen. `head` is the finding that it becomes if no signature knows it."""

    head: Finding
    head_key: tuple[int, str]
    end_line: int
    seen: list[Seen]
    spilled: int = 0


class Lead(msgspec.Struct):
    """Continuation lines of a stream before its first head in the range: they belong to a record further left."""

    line: int
    end_line: int
    offset: int
    lines: int
    seen: list[Seen]
    spilled: int = 0


class Counts(msgspec.Struct):
    """Lines and records of a range. `unparsed` counts lines of no known format."""

    lines: int = 0
    bytes: int = 0
    records: int = 0
    unparsed: int = 0
    errors: int = 0
    cut_lines: int = 0
    dated_ns: int | None = None
    """First stamp that has a year, local time as printed."""


class Fragment(msgspec.Struct):
    """See the module. Line numbers are relative to the range, 1-based; offsets are those of the source."""

    source: int
    counts: Counts
    table: FoldTable
    activity: Activity
    leads: dict[str, Lead]
    tails: dict[str, OpenRecord]
    raised: dict[str, bool] = {}
    """Whether the first head of each stream in the range is an exception: it ends what is open on the left."""
    last_time_ns: int | None = None

    def __add__(self, later: Fragment) -> Fragment:
        """The fragment of both ranges. Neither operand is changed."""
        left = msgspec.msgpack.decode(msgspec.msgpack.encode(self), type=Fragment)
        right = _shifted(later, self.counts.lines, self.last_time_ns)
        _join_streams(left, right)
        left.table.extend(right.table)
        left.activity.extend(right.activity, self.counts.lines)
        _add_counts(left.counts, right.counts)
        if right.last_time_ns is not None:
            left.last_time_ns = right.last_time_ns
        return left


def empty_fragment(source: int) -> Fragment:
    """The neutral element of `+`."""
    return Fragment(source, Counts(), FoldTable({}), Activity({}, {}), {}, {})


def close_record(table: FoldTable, record: OpenRecord, *, raised: bool = False) -> None:
    """Folds what was seen in a record whose end is known; an error that nothing knows becomes an unknown finding.

    Args:
        table: Takes the findings.
        record: The record.
        raised: The head behind it in its stream is an exception: below a traceback it speaks for that as well.
    """
    head = record.head
    table.findings += record.spilled
    for seen in record.seen:
        if _is_wanted(seen, head):
            table.add(seen.key, _placed(seen.finding, head, record.end_line))
    spoken_for = raised and head.format == TRACEBACK
    if not is_known(record) and head.level in ("ERROR", "CRITICAL") and not spoken_for:
        table.add(record.head_key, msgspec.structs.replace(head, record_end_line=record.end_line))


def is_known(record: OpenRecord) -> bool:
    """True when a signature knows the record."""
    return bool(record.spilled) or any(_is_wanted(seen, record.head) for seen in record.seen)


def _is_wanted(seen: Seen, head: Finding) -> bool:
    """True when what was seen is about records with this head."""
    return (not seen.formats or head.format in seen.formats) and (not seen.levels or head.level in seen.levels)


def finish(fragment: Fragment) -> Fragment:
    """The fragment of a whole source: leads become records without a head, tails are closed."""
    done = msgspec.msgpack.decode(msgspec.msgpack.encode(fragment), type=Fragment)
    for lead in done.leads.values():
        close_record(done.table, _headless(done.source, lead))
        done.counts.unparsed += lead.lines
    for record in done.tails.values():
        close_record(done.table, record)
    done.leads, done.tails = {}, {}
    done.table.trim()
    return done


def _headless(source: int, lead: Lead) -> OpenRecord:
    head = Finding(
        signature=None, source=source, line=lead.line, quote="", record_line=lead.line, record_end_line=lead.end_line,
        offset=lead.offset, format="text",
    )  # fmt: skip
    return OpenRecord(head, UNNAMED, lead.end_line, lead.seen, lead.spilled)


def _placed(finding: Finding, head: Finding, end_line: int) -> Finding:
    """The finding of a line with what the head of its record says: time, level, writer."""
    quality: TimeQuality = finding.time_quality
    time_ns = finding.time_ns
    if time_ns is None or quality in ("none", "inherited"):
        time_ns, quality = head.time_ns, head.time_quality
    mine, heads = finding.actor, head.actor
    return msgspec.structs.replace(
        finding,
        record_line=head.record_line,
        record_end_line=max(end_line, finding.line),
        format=head.format,
        level=head.level,
        time_ns=time_ns,
        time_quality=quality,
        module=head.module,
        func=head.func,
        src_file=head.src_file,
        actor=Actor(
            node=heads.node,
            pid=heads.pid if heads.pid is not None else mine.pid,
            tid=heads.tid,
            device=heads.device,
            rank=heads.rank if heads.rank is not None else mine.rank,
            local_rank=heads.local_rank if heads.local_rank is not None else mine.local_rank,
            proc=heads.proc or mine.proc,
        ),
    )


def _join_streams(left: Fragment, right: Fragment) -> None:
    """Lets the open ends of the left range meet the open beginnings of the right one."""
    for stream, lead in right.leads.items():
        tail = left.tails.get(stream)
        if tail is None:
            mine = left.leads.get(stream)
            if mine is None:
                left.leads[stream] = lead
            else:
                mine.end_line, mine.lines = lead.end_line, mine.lines + lead.lines
                mine.spilled += _append(mine.seen, lead.seen) + lead.spilled
        else:
            tail.end_line = lead.end_line
            tail.spilled += _append(tail.seen, lead.seen) + lead.spilled
    for stream, record in right.tails.items():
        before = left.tails.get(stream)
        if before is not None:
            close_record(left.table, before, raised=right.raised.get(stream, False))
        left.tails[stream] = record
    for stream, raised in right.raised.items():
        left.raised.setdefault(stream, raised)


def _append(seen: list[Seen], more: list[Seen]) -> int:
    """Extends `seen` up to its bound; returns how many did not fit."""
    room = MAX_FINDINGS_PER_RECORD - len(seen)
    seen.extend(more[:room])
    return max(0, len(more) - room)


def _add_counts(mine: Counts, later: Counts) -> None:
    mine.lines += later.lines
    mine.bytes += later.bytes
    mine.records += later.records
    mine.unparsed += later.unparsed
    mine.errors += later.errors
    mine.cut_lines += later.cut_lines
    if mine.dated_ns is None:
        mine.dated_ns = later.dated_ns


def _shifted(fragment: Fragment, lines: int, time_ns: int | None) -> Fragment:
    """A copy with absolute lines; what had no time before it inherits the last time of the range on the left."""
    copy = msgspec.msgpack.decode(msgspec.msgpack.encode(fragment), type=Fragment)

    def move(finding: Finding) -> Finding:
        inherits = finding.time_ns is None and time_ns is not None
        return msgspec.structs.replace(
            finding,
            line=finding.line + lines,
            record_line=finding.record_line + lines,
            record_end_line=finding.record_end_line + lines,
            time_ns=time_ns if inherits else finding.time_ns,
            time_quality="inherited" if inherits else finding.time_quality,
        )

    def move_seen(seen: list[Seen]) -> list[Seen]:
        return [msgspec.structs.replace(one, finding=move(one.finding)) for one in seen]

    for fold in copy.table.folds.values():
        fold.first = [move(finding) for finding in fold.first]
        fold.last = [move(finding) for finding in fold.last]
    copy.table.earliest = {key: move(finding) for key, finding in copy.table.earliest.items()}
    for lead in copy.leads.values():
        lead.line, lead.end_line, lead.seen = lead.line + lines, lead.end_line + lines, move_seen(lead.seen)
    for record in copy.tails.values():
        record.head, record.end_line, record.seen = move(record.head), record.end_line + lines, move_seen(record.seen)
    return copy
