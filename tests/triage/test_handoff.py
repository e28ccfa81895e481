"""R4 and R60–R65: what the handoff of a five-step run carries, and that it carries no root cause."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from plogscope.discover import discover
from plogscope.model.chain import Chain
from plogscope.model.report import Triage
from plogscope.model.source import Bundle
from plogscope.model.vocabulary import STEP_NAMES, Status, Symptom, Text
from plogscope.triage import read_steps, route

Build = Callable[..., Path]
ChainAt = Callable[..., Chain]
En = Callable[[Sequence[Text]], str]

LOG5 = "step5-npugraph_ex/stdout_stderr.log"
PLOG5 = "step5-npugraph_ex/ascend_plog/debug/plog/plog-5150_20250203040506007.log"


def routed(
    bundle: Bundle, chain: Chain | None = None, *, symptom: Symptom | None = None, status: Status = "explained"
) -> Triage:
    return route(read_steps(bundle), chain or Chain(), symptom=symptom, bundle=bundle, verdict_status=status)


def test_r60_logs_are_listed_with_their_key_lines(build_run: Build, chain_at: ChainAt) -> None:
    bundle = discover([build_run(failed=5)])
    got = routed(bundle, chain_at(bundle, LOG5, "RuntimeError: aclrtMalloc", line=7))
    assert got.handoff is not None
    logs = {entry.file: entry.lines for entry in got.handoff.logs}
    assert logs[LOG5] == [7]
    assert logs["first_failure.txt"] == [1]
    assert logs[PLOG5] == []
    assert not any(name.endswith(".py") for name in logs)


@pytest.mark.parametrize(
    ("failed", "quote", "skill"),
    [
        (3, "ValueError: x", "torch-npugraph-ex-compile-error-diagnosis"),
        (5, "RuntimeError: call aclnnAdd failed", "torch-npugraph-ex-runtime-error-diagnosis"),
    ],
)
def test_r61_r63_one_skill_with_the_rule_and_the_line(
    build_run: Build, chain_at: ChainAt, failed: int, quote: str, skill: str
) -> None:
    bundle = discover([build_run(failed=failed)])
    got = routed(bundle, chain_at(bundle, f"{STEP_NAMES[failed - 1]}/stdout_stderr.log", quote))
    assert got.handoff is not None
    assert (got.handoff.skill, got.handoff.rule, got.handoff.rests_on) == (skill, got.rule, got.rests_on)


def test_r62_all_passed_is_said(build_run: Build, en: En) -> None:
    got = routed(discover([build_run()]), status="no-failure", symptom="slow")
    assert got.handoff is not None
    assert got.handoff.first_failed_step is None
    assert "R62: all five steps passed." in en(got.handoff.notes)


@pytest.mark.parametrize(
    ("script", "keys"),
    [
        ('torch.compile(m, backend="eager", options={"trace": 1, **common, key: 2})', ["**common", "key", "trace"]),
        ("torch.compile(m, options=cfg)", ["cfg"]),
        ("torch.compile(m, options=None)\nrun(options={'a': 1})", []),
        ("torch.compile(m, options={'a': ", []),
        ("x = '\\d'\0", []),
        ("(" * 5000, []),
    ],
)
def test_r64_kept_options_of_step2_and_3(build_run: Build, script: str, keys: list[str]) -> None:
    run = build_run(failed=4)
    (run / "scripts" / "step2-compile-eager.py").write_text(script)
    got = routed(discover([run]))
    assert got.handoff is not None
    assert got.handoff.kept_options == keys


def test_r65_performance_names_the_run_directory_of_step5(build_run: Build, en: En) -> None:
    got = routed(discover([build_run()]), status="no-failure", symptom="slow")
    assert got.handoff is not None
    notes = en(got.handoff.notes)
    assert "R65: step5-npugraph_ex wrote step5-npugraph_ex/torch_compile_debug/torch_compile_debug/run_2025" in notes
    assert "R65: step4" not in notes


def test_r65_accuracy_names_both_and_asks_for_what_is_missing(build_run: Build, en: En) -> None:
    run = build_run()
    shutil.rmtree(run / STEP_NAMES[4] / "torch_compile_debug")
    got = routed(discover([run]), status="no-failure", symptom="mismatch")
    assert got.handoff is not None
    assert "R65: step4-npugraph_ex-force_eager wrote" in en(got.handoff.notes)
    assert "the run_* directory of step5-npugraph_ex" in [entry.what.en for entry in got.handoff.missing]


def test_r63_handoff_names_neither_the_cause_nor_a_remedy(build_run: Build, chain_at: ChainAt) -> None:
    bundle = discover([build_run(failed=5)])
    got = routed(bundle, chain_at(bundle, LOG5, "RuntimeError: call aclnnAdd failed, detail:EZ1001"))
    assert got.handoff is not None
    text = msgspec.json.encode(got.handoff).decode()
    assert "aclnnAdd" not in text
    assert "EZ1001" not in text
