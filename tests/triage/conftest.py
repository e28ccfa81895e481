"""Five-step runs as the collector writes them, built in a temporary folder with values of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from plogscope.discover import discover
from plogscope.model.chain import Chain, Incident
from plogscope.model.record import Finding
from plogscope.model.source import Bundle
from plogscope.model.vocabulary import STEP_NAMES, Category, Text

FORCE_EAGER = (
    "[WARNING] NPUGRAPH_EX(5150,python3):2025-02-03 04:05:06.070.080 [npu_fx_compiler.py:301]5150 "
    "When force_eager=True is enabled, the graph FALLS BACK to EAGER execution.\n"
)
ENV = "torch 2.9.1+cpu\ntorch_npu 2.9.1\ntorchair 9.9\nVersion=8.5.0\n"
DEBUG_RUN = "torch_compile_debug/torch_compile_debug/run_2025_02_03_04_05_06_000001-pid_5150"


def _script(step: int) -> str:
    options = {4: ', options={"force_eager": True}'}.get(step, "")
    return f'import torch\nnet = torch.compile(model, backend="x{step}", dynamic=False{options})\n'


def write_step(root: Path, number: int, *, log: str, success: bool) -> Path:
    """One step directory with its log, its plog and, for step 4 and 5, its debug directory."""
    step = root / STEP_NAMES[number - 1]
    plog = step / "ascend_plog" / "debug" / "plog"
    plog.mkdir(parents=True)
    (plog / f"plog-51{number}0_20250203040506007.log").write_text(
        f"[INFO] RUNTIME(51{number}0,python3):2025-02-03-04:05:06.007.008 [api.cc:1]51{number}0 Init:ok\n"
    )
    (step / "stdout_stderr.log").write_text(log)
    if success:
        (step / "SUCCESS").touch()
    if number >= 4:
        debug = step / DEBUG_RUN / "npugraph_ex"
        debug.mkdir(parents=True)
        (debug / "debug.log").write_text(
            "[INFO] NPUGRAPH_EX(5150,python3):2025-02-03 04:05:06.070.080 [a.py:1]5150 x\n"
        )
    return step


@pytest.fixture
def build_run(tmp_path: Path) -> Callable[..., Path]:
    """Builds a run: steps 1..last passed, or `failed` with `log` and `exit_code` and nothing after it."""

    def build(
        *,
        failed: int | None = None,
        log: str = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad\n',
        exit_code: int = 1,
        last: int = 5,
        root: Path | None = None,
    ) -> Path:
        run = root if root is not None else tmp_path / "torch-npugraph-ex-triage-logs" / "20250203-040506-pid515"
        (run / "scripts").mkdir(parents=True)
        (run / "env.txt").write_text(ENV)
        (run / "scripts" / "original.py").write_text(_script(0))
        for number, name in enumerate(STEP_NAMES, 1):
            (run / "scripts" / f"{name}.py").write_text(_script(number))
        for number in range(1, (failed or last) + 1):
            passed = number != failed
            text = (FORCE_EAGER if number == 4 else "") + ("ok\n" if passed else log)
            write_step(run, number, log=text, success=passed)
        if failed:
            (run / "first_failure.txt").write_text(f"{STEP_NAMES[failed - 1]} exit_code={exit_code}\n")
        return run

    return build


@pytest.fixture
def find() -> Callable[[Path], Bundle]:
    """Discovers one path."""
    return lambda path: discover([path])


@pytest.fixture
def chain_at() -> Callable[..., Chain]:
    """A chain of one incident whose lead states `quote` at a line of a file of the bundle."""

    def build(
        bundle: Bundle,
        path: str,
        quote: str,
        *,
        line: int = 3,
        category: Category = "host",
        phase: str = "any",
        format_: str = "exception",
        waits: bool = False,
        offset: int = 1 << 40,
        root: bool = True,
    ) -> Chain:
        source = next(s for s in bundle.sources if s.path.endswith(path))
        lead = Finding(
            signature="test/x", source=source.id, line=line, quote=quote, record_line=1, record_end_line=line,
            offset=offset, format=format_, order_ns=1_000,
        )  # fmt: skip
        incident = Incident(
            id="i1", lead=lead, findings=(lead,), signature="test/x", title=Text("x", "某"), role="cause",
            category=category, phase=phase, waits=waits,
        )  # fmt: skip
        return Chain(
            incidents=(incident,),
            places={"i1": "root" if root else "witness"},
            root="i1" if root else None,
        )

    return build


@pytest.fixture
def progress_in() -> Callable[..., Finding]:
    """A progress finding at a line of a file of the bundle."""

    def build(bundle: Bundle, path: str, line: int, order_ns: int | None = None) -> Finding:
        source = next(s for s in bundle.sources if s.path.endswith(path))
        return Finding(
            signature="progress/step", source=source.id, line=line, quote="step 0 done", record_line=line,
            record_end_line=line, offset=0, format="text", order_ns=order_ns,
        )  # fmt: skip

    return build


@pytest.fixture
def en() -> Callable[[Sequence[Text]], str]:
    """All English words of some notes, one per line; also proves that the Chinese ones are there."""

    def join(notes: Sequence[Text]) -> str:
        assert all(note.zh and note.zh != note.en for note in notes)
        return "\n".join(note.en for note in notes)

    return join
