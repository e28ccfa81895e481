"""Lines of one source → rows. Any way to cut the source into blocks or ranges gives the same rows.

A row is a *run*: consecutive lines of one record, see `plogscope.model.rows`. What a record says about itself is kept
per stream, so that a later run of an interleaved record repeats it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np

from plogscope.formats.base import Facts, Head
from plogscope.formats.parse import MAX_PEELED_CHARS, Piece, parse_line
from plogscope.formats.prefixes import clean, split_glued
from plogscope.formats.stamps import FIRST_DATED_NS, with_date, with_year
from plogscope.model.rows import MAX_MESSAGE_CHARS
from plogscope.model.source import Source
from plogscope.scan.read import Block
from plogscope.table.arrays import NULL, utf8
from plogscope.table.columns import Columns
from plogscope.table.ordinary import Lines, Ordinary
from plogscope.table.shared import Kind, Place, Writer

MAX_STREAMS = 4096
"""Writers whose last record is remembered; the line of a forgotten one opens a record without a head."""

MAX_RUN_BYTES = 1 << 30
"""A longer run is several rows of one record: `length` has 32 bits."""

MAX_NEEDLE_CHARS = 48


class _Record(msgspec.Struct):
    """What the head of a record says, for all of its runs. `offset` is its address."""

    offset: int
    time_ns: int
    kind: Kind
    place: Place
    func: str | None
    tid: int | None


class _Run(msgspec.Struct):
    """The run that is not complete: the next line may continue it."""

    record: _Record
    line: int
    end_line: int
    offset: int
    length: int
    text: list[str]
    room: int = MAX_MESSAGE_CHARS


class _Plain(NamedTuple):
    """Consecutive rows of ordinary records (see `Ordinary`); the next line may continue the last one."""

    lines: Lines
    start: int
    end: int


class Runs:
    """Fills `columns` with the rows of one source, block by block, in the order of the file."""

    def __init__(
        self, source: Source, columns: Columns, ordinary: Ordinary, *, first_ns: int | None, year_reference_ns: int
    ) -> None:
        """`ordinary` serves one source at a time. `first_ns`: time of the first record that has one."""
        self._source = source
        self._columns = columns
        self._ordinary = ordinary
        ordinary.begin(lambda piece: columns.kinds.code(self._plain_kind(piece)))
        self._records: dict[str, _Record] = {}
        self._run: _Run | None = None
        self._plain: _Plain | None = None
        self._line = 0
        self._reference_ns = year_reference_ns
        self._last_ns = NULL if first_ns is None else self._dated(first_ns)

    def take(self, block: Block) -> None:
        """Takes in the lines of the next block. Rows may be taken out of `columns` before, not while it is read."""
        data = block.data
        lines = self._ordinary.lines(data)
        lines.numbers[:2] += self._line
        lines.numbers[2] += block.offset
        lines.numbers[4] += block.offset
        row = 0
        changes = np.flatnonzero(np.diff(lines.ordinary)) + 1
        for start, end in pairwise((0, *changes.tolist(), len(lines.ordinary))):
            if lines.ordinary[start]:
                self._take_ordinary(lines, row, row + end - start)
                row += end - start
                continue
            first, last = int(lines.starts[start]), int(lines.starts[end])
            spare = block.length - len(data) if last == len(data) else 0
            self._take_lines(data[first:last], block.offset + first, spare)
        if self._plain is not None:
            self._wake(self._plain)

    def done(self) -> None:
        """Closes the last run."""
        self._flush()

    def _take_ordinary(self, lines: Lines, start: int, end: int) -> None:
        """Takes in rows of consecutive ordinary records; the last one stays open."""
        self._flush()
        self._line += end - start
        self._last_ns = self._reference_ns = int(lines.numbers[5, end - 1])
        self._plain = _Plain(lines, start, end)

    def _plain_kind(self, piece: Piece) -> Kind:
        """What all ordinary records with this head share."""
        head = piece.head or Head(format="text", message="")
        writer = writer_of(self._source, piece.facts, head)
        return Kind(head.format, head.level, "exact", head.module, writer)

    def _plain_record(self, plain: _Plain) -> _Record:
        """The last record, for the lines that continue it sooner or later."""
        self._plain = None
        columns, row = self._columns, plain.end - 1
        offset, time_ns, kind, place, func, tid = plain.lines.numbers[4:, row].tolist()
        record = _Record(offset, time_ns, columns.kinds[kind], columns.places[place], columns.funcs.word(func), tid)
        self._remember("", record)
        return record

    def _pass(self, lines: Lines, start: int, end: int) -> None:
        """Rows that no line continues go on as they are."""
        if end > start:
            self._columns.extend(lines.numbers[:, start:end], lines.messages.slice(start, end - start))

    def _wake(self, plain: _Plain) -> None:
        """Turns the last of these records into one that can be continued."""
        self._pass(plain.lines, plain.start, plain.end - 1)
        record = self._plain_record(plain)
        line, _, offset, length, *_ = plain.lines.numbers[:, plain.end - 1].tolist()
        text = plain.lines.messages[plain.end - 1].as_py()
        self._run = _Run(record, line, line, offset, length, [text])
        self._run.room -= len(text) + 1

    def _take_lines(self, data: bytes, offset: int, spare: int = 0) -> None:
        """Takes in whole lines; `spare` bytes of the last one were not read."""
        position, size = 0, len(data)
        while position < size:
            end = data.find(b"\n", position) + 1 or size
            length = end - position + (spare if end == size else 0)
            self._take_line(data[position:end].removesuffix(b"\n"), offset + position, length)
            position = end

    def _take_line(self, raw: bytes, offset: int, length: int) -> None:
        self._line += 1
        pieces = parse_line(raw)
        if len(pieces) == 1:
            self._take_piece(pieces[0], offset, length)
            return
        borders = pairwise([*piece_offsets(raw), length])
        for piece in pieces:
            if piece.inside:
                self._cover(0, piece.text)
                continue
            start, end = next(borders)
            self._take_piece(piece, offset + start, end - start)

    def _take_piece(self, piece: Piece, offset: int, length: int) -> None:
        stream = piece.facts.stream
        if piece.head is not None or not piece.indented:
            head = piece.head or Head(format="text", message=piece.text)
            self._flush()
            record = self._record(offset, piece.facts, head)
            self._remember(stream, record)
            self._run = _Run(record, self._line, self._line, offset, 0, [])
            self._cover(length, head.message)
            return
        if self._plain is not None:
            self._wake(self._plain)
        known = self._records.get(stream)
        if known is None:
            known = self._record(offset, piece.facts, Head(format="text", message=""))
            self._remember(stream, known)
        if self._run is None or self._run.record is not known:
            self._flush()
            self._run = _Run(known, self._line, self._line, offset, 0, [])
        self._cover(length, piece.text)

    def _remember(self, stream: str, record: _Record) -> None:
        records = self._records
        if stream not in records and len(records) >= MAX_STREAMS:
            del records[next(iter(records))]
        records[stream] = record

    def _record(self, offset: int, facts: Facts, head: Head) -> _Record:
        time_ns, quality = self._time(head)
        kind = Kind(head.format, head.level, quality, head.module, writer_of(self._source, facts, head))
        return _Record(offset, time_ns, kind, Place(head.src_file, head.src_line), head.func, head.tid)

    def _time(self, head: Head) -> tuple[int, str]:
        """A stamp with its year and its day; a record without one inherits the last before it."""
        time_ns = None if head.time_ns is None else self._dated(head.time_ns)
        if head.clock_ns is not None and time_ns is None:
            if self._last_ns == NULL:
                return NULL, head.time_quality
            time_ns = with_date(head.clock_ns, self._last_ns)
        if time_ns is None:
            return self._last_ns, "none" if self._last_ns == NULL else "inherited"
        self._last_ns = self._reference_ns = time_ns
        return time_ns, head.time_quality

    def _dated(self, time_ns: int) -> int:
        """The stamp in the year that brings it nearest to the last one."""
        return with_year(time_ns, self._reference_ns) if time_ns < FIRST_DATED_NS else time_ns

    def _cover(self, length: int, text: str) -> None:
        """Adds a line to the open run."""
        run = self._run
        if run is None:
            return
        while run.length + length > MAX_RUN_BYTES:
            part = MAX_RUN_BYTES - run.length
            run.length, length = MAX_RUN_BYTES, length - part
            run.end_line = self._line
            self._flush()
            run = self._run = _Run(run.record, self._line, self._line, run.offset + MAX_RUN_BYTES, 0, [], run.room)
        run.length += length
        run.end_line = self._line
        if run.room > 0:
            run.text.append(text[: run.room])
            run.room -= len(text) + 1

    def _flush(self) -> None:
        """The open run is complete."""
        if self._plain is not None:
            self._pass(*self._plain)
            self._plain_record(self._plain)
        run, self._run = self._run, None
        if run is None:
            return
        record, columns = run.record, self._columns
        columns.add(
            (
                run.line, run.end_line, run.offset, run.length, record.offset, record.time_ns,
                columns.kinds.code(record.kind), columns.places.code(record.place), columns.funcs.code(record.func),
                NULL if record.tid is None else record.tid, utf8("\n".join(run.text)),
            )
        )  # fmt: skip


def piece_offsets(raw: bytes) -> list[int]:
    """Where the pieces of a line start, in bytes of the line as it stands in the file.

    A piece begins with text that is sought from the place where it can stand at the earliest; colours inside that text
    leave the estimate, which is still between the pieces before and behind it: no byte is counted twice.
    """
    text = clean(raw)[:MAX_PEELED_CHARS]
    starts: list[int] = []
    earliest, plain = 0, raw.isascii() and len(text) == len(raw.rstrip(b"\r"))
    for start, piece in split_glued(text):
        at = max(start, earliest)
        if start and not plain:
            found = raw.find(utf8(piece[:MAX_NEEDLE_CHARS].rstrip("\r")), at)
            at = found if found >= 0 else at
        starts.append(min(at, len(raw)))
        earliest = at + 1
    return starts


def writer_of(source: Source, facts: Facts, head: Head) -> Writer:
    """Who wrote the line, as far as it and the path of its file tell.

    Lines of a device log carry the pid on the device, the file name that of the host process.
    """
    own = source.pid if source.kind in ("plog", "device-log") else None
    pid = head.pid if head.pid is not None else facts.pid
    if source.kind == "device-log" and own is not None:
        pid = own
    return Writer(
        node=source.node or facts.host,
        pid=pid if pid is not None else own,
        device=head.device if head.device is not None else source.device,
        rank=_first(facts.rank, head.rank, source.rank),
        local_rank=_first(facts.local_rank, head.local_rank, source.local_rank),
        proc=facts.proc or head.proc,
    )


def _first(*values: int | None) -> int | None:
    for value in values:
        if value is not None:
            return value
    return None
