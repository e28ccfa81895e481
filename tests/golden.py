"""Golden reports: what the program says about six fixtures, byte by byte, so that a change of words or layout is seen.

`python tests/golden.py --update` writes `reports/golden/<fixture>.<html|md|txt|json>`; without it the command compares.
Version and digest of the grammar are fixed, so that a signature which says nothing about these runs changes nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

GOLDEN = ROOT / "reports" / "golden"
FIXTURES = (
    "five-step-incomplete",
    "five-step-replay-aicore",
    "healthy-noisy",
    "peer-missing",
    "python-dataset-error",
    "two-rank-hccl",
)
EPOCH = "1767225600"


def render_golden(fixture: str) -> dict[str, bytes]:
    """The four views of one fixture, as if analysed from the root of the checkout at a fixed time."""
    from plogscope.inputs import Provenance, digest_inputs  # noqa: PLC0415 - after the path is set
    from plogscope.pipeline import Options, analyze  # noqa: PLC0415
    from plogscope.render.html import render_html  # noqa: PLC0415
    from plogscope.render.json import render_json  # noqa: PLC0415
    from plogscope.render.markdown import render_markdown  # noqa: PLC0415
    from plogscope.render.terminal import render_terminal  # noqa: PLC0415

    path = Path("fixtures") / fixture / "run"
    before = Path.cwd(), os.environ.get("SOURCE_DATE_EPOCH")
    os.chdir(ROOT)
    os.environ["SOURCE_DATE_EPOCH"] = EPOCH
    try:
        found = analyze([path], Options(jobs=1))
        provenance = Provenance(command=f"plogscope analyze {path}", digests=digest_inputs(found, [path]))
    finally:
        os.chdir(before[0])
        if before[1] is None:
            del os.environ["SOURCE_DATE_EPOCH"]
        else:
            os.environ["SOURCE_DATE_EPOCH"] = before[1]
    tool = msgspec.structs.replace(found.tool, version="golden", grammar_digest="golden")
    report = msgspec.structs.replace(found, tool=tool)
    views = {
        f"{fixture}.html": render_html(report, "en", provenance=provenance).encode("utf-8"),
        f"{fixture}.md": render_markdown(report, "en").encode("utf-8"),
        f"{fixture}.txt": render_terminal(report, "en").encode("utf-8"),
        f"{fixture}.json": render_json(report),
    }
    # Some commands name the run by its full path, which is another one in every checkout.
    return {name: data.replace(str(ROOT).encode("utf-8"), b"/checkout") for name, data in views.items()}


def changed(fixture: str) -> Iterator[str]:
    """Names of the golden files that differ from what the program says now."""
    for name, data in render_golden(fixture).items():
        path = GOLDEN / name
        if not path.is_file() or path.read_bytes() != data:
            yield name


def main() -> int:
    """Compares, or writes with `--update`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the files instead of comparing")
    update = parser.parse_args().update
    different = [name for fixture in FIXTURES for name in changed(fixture)]
    if update:
        GOLDEN.mkdir(parents=True, exist_ok=True)
        for fixture in FIXTURES:
            for name, data in render_golden(fixture).items():
                (GOLDEN / name).write_bytes(data)
    for name in different:
        sys.stdout.write(f"{'written' if update else 'differs'}: {name}\n")
    return 1 if different and not update else 0


if __name__ == "__main__":
    sys.exit(main())
