from __future__ import annotations

import msgspec

from plogscope.model.report import ChainEntry
from plogscope.render.folding import fold_evidence, fold_findings, masked
from tests.render import reports


def _timeouts(ranks: int) -> list[ChainEntry]:
    quote = reports.PEER_QUOTE
    return [
        reports.entry(f"i{rank}", "cascade", quote.replace("51322", str(60_000 + rank)), rank=rank, pid=1_000 + rank)
        for rank in range(ranks)
    ]


def test_the_same_finding_of_512_ranks_stands_once_with_511_alike() -> None:
    (folded,) = fold_findings(_timeouts(512))
    assert folded.first.rank == 0
    assert [entry.rank for entry in folded.alike] == list(range(1, 512))


def test_two_of_one_process_stay_two() -> None:
    entries = [*_timeouts(2), msgspec.structs.replace(_timeouts(1)[0], id="again", line=9)]
    assert [[f.first.id, *(one.id for one in f.alike)] for f in fold_findings(entries)] == [["i0", "i1"], ["again"]]


def test_the_first_cause_is_never_folded_and_nothing_is_lost() -> None:
    report = reports.huge()
    folded = fold_findings(report.chain)
    assert sorted(one.id for f in folded for one in (f.first, *f.alike)) == sorted(one.id for one in report.chain)
    assert [f.alike for f in folded if f.first.role == "root"] == [[]]


def test_evidence_is_folded_as_its_findings() -> None:
    report = reports.explained()
    other = msgspec.structs.replace(report.chain[2], id="c-9", rank=3, pid=7, line=77)
    evidence = [*report.evidence, msgspec.structs.replace(report.evidence[1], id="e-9", line=77)]
    folded = fold_evidence(evidence, [*report.chain, other])
    assert [[f.first.id, *(one.id for one in f.alike)] for f in folded] == [["e-5fc01a77"], ["e-90b2d314", "e-9"]]


def test_numbers_and_addresses_do_not_tell_lines_apart() -> None:
    assert masked("task 12 at 0x7f00") == masked("task 913 at 0x12ab")
    assert masked("task 12 failed") != masked("task 12 passed")
