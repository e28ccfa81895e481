"""Whatever lies in a run directory: there are facts and one route, and no exception."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from plogscope.discover import discover
from plogscope.model.chain import Chain
from plogscope.model.vocabulary import STEP_NAMES
from plogscope.triage import read_steps, route

FRAGMENTS = [
    "step1-eager exit_code=1",
    "step5-npugraph_ex exit_code=",
    "step4-npugraph_ex-force_eager ascend_plog missing or empty",
    "torch 2",
    "Version=8",
    "Traceback (most recent call last):",
    "[rank0]: x",
    "  rank      : 1 (local_rank: 1)",
    "\0\ufeff",
]
FILES = ("SUCCESS", "stdout_stderr.log", "ascend_plog/debug/plog/p.log")
PLACES = [
    *("first_failure.txt", "warnings.txt", "env.txt", "scripts/original.py", "scripts/step2-compile-eager.py"),
    *(f"{name}/{file}" for name in STEP_NAMES for file in FILES),
]


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.sampled_from(PLACES), st.lists(st.sampled_from(FRAGMENTS), max_size=3), max_size=12))
def test_any_run_directory_has_facts_and_a_route(content: dict[str, list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "20250203-040506-pid1"
        (run / "scripts").mkdir(parents=True)
        for path, lines in content.items():
            (run / path).parent.mkdir(parents=True, exist_ok=True)
            (run / path).write_text("\n".join(lines), encoding="utf-8")
        bundle = discover([run])
        found = read_steps(bundle)
        assert found is not None
        got = route(found, Chain(), symptom=None, bundle=bundle, verdict_status="no-failure")
        assert [step.name for step in found.steps] == list(STEP_NAMES)
        assert bool(found.blocked_by) <= (got.route == "insufficient")
        assert (got.handoff is None) == (got.route in ("insufficient", "none"))
        assert not (found.complete and found.blocked_by)
