from __future__ import annotations

import msgspec
import pytest

from plogscope.correlate.baseline import without_echoes
from tests.correlate.things import bundle, finding, source

LOGGED = "[WARNING] NPUGRAPH_EX(41,python):2026-01-02 03:04:05.006.007 [graph_pass.py:7]41 missed"


@pytest.mark.parametrize("frame", ["{}", "\x1b[1;31m{}\x1b[0m", "[rank3]: {}", "(EngineCore_0 pid=41) {}"])
def test_what_npugraph_ex_logs_and_prints_is_one_finding_however_the_print_is_framed(frame: str) -> None:
    own, printed = source(0, "npugraph-debug", None), source(1, "stdout", None)
    logged = msgspec.structs.replace(finding("x/y", own), quote=LOGGED)
    echo = msgspec.structs.replace(finding("x/y", printed), quote=frame.format(LOGGED))
    other = msgspec.structs.replace(finding("x/y", printed), quote="something else")

    assert without_echoes([logged, echo, other], bundle(own, printed)) == [logged, other]
