from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from plogscope.model.report import Report

ROOT = Path(__file__).resolve().parents[1]
START = "import sys; from plogscope.cli import main; sys.exit(main())"

# A busy machine is slow: that says nothing about the product.
settings.register_profile("plogscope", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.load_profile("plogscope")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds; left out by `python tests/check.py --fast`")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The checkout: the folder of pyproject.toml."""
    return ROOT


@pytest.fixture(scope="session")
def fixture_run() -> Callable[[str], Path]:
    """Path of the run of a fixture by its name."""
    return lambda name: ROOT / "fixtures" / name / "run"


@pytest.fixture
def plogscope_command(tmp_path: Path) -> Run:
    """Runs the command line as a process of its own, in an empty folder, without a terminal."""

    def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if name not in ("LANG", "LC_ALL", "NO_COLOR")}
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        return subprocess.run(
            [sys.executable, "-c", START, *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=180,
            check=False,
            cwd=tmp_path,
            env=clean | {"PYTHONPATH": paths, "LANG": "C.UTF-8"} | environment,
        )

    return run


@pytest.fixture(scope="session")
def leaks() -> Callable[[Report], list[str]]:
    """What a report says although its status forbids it: see the contract of `Verdict`."""

    def found(report: Report) -> list[str]:
        verdict, said = report.verdict, []
        if verdict.status == "explained":
            return [] if verdict.root_cause else ["explained, and no root cause"]
        if verdict.root_cause:
            said.append(f"{verdict.status}, and a root cause at {verdict.root_cause.file}:{verdict.root_cause.line}")
        if verdict.alternatives:
            said.append(f"{verdict.status}, and {len(verdict.alternatives)} alternatives")
        return said + [f"action of kind {a.kind}: {a.action.en}" for a in report.next_actions if a.kind != "collect"]

    return found
