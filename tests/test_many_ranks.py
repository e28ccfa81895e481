"""Hundreds of ranks that print into one file: the one that failed is found, and all others follow from it."""

from __future__ import annotations

from pathlib import Path

from plogscope.pipeline import Options, analyze

RANKS, CULPRIT = 500, 311

FAILS = (
    "Traceback (most recent call last):",
    '  File "/job/feed.py", line 41, in batch',
    "    return self.index[name]",
    "KeyError: 'mask'",
)


WARNING = "[W 0304 10:31:{at}.145026 compiler_depend.ts:557] Warning: NPU warning, error code is 507048[Error]: "
REASON = "The Notify register has not received the Notify record from remote rank [{peer}]."
TIMES_OUT = (
    "EI0002: 2026-03-04-10:31:{at}.100.200 The wait execution of the Notify register times out. Reason: " + REASON
)
TAG = " base information: [streamID:[{rank}], taskID[4], tag[AllReduce_10.0.{net}.{rank}]]."
CALL = "[ERROR] 2026-03-04-10:31:{at} (PID:{pid}, Device:{device}, RankID:{rank}) ERR02200 DIST call hccl api failed."
WAITS = (
    WARNING,
    TIMES_OUT + TAG,
    CALL,
    "Traceback (most recent call last):",
    '  File "/job/train.py", line 99, in <module>',
    "    loss.item()",
    "RuntimeError: ACL stream synchronize failed, error code:507048",
)


def waits(rank: int) -> list[str]:
    """What a rank says of a peer that did not come; no two ranks print the same line."""
    peer, at = (rank + 1) % RANKS, f"{rank % 60:02d}"
    return [line.format(at=at, peer=peer, rank=rank, net=rank % 7, pid=9000 + rank, device=rank % 8) for line in WAITS]


def test_the_rank_that_failed_first_is_found_among_hundreds_in_one_file(tmp_path: Path) -> None:
    start = [f"[rank{rank}]: 2026-03-04 10:00:00,{rank:03d} INFO trainer.py:33 group is up" for rank in range(RANKS)]
    steps = [
        f"[rank0]: 2026-03-04 10:00:{step:02d},000 INFO trainer.py:90 step {step} loss 2.1" for step in range(9, 30)
    ]
    failed = [f"[rank{CULPRIT}]: {line}" for line in FAILS]
    others = sorted((rank for rank in range(RANKS) if rank != CULPRIT), key=lambda rank: rank % 60)
    waiting = [f"[rank{rank}]: {line}" for rank in others for line in waits(rank)]
    lines = [*start, *steps, *failed, *waiting]
    (tmp_path / "train.log").write_text("\n".join([*lines, ""]), "utf-8")

    report = analyze([tmp_path], Options(jobs=1))

    root = report.verdict.root_cause
    assert root is not None
    assert lines[root.line - 1] == f"[rank{CULPRIT}]: {FAILS[-1]}"
    assert report.verdict.alternatives == []
    assert f"0-{CULPRIT - 1}, {CULPRIT + 1}-{RANKS - 1}" in report.verdict.statement.en
