"""The fast path: which lines of a block are plain, found by columns.

A line is *plain* when it is one record below ERROR as it stands, or a continuation that says nothing. Precondition of
the trick (tested against the exact path): what is accepted here, the exact path reads with the same writer, level and
time. Everything else is left to that path, so this may refuse freely.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from plogscope.formats.breakers import BREAKERS
from plogscope.formats.encoding import decode_line
from plogscope.grammar.automaton import Automaton, literal
from plogscope.grammar.gate import Gate
from plogscope.scan.interned import WIDTH, Bytes, Ints, rows_at
from plogscope.scan.plain import PlainHead
from plogscope.scan.plog_heads import PlogHeads
from plogscope.scan.torch_heads import TorchHeads

Mask = NDArray[np.bool_]

_PADDING = 2 * WIDTH
_MIXED_FROM = 64
"""One line in so many that is no plog record makes it worth to search a block for all literals."""

_BLANKS = list(b" \t")
_TAB_WITHIN = 20
"""Where the tab behind a line number of a viewer stands."""


class Lines(msgspec.Struct, frozen=True):
    """The lines of a block, by position in it.

    Attributes:
        starts, ends: First byte and end (without newline), int64, one for each line.
        plain: True for lines that need no more than to be counted.
        opens: True for the plain ones that are a record; the others continue what was before them.
        heads: Of those the head, an index for `Columns.head`.
        seconds: Of those the time, since 1970-01-01 read as if UTC.
        times: The same in ns, with the fraction.
        heard: By line, the signatures that can match it; of plain records only.
        wanted: Lines that a signature can match, as far as their literals say; None when that was not sought.
        literals: By line, of what is no plain record, the literals that stand in it.
    """

    starts: Any
    ends: Any
    plain: Any
    opens: Any
    heads: Any
    seconds: Any
    times: Any
    heard: dict[int, frozenset[int]]
    wanted: Any
    literals: dict[int, frozenset[int]]


class Columns:
    """Finds plain lines. Knows the heads that it has met, of any source, until there are too many."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._automaton = Automaton([*BREAKERS, *(literal(gate.literals[index]) for index in gate.quiet_literals)])
        self._meant = np.array([-1] * len(BREAKERS) + gate.quiet_literals, np.int64)
        self._usable = not gate.always
        self._plog, self._torch = PlogHeads(), TorchHeads()

    def head(self, index: int) -> PlainHead:
        """The head of an entry of `Lines.heads`."""
        return self._plog.head(index) if index >= 0 else self._torch.head(~index)

    def writers(self, heads: Ints) -> tuple[Ints, Ints]:
        """Level classes and pids of heads, by their indices."""
        plog, torch = self._plog.table, self._torch.table
        if not len(heads) or heads.min() >= 0:
            return plog.classes[heads], plog.pids[heads]
        own, others = np.maximum(heads, 0), np.maximum(~heads, 0)
        classes: Ints = np.where(heads >= 0, plog.classes[own], torch.classes[others])
        pids: Ints = np.where(heads >= 0, plog.pids[own], torch.pids[others])
        return classes, pids

    def lines(self, data: bytes, *, columns: bool = True) -> Lines:
        """Splits a block of whole lines. Without `columns`, or if a signature may match anything, no line is plain.

        What earlier blocks gave as `Lines.heads` means nothing any more.
        """
        if self._plog.full:
            self._plog = PlogHeads()
        if self._torch.full:
            self._torch = TorchHeads()
        padded = np.frombuffer(data + bytes(_PADDING), np.uint8)
        ends = np.flatnonzero(padded[: len(data)] == ord("\n"))
        if not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        starts = np.zeros_like(ends)
        starts[1:] = ends[:-1] + 1
        blank = np.zeros(len(ends), np.bool_)
        heads, seconds, times = (np.zeros(len(ends), np.int64) for _ in range(3))
        found = Lines(starts, ends, blank, blank.copy(), heads, seconds, times, {}, None, {})
        return self._fill(found, data, padded) if columns and self._usable and data else found

    def _fill(self, found: Lines, data: bytes, body: Bytes) -> Lines:
        starts, ends = found.starts, found.ends
        positions, patterns = (np.asarray(hits, np.int64) for hits in self._automaton.hits(data))
        owners = np.searchsorted(starts, positions, side="right") - 1
        literals = self._meant[patterns]
        breaks = literals < 0
        whole = np.ones(len(starts), np.bool_)
        whole[owners[breaks]] = False
        narrow = whole & ~_wide(body, starts, data)
        first = body[starts]
        lines, heads, seconds, times = self._plog.accept(
            body, starts, ends, np.flatnonzero(whole & (first == ord("[")))
        )
        found.opens[lines], found.heads[lines] = True, heads
        found.seconds[lines], found.times[lines] = seconds, times
        strange = self._strange(found)
        found.opens[strange & ~narrow] = False
        lines, heads, seconds, times = self._torch.accept(
            body, starts, ends, np.flatnonzero(narrow & (first != ord("[")))
        )
        found.opens[lines], found.heads[lines] = True, ~heads
        found.seconds[lines], found.times[lines] = seconds, times
        strange[lines] = True
        silent = _silent(
            body, starts, np.flatnonzero(narrow & ((first == ord(" ")) | (first == ord("\t")) | (starts == ends)))
        )
        if _MIXED_FROM * (np.count_nonzero(strange) + len(silent)) > len(starts):
            return self._search_all(found, data, strange, silent)
        found.opens[strange] = False
        found.plain[:] = found.opens
        spoken = ~breaks & found.opens[owners]
        for line, meant in _by_line(owners[spoken], literals[spoken]).items():
            self._hear(found, data, line, meant)
        return found

    def _hear(self, found: Lines, data: bytes, line: int, literals: frozenset[int], *, strange: bool = False) -> None:
        """Notes which signatures can match a plain record in which these literals stand."""
        text = data[found.starts[line] : found.ends[line]]
        if not text.isascii():
            text = decode_line(text).encode("utf-8", "surrogatepass")
        candidates = self._gate.among(literals, text, whole=True, quiet=not strange)
        if candidates:
            found.heard[line] = candidates

    def _strange(self, found: Lines) -> Mask:
        """Records in the head of plog of other formats: all signatures may speak of them."""
        strange: Mask = found.opens & self._plog.table.strange[found.heads]
        return strange

    def _search_all(self, found: Lines, data: bytes, strange: Mask, silent: Ints) -> Lines:
        """For a block that is no plog: literals of all signatures count."""
        positions, literals = (np.asarray(hits, np.int64) for hits in self._gate.hits(data))
        owners = np.searchsorted(found.starts, positions, side="right") - 1
        wanted, still = (np.zeros(len(found.starts), np.bool_) for _ in range(2))
        still[silent] = True
        for line, meant in _by_line(owners, literals).items():
            if found.opens[line]:
                self._hear(found, data, line, meant, strange=bool(strange[line]))
                wanted[line] = line in found.heard
                continue
            raw = data[found.starts[line] : found.ends[line]]
            wanted[line] = not still[line] or bool(self._gate.among(meant, raw, whole=False))
            found.literals[line] = meant
        found.plain[:] = found.opens
        found.plain[silent[~wanted[silent]]] = True
        return msgspec.structs.replace(found, wanted=wanted)


def _wide(body: Bytes, starts: Ints, data: bytes) -> Mask:
    """Lines with other than ASCII: they may be in an encoding in which no literal is found."""
    wide = np.zeros(len(starts), np.bool_)
    if not data.isascii():
        at = np.flatnonzero(body[: len(data)] > _DELETE)
        wide[np.searchsorted(starts, at, side="right") - 1] = True
    return wide


def _by_line(lines: Ints, literals: Ints) -> dict[int, frozenset[int]]:
    """The literals of each line, from the line of each hit, ascending."""
    borders = np.flatnonzero(np.diff(lines, prepend=-1)).tolist()
    of_lines, each = lines[borders].tolist(), literals.tolist()
    ends = [*borders[1:], len(each)]
    return {line: frozenset(each[start:end]) for line, start, end in zip(of_lines, borders, ends, strict=False)}


def _silent(body: Bytes, starts: Ints, lines: Ints) -> Ints:
    """Of lines that are empty or begin with a blank those that no head or prefix can begin behind the blanks."""
    rows = rows_at(body, starts[lines])
    places = np.argmax((rows != ord(" ")) & (rows != ord("\t")), axis=1)
    text = rows[np.arange(len(lines)), places]
    plain = (text > ord(" ")) & (text < _DELETE) & (text != ord("[")) & (text != ord("+"))
    digit = (text >= ord("0")) & (text <= ord("9"))
    numbered = digit & (rows[:, :_TAB_WITHIN] == ord("\t")).any(axis=1)
    silent: Ints = lines[(plain & ~numbered) | (text == ord("\n")) | (text == ord("\r"))]
    return silent


_DELETE = 127
