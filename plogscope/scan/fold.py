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

MAX_FOLDS = 400
"""Keys per source. Each keeps at most `KEPT_FIRST` + `KEPT_LAST` rows, so a source yields at most 2,000 rows."""

MAX_QUOTE_CHARS = 500


def cut_quote(text: str) -> str:
    """`text` with at most `MAX_QUOTE_CHARS` characters, ended by `…` if something was cut."""
    return text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1] + "…"


"""A kept line is cut here, so that the rows of a source stay below about 1 MB."""


class Fold(msgspec.Struct):
    """The first three findings of one key, the last two, and how many there were."""

    first: list[Finding]
    last: list[Finding]
    count: int

    def add(self, finding: Finding) -> None:
        """Takes in one later finding."""
        self.count += 1
        if len(self.first) < KEPT_FIRST:
            self.first.append(finding)
        else:
            self.last = [*self.last, finding][-KEPT_LAST:]

    def extend(self, later: Fold) -> None:
        """Takes in the fold of a later range."""
        self.count += later.count
        rows = [*later.first, *later.last]
        room = KEPT_FIRST - len(self.first)
        self.first.extend(rows[:room])
        self.last = [*self.last, *rows[room:]][-KEPT_LAST:]

    def rows(self) -> list[Finding]:
        """The kept findings in order; the first carries the count of those that were folded into it."""
        kept = [*self.first, *self.last]
        folded = self.count - len(kept)
        newest = kept[-1]
        kept[0] = msgspec.structs.replace(kept[0], count=1 + folded, last_line=newest.line, last_time_ns=newest.time_ns)
        return kept


FoldKey = tuple[int, str]
"""(class, identity): class 0 = known cause or context, 1 = unknown error, 2 = noise; lower classes survive first."""


def fold_key(signature: Signature, match: Match, pid: int | None, stream: str) -> FoldKey:
    """Matches with the same key repeat each other."""
    identity = "|".join(match.fields.get(name, "") for name in signature.chain.identity)
    return (2 if signature.role == "noise" else 0, f"{signature.id}|{identity}|{pid}|{stream}")


class FoldTable(msgspec.Struct):
    """All folds of a range of one source, at most `MAX_FOLDS` of them."""

    folds: dict[FoldKey, Fold]
    findings: int = 0
    """How many findings went in, those of dropped keys included."""

    def add(self, key: FoldKey, finding: Finding) -> None:
        """Takes in one later finding."""
        self.findings += 1
        fold = self.folds.get(key)
        if fold is not None:
            fold.add(finding)
            return
        self.folds[key] = Fold([finding], [], 1)
        if len(self.folds) > 2 * MAX_FOLDS:
            self.trim()

    def repeat(self, key: FoldKey, count: int) -> None:
        """Counts findings of which neither is among the first or the last of their key."""
        self.findings += count
        fold = self.folds.get(key)
        if fold is not None:  # a key that was dropped does not survive in the end either
            fold.count += count

    def extend(self, later: FoldTable) -> None:
        """Takes in the table of a later range."""
        self.findings += later.findings
        for key, fold in later.folds.items():
            mine = self.folds.get(key)
            if mine is None:
                self.folds[key] = Fold(list(fold.first), list(fold.last), fold.count)
            else:
                mine.extend(fold)
        self.trim()

    def trim(self) -> None:
        """Drops the keys that do not survive: the highest class first, inside a class the highest hash."""
        if len(self.folds) > MAX_FOLDS:
            kept = sorted(self.folds, key=_survival)[:MAX_FOLDS]
            self.folds = {key: self.folds[key] for key in kept}

    @property
    def dropped(self) -> int:
        """Findings whose key did not survive."""
        return self.findings - sum(fold.count for fold in self.folds.values())


def _survival(key: FoldKey) -> tuple[int, bytes]:
    return key[0], blake2b(key[1].encode("utf-8", "surrogatepass"), digest_size=8).digest()
