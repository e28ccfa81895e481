"""What many records of a source share, as columns: looked up once for each kind and place, not once for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from plogscope.model.rows import ROWS
from plogscope.table.arrays import NULL, Ints, Words, numbers
from plogscope.table.place import Placement

MAX_PROCESSES = 1 << 16
_UNSEEN = -1


class Writer(NamedTuple):
    """Who wrote a record, as its lines and its file say."""

    node: str | None
    pid: int | None
    device: int | None
    rank: int | None
    local_rank: int | None
    proc: str | None


class Kind(NamedTuple):
    """What many records share: format, level, quality of the time, module and writer."""

    format: str
    level: str | None
    time_quality: str
    module: str | None
    writer: Writer


class Place(NamedTuple):
    """A position in the source code."""

    src_file: str | None
    src_line: int | None


_OF_KIND = ("format", "level", "time_quality", "module")
_OF_WRITER = ("pid", "rank", "device")


class Kinds:
    """The kinds of one source after the other, each with a code."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._words = {name: Words() for name in (*_OF_KIND, "node")}
        self._processes: dict[Writer, int] = {}
        self.begin(0)

    def begin(self, source: int) -> None:
        """The next kinds are of this source; codes that were given before are void."""
        self._source = source
        self._codes: dict[Kind, int] = {}
        self._kinds: list[Kind] = []
        self._writers: list[Writer] = []
        self._columns: dict[str, list[int]] = {name: [] for name in (*_OF_KIND, "node", "process", *_OF_WRITER)}

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, code: int) -> Kind:
        return self._kinds[code]

    def code(self, kind: Kind) -> int:
        """The code of the kind."""
        code = self._codes.get(kind)
        if code is None:
            code = self._codes[kind] = len(self._kinds)
            self._add(kind)
        return code

    def _add(self, kind: Kind) -> None:
        writer = self._completed(kind.writer)
        self._kinds.append(kind)
        self._writers.append(writer)
        columns = self._columns
        for name in _OF_KIND:
            columns[name].append(self._words[name].code(getattr(kind, name)))
        columns["node"].append(self._words["node"].code(writer.node))
        columns["process"].append(_UNSEEN)
        for name in _OF_WRITER:
            columns[name].append(_or_null(getattr(writer, name)))

    def columns(self, codes: Ints) -> dict[str, pa.Array]:
        """The columns of rows of these kinds, in the order of the rows."""
        self._number_processes(codes)
        found = {name: np.array(values, np.int64)[codes] for name, values in self._columns.items()}
        arrays = {name: words.column(found[name]) for name, words in self._words.items()}
        for name in ("process", *_OF_WRITER):
            arrays[name] = numbers(found[name], ROWS.field(name).type)
        return arrays

    def _number_processes(self, codes: Ints) -> None:
        """Processes are numbered in the order of the rows, however these were read."""
        processes = self._columns["process"]
        unseen = codes[np.array(processes, np.int64)[codes] == _UNSEEN]
        kinds, first = np.unique(unseen, return_index=True)
        for code in kinds[np.argsort(first)].tolist():
            processes[code] = self._process(self._writers[code])

    def _process(self, writer: Writer) -> int:
        found = self._processes.get(writer)
        if found is None:
            if len(self._processes) >= MAX_PROCESSES or all(value is None for value in writer[1:]):
                return NULL
            found = self._processes[writer] = len(self._processes)
        return found

    def _completed(self, writer: Writer) -> Writer:
        """The writer with what other lines of the bundle say about the same process."""
        pid = writer.pid if writer.pid is not None else self._placement.sole.get(self._source)
        node = self._placement.homes.node(writer.node, pid)
        known = self._placement.processes.get((node, pid)) if pid is not None else None
        if known is None:
            return writer._replace(pid=pid, node=node)
        return writer._replace(
            node=node,
            pid=pid,
            device=writer.device if writer.device is not None else known.device,
            rank=writer.rank if writer.rank is not None else known.rank,
        )

    @property
    def processes(self) -> Sequence[Writer]:
        """The writers of all sources by the number of the process."""
        return list(self._processes)


class Places:
    """Positions in the source code, each with a code."""

    def __init__(self) -> None:
        self._words = Words()
        self.begin()

    def begin(self) -> None:
        """Codes that were given before are void."""
        self._codes: dict[Place, int] = {}
        self._places: list[Place] = []
        self._files: list[int] = []
        self._lines: list[int] = []

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, code: int) -> Place:
        return self._places[code]

    def code(self, place: Place) -> int:
        """The code of the place."""
        code = self._codes.get(place)
        if code is None:
            code = self._codes[place] = len(self._places)
            self._places.append(place)
            self._files.append(self._words.code(place.src_file))
            self._lines.append(_or_null(place.src_line))
        return code

    def columns(self, codes: Ints) -> dict[str, pa.Array]:
        """The columns of rows at these places."""
        files, lines = np.array(self._files, np.int64), np.array(self._lines, np.int64)
        return {
            "src_file": self._words.column(files[codes]),
            "src_line": numbers(lines[codes], ROWS.field("src_line").type),
        }


def _or_null(value: int | None) -> int:
    return NULL if value is None else value
