"""One range of a source → Fragment: heads open records, other lines continue them, signatures are sought in both."""

from __future__ import annotations

from typing import BinaryIO

import msgspec
import numpy as np

from plogscope.formats.base import Facts, Head
from plogscope.formats.encoding import decode_line
from plogscope.formats.parse import Piece, parse_line
from plogscope.formats.stamps import FIRST_DATED_NS
from plogscope.grammar.match import Match, Matcher
from plogscope.model.record import Actor, Finding
from plogscope.model.source import Source
from plogscope.model.vocabulary import TimeQuality
from plogscope.scan.fold import MAX_QUOTE_CHARS, UNNAMED, cut_quote, fold_key, unknown_key
from plogscope.scan.fragment import (
    EXCEPTION,
    MAX_FINDINGS_PER_RECORD,
    Fragment,
    Lead,
    OpenRecord,
    Seen,
    close_record,
    empty_fragment,
    is_known,
)
from plogscope.scan.heard import is_source_echo, may_hide_literals, settle
from plogscope.scan.mask import mask
from plogscope.scan.quiet import Columns, Lines
from plogscope.scan.read import Block, read_blocks

WORTH_COLUMNS = 4096
"""Bytes of a block from which the columns, some fifty array operations, are faster than reading line by line."""

_LEVEL_CLASS = {"WARNING": 1, "ERROR": 2, "CRITICAL": 2}


def scan(
    stream: BinaryIO,
    source: Source,
    matcher: Matcher,
    start: int = 0,
    stop: int | None = None,
    *,
    columns: Columns | None = None,
    fast: bool | None = None,
) -> Fragment:
    """The fragment of the lines whose first byte lies in `[start, stop)`. The only stage that touches every byte.

    Args:
        stream: The bytes of the source, seekable.
        source: What its path says about the writer.
        matcher: The compiled grammar.
        start: First byte of the range.
        stop: End of the range (exclusive); None = end of the source.
        columns: Those of the matcher's gate, to be used again for the next range.
        fast: Find plain lines by columns; None = in blocks that are large enough to gain by it. The result is the same
            in any case; tests compare the two.
    """
    scanner = _Scanner(source, matcher, columns or Columns(matcher.gate), fast=fast)
    for block in read_blocks(stream, start, stop):
        scanner.take(block)
    return scanner.done()


class _Scanner:
    """Fills one fragment, block by block."""

    def __init__(self, source: Source, matcher: Matcher, columns: Columns, *, fast: bool | None) -> None:
        self.fragment = empty_fragment(source.id)
        self._source = source
        self._matcher = matcher
        self._columns = columns
        self._fast = fast
        self._quiet: tuple[bytes, int, int] | None = None
        """The last record of stream "" if it was only counted: its head line, offset and line number."""
        self._quiet_end_line = 0
        self._nameless: dict[str, tuple[str, Facts]] = {}
        """By stream, message and facts of the open record: what it is called if no signature knows it."""

    def done(self) -> Fragment:
        """The fragment, with the last record open and the table within its bound."""
        self._wake()
        for stream, record in self.fragment.tails.items():
            self._name(stream, record)
        self.fragment.table.trim()
        return self.fragment

    def take(self, block: Block) -> None:
        """Takes in the lines of the next block."""
        counts, data = self.fragment.counts, block.data
        counts.bytes += block.length
        if block.length > len(data):
            counts.cut_lines += 1
        fast = len(data) >= WORTH_COLUMNS if self._fast is None else self._fast
        lines = self._columns.lines(data, columns=fast)
        repeats = settle(data, lines, self._columns, self._matcher)
        before, done = counts.lines, 0
        starts, ends = lines.starts.tolist(), lines.ends.tolist()
        for index in np.flatnonzero(~lines.plain).tolist():
            if index > done:
                self._count_run(block, lines, done, index, before)
            counts.lines = before + index + 1
            raw = data[starts[index] : ends[index]]
            hidden = may_hide_literals(raw)
            wanted = hidden or lines.wanted is None or bool(lines.wanted[index])
            if wanted and index and is_source_echo(data[starts[index - 1] : ends[index - 1]], raw):
                wanted = False
            self._take_line(raw, block.offset + starts[index], wanted, None if hidden else lines.literals.get(index))
            done = index + 1
        if len(starts) > done:
            self._count_run(block, lines, done, len(starts), before)
        self._count_activity(lines, before)
        for key, count in repeats.items():
            self.fragment.table.repeat(key, count)

    def _count_run(self, block: Block, lines: Lines, first: int, end: int, before: int) -> None:
        """Counts the plain lines `first` to `end` (exclusive) of a block."""
        fragment, counts = self.fragment, self.fragment.counts
        counts.lines = before + end
        opening = np.flatnonzero(lines.opens[first:end]) + first
        lead = int(opening[0]) if len(opening) else end
        if lead > first:
            self._continue_silently(before + first + 1, before + lead, block.offset + int(lines.starts[first]))
        if not len(opening):
            return
        self._close("", raised=False)
        self.fragment.raised.setdefault("", False)
        counts.records += len(opening)
        last = int(opening[-1])
        fragment.last_time_ns = int(lines.times[last])
        if counts.dated_ns is None:
            dated = lines.times[opening]
            counts.dated_ns = next(iter(dated[dated >= FIRST_DATED_NS].tolist()), None)
        start = int(lines.starts[last])
        self._quiet = (block.data[start : int(lines.ends[last])], block.offset + start, before + last + 1)
        self._quiet_end_line = before + end

    def _continue_silently(self, first_line: int, last_line: int, offset: int) -> None:
        """Lines that continue the record before them and say nothing."""
        if self._quiet is not None:
            self._quiet_end_line = last_line
            return
        tail, lead = self.fragment.tails.get(""), self.fragment.leads.get("")
        if tail is not None:
            tail.end_line = last_line
        elif lead is not None:
            lead.end_line = last_line
            lead.lines += last_line - first_line + 1
        else:
            self.fragment.leads[""] = Lead(first_line, last_line, offset, last_line - first_line + 1, [])

    def _count_activity(self, lines: Lines, before: int) -> None:
        records = np.flatnonzero(lines.opens & lines.plain)
        if len(records):
            classes, pids = self._columns.writers(lines.heads[records])
            self.fragment.activity.add_many(
                lines.seconds[records], lines.times[records], classes, pids, before + records + 1
            )

    def _take_line(self, raw: bytes, offset: int, wanted: bool, literals: frozenset[int] | None) -> None:  # noqa: FBT001 - inner loop, one caller
        quote: str | None = None
        for piece in parse_line(raw):
            if quote is None:
                quote = decode_line(raw, 4 * MAX_QUOTE_CHARS).rstrip("\r")
            candidates = self._matcher.candidates(piece.text, literals) if wanted else _NO_CANDIDATES
            if piece.head is not None or not piece.indented:
                self._open(piece, offset, quote, self.fragment.counts.lines)
            else:
                self._continue(piece, offset, bool(candidates))
            if candidates and piece.text:
                self._look_for_signatures(piece, candidates, offset, quote)

    def _wake(self) -> None:
        """Opens the record that was only counted, because something may continue it."""
        if self._quiet is not None:
            raw, offset, line = self._quiet
            self._quiet = None
            piece = parse_line(raw)[0]
            head = piece.head or Head(format="text", message=piece.text)
            self._begin(head, piece.facts, offset, "", line, self._quiet_end_line)

    def _begin(self, head: Head, facts: Facts, offset: int, quote: str, line: int, end_line: int) -> None:
        finding = self._head_finding(head, facts, offset, quote, line)
        self.fragment.tails[facts.stream] = OpenRecord(finding, UNNAMED, end_line, [])
        self._nameless[facts.stream] = (head.message, facts)

    def _name(self, stream: str, record: OpenRecord) -> None:
        """Says what a record is if no signature knows it."""
        message, facts = self._nameless[stream]
        finding = record.head
        if _is_error(finding.level):
            finding = record.head = msgspec.structs.replace(finding, template=mask(message))
        record.head_key = unknown_key(finding, facts.stream)

    def _open(self, piece: Piece, offset: int, quote: str, line: int) -> None:
        """A head, or text without one: the record before it in its stream is complete."""
        fragment = self.fragment
        facts, head = piece.facts, piece.head or Head(format="text", message=piece.text)
        raised = head.format == EXCEPTION
        self._close(facts.stream, raised=raised)
        fragment.raised.setdefault(facts.stream, raised)
        fragment.counts.records += 1
        if piece.head is None:
            fragment.counts.unparsed += 1
        level_class = _LEVEL_CLASS.get(head.level or "", 0)
        pid = head.pid if head.pid is not None else facts.pid
        if head.time_ns is not None:
            self._note_time(head.time_ns, level_class, pid or 0)
        if level_class == 2:  # noqa: PLR2004 - see _LEVEL_CLASS
            fragment.counts.errors += 1
        self._begin(head, facts, offset, quote, line, line)

    def _head_finding(self, head: Head, facts: Facts, offset: int, quote: str, line: int) -> Finding:
        own = head.time_ns is not None
        time_ns = head.time_ns if own else self.fragment.last_time_ns
        return Finding(
            signature=None,
            source=self._source.id,
            line=line,
            quote=cut_quote(quote) if _is_error(head.level) else "",
            record_line=line,
            record_end_line=line,
            offset=offset,
            format=head.format,
            level=head.level,
            time_ns=time_ns,
            time_quality=head.time_quality if own else ("none" if time_ns is None else "inherited"),
            module=head.module,
            func=head.func,
            src_file=head.src_file,
            actor=_actor(self._source, facts, head),
        )

    def _continue(self, piece: Piece, offset: int, wanted: bool) -> None:  # noqa: FBT001 - inner loop, one caller
        fragment, line, stream = self.fragment, self.fragment.counts.lines, piece.facts.stream
        if stream == "" and self._quiet is not None:
            self._quiet_end_line = line
            if not wanted:
                return
            self._wake()
        tail = fragment.tails.get(stream)
        if tail is not None:
            tail.end_line = line
            return
        lead = fragment.leads.get(stream)
        if lead is None:
            fragment.leads[stream] = Lead(line, line, offset, 1, [])
        else:
            lead.end_line = line
            lead.lines += 1

    def _look_for_signatures(self, piece: Piece, candidates: frozenset[int], offset: int, quote: str) -> None:
        fragment, stream = self.fragment, piece.facts.stream
        starts = piece.head is not None or not piece.indented
        tail = fragment.tails.get(stream)
        format_name = tail.head.format if starts and tail is not None else None
        level = tail.head.level if starts and tail is not None else None
        for match in self._matcher.match_among(candidates, piece.text, format_name, level):
            seen = self._seen(match, piece, offset, quote)
            holder = tail if tail is not None else fragment.leads[stream]
            if len(holder.seen) < MAX_FINDINGS_PER_RECORD:
                holder.seen.append(seen)
            else:
                holder.spilled += 1

    def _seen(self, match: Match, piece: Piece, offset: int, quote: str) -> Seen:
        signature = self._matcher.grammar.signatures[match.signature]
        facts = piece.facts
        pid = piece.head.pid if piece.head is not None and piece.head.pid is not None else facts.pid
        time_ns, quality = self._time_of(piece)
        finding = Finding(
            signature=signature.id,
            source=self._source.id,
            line=self.fragment.counts.lines,
            quote=cut_quote(quote),
            record_line=self.fragment.counts.lines,
            record_end_line=self.fragment.counts.lines,
            offset=offset,
            format="text",
            time_ns=time_ns,
            time_quality=quality,
            actor=_actor(self._source, facts, None),
            fields={name: value[:MAX_QUOTE_CHARS] for name, value in match.fields.items()},
        )
        return Seen(
            fold_key(signature, match, pid, facts.stream), finding, signature.match.formats, signature.match.levels
        )

    def _time_of(self, piece: Piece) -> tuple[int | None, TimeQuality]:
        """The time that a logging library put before this very line; else that of the last stamp above it."""
        if piece.carrier is not None and piece.carrier.time_ns is not None:
            return piece.carrier.time_ns, piece.carrier.time_quality
        last = self.fragment.last_time_ns
        return last, "none" if last is None else "inherited"

    def _close(self, stream: str, *, raised: bool) -> None:
        if stream == "":
            self._quiet = None
        record = self.fragment.tails.pop(stream, None)
        if record is not None:
            if _is_error(record.head.level) and not is_known(record):
                self._name(stream, record)
            self._nameless.pop(stream, None)
            close_record(self.fragment.table, record, raised=raised)

    def _note_time(self, time_ns: int, level_class: int, pid: int) -> None:
        fragment = self.fragment
        fragment.last_time_ns = time_ns
        fragment.activity.add(time_ns, level_class, pid, fragment.counts.lines)
        if fragment.counts.dated_ns is None and time_ns >= FIRST_DATED_NS:
            fragment.counts.dated_ns = time_ns


def _is_error(level: str | None) -> bool:
    return _LEVEL_CLASS.get(level or "", 0) == 2  # noqa: PLR2004 - see _LEVEL_CLASS


_NO_CANDIDATES: frozenset[int] = frozenset()


def _actor(source: Source, facts: Facts, head: Head | None) -> Actor:
    """Who wrote the line, as far as it and the path of its file tell."""
    pid, rank, local_rank = facts.pid, facts.rank, facts.local_rank
    if head is not None:
        pid = pid if head.pid is None else head.pid
        rank = head.rank if rank is None else rank
        local_rank = head.local_rank if local_rank is None else local_rank
    if source.kind == "device-log" and source.pid is not None:
        pid = source.pid  # lines carry the pid on the device, the file name that of the host process
    if pid is None and source.kind in ("plog", "device-log"):
        pid = source.pid
    return Actor(
        node=source.node or facts.host,
        pid=pid,
        tid=head.tid if head else None,
        device=head.device if head is not None and head.device is not None else source.device,
        rank=source.rank if rank is None else rank,
        local_rank=source.local_rank if local_rank is None else local_rank,
        proc=facts.proc or (head.proc if head else None),
    )
