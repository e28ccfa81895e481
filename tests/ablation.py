"""What each part of the search for the first cause is worth: it is switched off, and labelled cases are judged again.

`python tests/ablation.py FOLDER… [--only TEXT] [--part NAME]` reads `<id>/bundle` and `<id>/truth.json` below each
folder and prints, for every part that is switched off, how many roots and categories are right and how often a
consequence, or anything at all where nothing can be known, is named as the root (victim). Each bundle is scanned once:
the parts are those that stand behind the scan.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from plogscope import pipeline  # noqa: E402 - after the path is set
from plogscope.correlate import incidents  # noqa: E402
from plogscope.correlate.incidents import Judged, judge  # noqa: E402
from plogscope.model.record import Finding  # noqa: E402
from plogscope.model.report import Report  # noqa: E402
from plogscope.scan.engine import scan_bundle  # noqa: E402
from plogscope.scan.merge import Observations, merge  # noqa: E402

Off = Callable[[], "contextlib.AbstractContextManager[Any]"]
"""Switches one part off while the context is open."""


def _replaced(where: str, by: object) -> Off:
    return lambda: patch(where, by)


def _as_it_is(findings: Any, *_: object) -> list[Any]:
    return list(findings)


def _judged_otherwise(change: Callable[[Judged], Judged]) -> Off:
    return _replaced("plogscope.pipeline.judge", lambda *given: change(judge(*given)))


def _equal_roles(one: Judged) -> Judged:
    return msgspec.structs.replace(one, role="either") if one.role in ("cause", "symptom") else one


def _without_noise(one: Judged) -> Judged:
    if one.role != "noise" or one.finding.level not in ("ERROR", "CRITICAL"):
        return one
    return Judged(one.finding, None, "either", "unknown", incidents.UNKNOWN_TITLE, -100)


def _merge_undated(*given: Any) -> Observations:
    """Records without a stamp get none from their neighbours."""
    seen = merge(*given)
    rows = [
        msgspec.structs.replace(one, time_ns=None, time_quality="none") if one.time_quality == "inherited" else one
        for one in seen.findings
    ]
    return msgspec.structs.replace(seen, findings=tuple(rows))


@contextlib.contextmanager
def _no_baseline() -> Iterator[None]:
    with (
        patch("plogscope.pipeline.without_baseline", _as_it_is),
        patch("plogscope.pipeline.without_echoes", _as_it_is),
        patch("plogscope.pipeline.without_ignored", _as_it_is),
    ):
        yield


def _same_nearness(_: Finding) -> int:
    return 0


PARTS: dict[str, Off] = {
    "nothing": contextlib.nullcontext,
    "folding": _replaced("plogscope.correlate.incidents._Group.takes", lambda *_: False),
    "clearing": _replaced("plogscope.pipeline.recovered", lambda *_: frozenset()),
    "edges": _replaced("plogscope.chain.cause.connect", lambda *_: ()),
    "undated": _replaced("plogscope.pipeline.merge", _merge_undated),
    "roles": _judged_otherwise(_equal_roles),
    "baseline": _no_baseline,
    "noise": _judged_otherwise(_without_noise),
    "nearness": _replaced("plogscope.model.record.Finding.nearness", property(_same_nearness)),
    "checkers": _replaced("plogscope.pipeline.run_checkers", lambda *_: ()),
    "signature edges": _replaced("plogscope.chain.edges._says_so", lambda *_: False),
    "aftermath": _replaced("plogscope.chain.cause.aftermath", lambda *_: frozenset()),
    "hushed": _judged_otherwise(lambda one: msgspec.structs.replace(one, hushed=False)),
}


@dataclass
class Score:
    """Counts over the cases, and the names of those that a part decides."""

    cases: int = 0
    root: int = 0
    category: int = 0
    victim: int = 0
    missed: list[str] = field(default_factory=list)


def right_root(truth: dict[str, Any], report: Report, folder: Path) -> bool:
    """True when the verdict names a line that the truth accepts, or has the right status where there is no cause."""
    if truth["status"] != "explained":
        return bool(report.verdict.status == truth["status"])
    return any(_names(report, place, folder) for place in [truth["root"], *truth.get("accept", [])])


def _names(report: Report, place: dict[str, Any], folder: Path) -> bool:
    root = report.verdict.root_cause
    if root is None or root.file != place["file"]:
        return False
    lines = (folder / place["file"]).read_bytes().decode("utf-8", "replace").split("\n")
    wanted = " ".join(lines[place["line"] - 1].split()) if place["line"] <= len(lines) else ""
    return root.line == place["line"] or bool(wanted and wanted == " ".join(root.quote.split()))


def judge_case(case: Path, parts: list[str], scores: dict[str, Score]) -> None:
    """Analyses one case with each part switched off in turn."""
    truth = json.loads((case / "truth.json").read_text("utf-8"))
    folder = case / "bundle"
    scanned: list[Any] = []

    def once(*given: Any, **named: Any) -> Any:
        if not scanned:
            scanned.append(scan_bundle(*given, **named))
        return scanned[0]

    for name in parts:
        with patch("plogscope.pipeline.scan_bundle", once), PARTS[name]():
            report = pipeline.analyze([folder], pipeline.Options(jobs=1))
        score = scores[name]
        good = right_root(truth, report, folder)
        score.cases += 1
        score.root += good
        score.category += report.verdict.category in [truth["category"], *truth.get("accept_category", [])]
        consequence = any(_names(report, place, folder) for place in truth.get("cascade", []))
        unknowable = truth["status"] != "explained" and report.verdict.status == "explained"
        score.victim += not good and (consequence or unknowable)
        if not good:
            score.missed.append(case.name)


def main() -> int:
    """Prints the table, then which roots each part decides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; default: all")
    chosen = parser.parse_args()
    parts = ["nothing", *(name for name in chosen.part or PARTS if name != "nothing")]
    scores: dict[str, Score] = defaultdict(Score)
    for folder in chosen.folder:
        for truth in sorted(folder.glob("*/truth.json")):
            if chosen.only in truth.parent.name:
                judge_case(truth.parent, parts, scores)
    whole = scores["nothing"]
    sys.stdout.write(f"{'switched off':<16} {'root':>9} {'category':>9} {'victim':>7}\n")
    for name in parts:
        score = scores[name]
        sys.stdout.write(f"{name:<16} {score.root:5}/{score.cases} {score.category:9} {score.victim:7}\n")
    for name in parts[1:]:
        lost = sorted(set(scores[name].missed) - set(whole.missed))
        won = sorted(set(whole.missed) - set(scores[name].missed))
        sys.stdout.write(f"{name}: loses {', '.join(lost) or 'none'}{'; wins ' + ', '.join(won) if won else ''}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
