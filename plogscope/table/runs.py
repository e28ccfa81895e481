"""Lines of one source → rows. Any way to cut the source into blocks or ranges gives the same rows.

A row is a *run*: consecutive lines of one record, see `plogscope.model.rows`. What a record says about itself is kept
per stream, so that a later run of an interleaved record repeats it.
"""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np

from plogscope.formats.base import Facts, Head
from plogscope.formats.parse import MAX_PEELED_CHARS, Piece, parse_line
from plogscope.formats.prefixes import clean, split_glued
from plogscope.formats.stamps import FIRST_DATED_NS, with_year
from plogscope.model.rows import MAX_MESSAGE_CHARS
from plogscope.model.source import Source
from plogscope.scan.read import Block
from plogscope.table.arrays import NULL, utf8
from plogscope.table.columns import Columns, Kind, Writer
from plogscope.table.ordinary import Coder, Groups, Lines, Ordinary, message_of

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
    place: tuple[str | None, int | None]
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


class _Plain(msgspec.Struct):
    """The last of some ordinary records (see `Ordinary`): the next line may still continue it."""

    line: int
    offset: int
    length: int
    time_ns: int
    groups: Groups


class Runs:
    """Fills `columns` with the rows of one source, block by block, in the order of the file."""

    def __init__(self, source: Source, columns: Columns, *, first_ns: int | None, year_reference_ns: int) -> None:
        """`first_ns`: first stamp of the source, for the records before it."""
        self._source = source
        self._columns = columns
        self._ordinary = Ordinary(Coder(self._kind_code, self._place_code, self._func_code))
        self._codes_of = columns.batches
        self._exact: dict[bytes, Kind | None] = {}
        self._records: dict[str, _Record] = {}
        self._run: _Run | None = None
        self._plain: _Plain | None = None
        self._line = 0
        self._reference_ns = year_reference_ns
        self._last_ns = NULL if first_ns is None else self._dated(first_ns)

    def take(self, block: Block) -> None:
        """Takes in the lines of the next block. Rows may be taken out of `columns` before, not while it is read."""
        if self._codes_of != self._columns.batches:
            self._ordinary.forget()
            self._codes_of = self._columns.batches
        data = block.data
        lines = self._ordinary.lines(data)
        lines.numbers[:2] += self._line
        lines.numbers[2] += block.offset
        lines.numbers[4] += block.offset
        changes = np.flatnonzero(np.diff(lines.ordinary)) + 1
        for start, end in pairwise((0, *changes.tolist(), len(lines.ordinary))):
            if lines.ordinary[start]:
                self._take_ordinary(lines, start, end)
                continue
            first, last = int(lines.starts[start]), int(lines.starts[end])
            spare = block.length - len(data) if last == len(data) else 0
            self._take_lines(data[first:last], block.offset + first, spare)

    def done(self) -> None:
        """Closes the last run."""
        self._flush()

    def _take_ordinary(self, lines: Lines, start: int, end: int) -> None:
        """Takes in consecutive ordinary records; the last one stays open."""
        self._flush()
        last = end - 1
        if last > start:
            self._columns.extend(lines.numbers[:, start:last], lines.messages[start:last])
        line, _, offset, length, _, time_ns, *_ = lines.numbers[:, last].tolist()
        self._line += end - start
        self._last_ns = self._reference_ns = time_ns
        self._plain = _Plain(line, offset, length, time_ns, lines.groups[last])

    def _kind_code(self, groups: Groups) -> int:
        kind = self._exact_kind(groups)
        return NULL if kind is None else self._columns.kind(kind)

    def _place_code(self, bracket: bytes) -> int:
        return self._columns.place(*_place(bracket)) if bracket else 0

    def _func_code(self, func: bytes) -> int:
        return self._columns.func(func.decode())

    def _exact_kind(self, groups: Groups) -> Kind | None:
        """What all ordinary records with this head share, read the exact way from one of them."""
        head, second, milli, micro, place, bracketed, bare, _, _ = groups
        if head in self._exact:
            return self._exact[head]
        if len(self._exact) >= MAX_STREAMS:
            self._exact.clear()
        self._exact[head] = None
        tid = b"[%b]" % bracketed if bracketed else bare + b" "
        (piece, *_) = parse_line(b"%b%b.%b.%b %b%b" % (head, second, milli, micro, place, tid))
        found = piece.head
        if found is None or found.format != "plog" or found.time_ns is None or piece.facts.stream:
            return None
        writer = writer_of(self._source, piece.facts, found)
        kind = self._exact[head] = Kind(found.format, found.level, "exact", found.module, writer)
        return kind

    def _wake(self, plain: _Plain) -> None:
        """Turns an ordinary record into one that can be continued."""
        self._plain = None
        kind = self._exact_kind(plain.groups)
        if kind is None:
            return
        _, _, _, _, place, bracketed, bare, func, message = plain.groups
        record = _Record(
            plain.offset, plain.time_ns, kind, _place(place), func.decode() if func else None, int(bracketed or bare)
        )
        self._remember("", record)
        text = message_of(message).decode()
        self._run = _Run(record, plain.line, plain.line, plain.offset, plain.length, [text])
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
        starts = [*piece_offsets(raw), length]
        for piece, (start, end) in zip(pieces, pairwise(starts), strict=True):
            self._take_piece(piece, offset + start, end - start)

    def _take_piece(self, piece: Piece, offset: int, length: int) -> None:
        if self._plain is not None:
            self._wake(self._plain)
        stream = piece.facts.stream
        if piece.head is not None or not piece.indented:
            head = piece.head or Head(format="text", message=piece.text)
            record = self._record(offset, piece.facts, head)
            self._remember(stream, record)
            self._flush()
            self._run = _Run(record, self._line, self._line, offset, 0, [])
            self._cover(length, head.message)
            return
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
        time_ns, quality = self._time(head.time_ns, head.time_quality)
        kind = Kind(head.format, head.level, quality, head.module, writer_of(self._source, facts, head))
        return _Record(offset, time_ns, kind, (head.src_file, head.src_line), head.func, head.tid)

    def _time(self, time_ns: int | None, quality: str) -> tuple[int, str]:
        """A stamp with its year; a record without one inherits the last before it."""
        if time_ns is None:
            return self._last_ns, "none" if self._last_ns == NULL else "inherited"
        self._last_ns = self._reference_ns = self._dated(time_ns)
        return self._last_ns, quality

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
            self._wake(self._plain)
        run, self._run = self._run, None
        if run is None:
            return
        record, columns = run.record, self._columns
        columns.add(
            (
                run.line, run.end_line, run.offset, run.length, record.offset, record.time_ns,
                columns.kind(record.kind), columns.place(*record.place), columns.func(record.func),
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
    return next((value for value in values if value is not None), None)


def _place(bracket: bytes) -> tuple[str, int]:
    """`[file:line]`."""
    name, _, line = bracket[1:-1].rpartition(b":")
    return name.decode("utf-8", "replace"), int(line)
