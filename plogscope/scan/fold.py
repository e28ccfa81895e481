"""Folding: repeats of one observation become a few rows and a count, in bounded memory.

Every operation is associative, so any tree of combines over any split of a source gives the same folds. To keep it
so, the keys that survive a full table are chosen by class and hash, never by position.
"""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from plogscope.grammar.match import Match
from plogscope.model.record import Finding
from plogscope.model.signature import Signature

KEPT_FIRST = 3
KEPT_LAST = 2
"""Two late records prove that something went on; a single one can be a delayed print."""

FULL_FOLDS = 400
"""Keys per source that keep `KEPT_FIRST` + `KEPT_LAST` rows. Of the others one row stays, and the time of the last."""

MAX_FOLDS = 16_000
"""Keys per source: a thousand ranks that print into one file with a dozen kinds of finding each."""

TRIMMED_EVERY = 4 * FULL_FOLDS
"""New keys between two cuts. A divisor of `MAX_FOLDS`, so that a full table is cut as seldom as one that grows."""

MOST_EARLIEST = 64
"""Failures that are kept because they are the first of their source, whatever else there is."""

MAX_QUOTE_CHARS = 500


def cut_quote(text: str) -> str:
    """`text` with at most `MAX_QUOTE_CHARS` characters, ended by `…` if something was cut."""
    return text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1] + "…"


"""A kept line is cut here, so that the rows of a source stay below about 1 MB."""


class Fold(msgspec.Struct):
    """The first three findings of one key, the last two, and their number; of a `slim` one the first and the last."""

    first: list[Finding]
    last: list[Finding]
    count: int
    slim: bool = False

    def add(self, finding: Finding) -> None:
        """Takes in one later finding."""
        self._take([finding], 1)

    def extend(self, later: Fold) -> None:
        """Takes in the fold of a later range."""
        if later.slim:
            self.reduce()
        self._take([*later.first, *later.last], later.count)

    def _take(self, rows: list[Finding], count: int) -> None:
        self.count += count
        most_first, most_last = (1, 1) if self.slim else (KEPT_FIRST, KEPT_LAST)
        room = most_first - len(self.first)
        self.first.extend(rows[:room])
        if len(rows) > room:
            self.last = [*self.last, *rows[room:]][-most_last:]

    def reduce(self) -> None:
        """Makes the fold slim."""
        if not self.slim:
            self.slim = True
            self.first, self.last = self.first[:1], [*self.first[1:], *self.last][-1:]

    def rows(self) -> list[Finding]:
        """The kept findings in order; the first carries the count of those that were folded into it."""
        newest = (self.last or self.first)[-1]
        kept = self.first[:1] if self.slim else [*self.first, *self.last]
        folded = self.count - len(kept)
        kept[0] = msgspec.structs.replace(kept[0], count=1 + folded, last_line=newest.line, last_time_ns=newest.time_ns)
        return kept


FoldKey = tuple[int, str]
"""(class, identity). Lower classes survive first."""

FAILURE, CONTEXT, UNKNOWN, NOISE = range(4)
"""Classes of keys: signatures of failures, those that tell of the run, errors that none knows, what means nothing."""

UNNAMED: FoldKey = (UNKNOWN, "")
"""Of a record that has no key yet."""

_CLASS_OF_ROLE = {"cause": FAILURE, "either": FAILURE, "symptom": FAILURE, "noise": NOISE}


def fold_key(signature: Signature, match: Match, pid: int | None, stream: str) -> FoldKey:
    """Matches with the same key repeat each other."""
    identity = "|".join(match.fields.get(name, "") for name in signature.chain.identity)
    return (_CLASS_OF_ROLE.get(signature.role, CONTEXT), f"{signature.id}|{identity}|{pid}|{stream}")


def unknown_key(finding: Finding, stream: str) -> FoldKey:
    """Unknown errors with the same key repeat each other."""
    actor = finding.actor
    identity = f"{finding.template}|{finding.module}|{actor.pid}|{actor.tid}|{stream}|{finding.level}"
    return (UNKNOWN, identity)


class FoldTable(msgspec.Struct):
    """All folds of a range of one source, at most `MAX_FOLDS` of them, and its earliest failures."""

    folds: dict[FoldKey, Fold]
    findings: int = 0
    """How many findings went in, those of dropped keys included."""
    earliest: dict[FoldKey, Finding] = {}
    """First finding of each of the first `MOST_EARLIEST` keys of failures and unknown errors (and, until `trim`, some
    more)."""

    def add(self, key: FoldKey, finding: Finding) -> None:
        """Takes in one later finding."""
        self.findings += 1
        fold = self.folds.get(key)
        if fold is not None:
            fold.add(finding)
            return
        self._note_early(key, finding)
        self.folds[key] = Fold([finding], [], 1)
        if len(self.folds) % TRIMMED_EVERY == 0:
            self.trim()

    def _note_early(self, key: FoldKey, finding: Finding) -> None:
        """Records close in another order than they stand in the file, so it is the place that counts."""
        if key[0] in (FAILURE, UNKNOWN):
            self.earliest.setdefault(key, finding)
            if len(self.earliest) >= 2 * MOST_EARLIEST:
                self._trim_earliest()

    def _trim_earliest(self) -> None:
        if len(self.earliest) > MOST_EARLIEST:
            order = sorted(self.earliest.items(), key=lambda item: (item[1].offset, item[0]))
            self.earliest = dict(order[:MOST_EARLIEST])

    def repeat(self, key: FoldKey, count: int) -> None:
        """Counts findings of which neither is among the first or the last of their key."""
        self.findings += count
        fold = self.folds.get(key)
        if fold is not None:  # a key that was dropped does not survive in the end either
            fold.count += count

    def extend(self, later: FoldTable) -> None:
        """Takes in the table of a later range."""
        self.findings += later.findings
        for key, finding in later.earliest.items():
            self._note_early(key, finding)
        for key, fold in later.folds.items():
            mine = self.folds.get(key)
            if mine is None:
                self.folds[key] = Fold(list(fold.first), list(fold.last), fold.count, fold.slim)
            else:
                mine.extend(fold)
        self.trim()

    def trim(self) -> None:
        """Drops the keys that do not survive: the highest class first, inside a class the highest hash."""
        self._trim_earliest()
        if len(self.folds) <= FULL_FOLDS:
            return
        order = sorted(self.folds, key=_survival)
        for key in order[FULL_FOLDS:MAX_FOLDS]:
            self.folds[key].reduce()
        for key in order[MAX_FOLDS:]:
            del self.folds[key]

    def kept(self) -> list[Fold]:
        """The folds, and of dropped keys those that were among the earliest failures."""
        saved = [Fold([finding], [], 1) for key, finding in self.earliest.items() if key not in self.folds]
        return [*self.folds.values(), *saved]

    @property
    def dropped(self) -> int:
        """Findings of which nothing was kept."""
        return self.findings - sum(fold.count for fold in self.kept())


def _survival(key: FoldKey) -> tuple[int, bytes]:
    return key[0], blake2b(key[1].encode("utf-8", "surrogatepass"), digest_size=8).digest()
