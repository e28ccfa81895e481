"""How large the page is and how long a browser needs for it, for jobs of 1, 64 and 1,024 ranks.

`python tests/benchmarks/page.py [--ranks N …] [--events N]` writes the logs of a job in which a kernel fails on one
rank, with `events` records of every rank, analyses them, and opens the page in Chromium. Loading is the median of three
runs that take a picture of the page, less the same for an empty page. 1,024 ranks need 1 GB of disk for a few minutes.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from plogscope.pipeline import Options, analyze  # noqa: E402 - after the path is set
from plogscope.render.html import render_html  # noqa: E402
from tests.simulator import START, Bundle, Plan, simulate  # noqa: E402

PER_NODE = 8
RUNS = 3
FIRST_S, LAST_S = 14.0, 290.0


def job(ranks: int, events: int) -> Bundle:
    """A job in which one rank fails; every process writes `events` ordinary records before that."""
    plan = Plan("aicore", nodes=max(1, ranks // PER_NODE), per_node=min(max(ranks, 2), PER_NODE))
    bundle = simulate(plan)
    if ranks == 1:
        bundle.files = {path: lines for path, lines in bundle.files.items() if _is_of(path, bundle)}
    for path, lines in bundle.files.items():
        if "/run/plog/" in path:
            pid = int(path.rpartition("plog-")[2].partition("_")[0])
            lines += [_record(pid, number, events) for number in range(events)]
    return bundle


def _is_of(path: str, bundle: Bundle) -> bool:
    """Whether a file is one of the rank that fails."""
    root = next(iter(bundle.root))[0]
    pid = root.rpartition("plog-")[2].partition("_")[0]
    return f"plog-{pid}_" in path or path.endswith(f"rank_{bundle.culprit}.log")


def _record(pid: int, number: int, events: int) -> str:
    stamp = START + timedelta(seconds=FIRST_S + (LAST_S - FIRST_S) * number / events, hours=8)
    clock = f"{stamp:%Y-%m-%d-%H:%M:%S}.{stamp.microsecond // 1000:03d}.{stamp.microsecond % 1000:03d}"
    head = f"[INFO] RUNTIME({pid},python3):{clock} [context.cc:901]{pid + 100}"
    return f"{head} StreamsCheck:stream num=58, cost={number}us."


def load_s(browser: str, page: Path, folder: Path) -> float:
    """Seconds until the picture of a page is there, median of some runs."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", f"--user-data-dir={folder / 'profile'}", "--window-size=1280,1000",
                f"--screenshot={folder / 'page.png'}", page.as_uri(),
            ],
            capture_output=True, timeout=300, check=True,
        )  # fmt: skip
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def measure(ranks: int, events: int, browser: str | None, folder: Path) -> str:
    """One line of the table."""
    bundle = job(ranks, events)
    path = bundle.write(folder / f"job-{ranks}")
    start = time.perf_counter()
    report = analyze([path], Options(jobs=2))
    analysed = time.perf_counter() - start
    shutil.rmtree(path)
    start = time.perf_counter()
    html = render_html(report)
    rendered = time.perf_counter() - start
    page, empty = folder / f"page-{ranks}.html", folder / "empty.html"
    page.write_text(html, encoding="utf-8")
    empty.write_text("<!DOCTYPE html><title>empty</title>", encoding="utf-8")
    loaded = "–"
    if browser is not None:
        loaded = f"{load_s(browser, page, folder) - load_s(browser, empty, folder):.2f} s"
    root = report.verdict.root_cause
    found = root is not None and (root.file, root.line) in bundle.root
    return (
        f"{ranks:>5} ranks × {events:,} events: page {page.stat().st_size / 1e6:.2f} MB, analysed in {analysed:.1f} s, "
        f"rendered in {rendered:.2f} s, loaded in {loaded}, cause {'found' if found else 'NOT FOUND'}"
    )


def main() -> int:
    """Prints one line for each number of ranks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 64, 1024])
    parser.add_argument("--events", type=int, default=10_000)
    chosen = parser.parse_args()
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with tempfile.TemporaryDirectory() as folder:
        for ranks in chosen.ranks:
            sys.stdout.write(measure(ranks, chosen.events, browser, Path(folder)) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
