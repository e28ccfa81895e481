"""All checks of the project in one command: `python tests/check.py [--fast]`.

Prints a line per check with its time; the tests run last and their own closing line ends the output.
`--fast` leaves out the tests that are marked slow.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
LINT_GRAMMAR = """
import sys
from pathlib import Path
from plogscope.grammar.lint import format_defects, lint_folder
defects = lint_folder(Path("grammars"))
sys.exit(format_defects(defects) if defects else 0)
"""

CHECKS: tuple[tuple[str, list[str]], ...] = (
    ("ruff check", ["-m", "ruff", "check", "--quiet", "."]),
    ("ruff format", ["-m", "ruff", "format", "--check", "--quiet", "."]),
    ("mypy", ["-m", "mypy"]),
    ("imports", ["-c", LINT_IMPORTS]),
    ("grammar", ["-c", LINT_GRAMMAR]),
)


def passes(name: str, command: list[str]) -> bool:
    """Runs one check and prints its line; what it says is shown only when it fails."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    ok = done.returncode == 0
    sys.stdout.write(f"{'ok  ' if ok else 'FAIL'}  {name:<12} {time.perf_counter() - start:6.1f} s\n")
    if not ok:
        sys.stdout.write(done.stdout + done.stderr)
    sys.stdout.flush()
    return ok


def main() -> int:
    """Runs every check, also after one has failed, and returns 0 only if all passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="leave out the tests that are marked slow")
    chosen = ["-m", "not slow"] if parser.parse_args().fast else []
    failed = [name for name, command in CHECKS if not passes(name, command)]
    if failed:
        sys.stdout.write(f"failed: {', '.join(failed)}; the tests run all the same\n")
        sys.stdout.flush()
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *chosen], cwd=ROOT, check=False
    )
    return tests.returncode or int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
