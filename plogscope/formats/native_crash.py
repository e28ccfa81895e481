"""How native code and the shell say that a process died: terminate, glibc checks, signals, job lines.

An indented `what():` belongs to the `terminate called` line above it.
"""

from __future__ import annotations

import re
import string

from plogscope.formats.base import Format, Head, Sample

ORDER = 140

_DEATH = (
    r"(?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Killed|Terminated"
    r"|Trace/breakpoint trap|Quit|Hangup)"
)
_BLOCK = re.compile(
    r"terminate called (?:after throwing|without an active|recursively)|what\(\):|pure virtual method called"
    r"|libc\+\+abi: |\*\*\* (?:SIG[A-Z]{3,8}|Aborted at|Signal|Process received signal|Error in )"
    r"|\[[\w.\-]{1,100}:\d{1,10}\] \*\*\* Process received signal"
)
_LINE = re.compile(
    rf"{_DEATH}(?: \(core dumped\))?\s*$"
    r"|(?:free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate|unlink_chunk)\(\): "
    r"|double free or corruption|corrupted (?:size|double-linked)|\*\*\* stack smashing detected"
    r"|malloc: |mpirun noticed that process rank|slurmstepd: error: |srun: error: \S{1,100}: task"
    rf"|[\w./\-]{{1,300}}: (?:line \d{{1,7}}: )?\s{{0,8}}\d{{1,10}} {_DEATH}\b"  # bash: the script, the line, the pid
    rf"|\[\d{{1,5}}\] {{0,8}}[+\-]?\s{{1,8}}(?:\d{{1,10}} )?\s{{0,4}}(?:{_DEATH}|killed|aborted|segmentation fault)\b"
    r"|[\w./\-]{1,200}: [^\s:]{1,300}:\d{1,7}: .{1,400}: Assertion `",
)
_STARTS_BLOCK = frozenset("twpl*[")


def head(text: str) -> Head | None:
    """A line that reports the death of a native process."""
    if text[:1] in _STARTS_BLOCK and _BLOCK.match(text) is not None:
        return Head(format="native-crash", message=text.strip(), level="ERROR")
    if text[:1].isspace() or _LINE.match(text) is None:
        return None
    return Head(format="native-crash", message=text.strip(), level="ERROR")


FORMAT = Format(
    name="native-crash",
    head=head,
    starts=string.ascii_letters + "/._*[",
    samples=(
        Sample(line="terminate called after throwing an instance of 'c10::DistBackendError'", level="ERROR"),
        Sample(line="terminate called without an active exception", level="ERROR"),
        Sample(line="what():  [Rank 3] timed out", level="ERROR"),
        Sample(line="Segmentation fault (core dumped)", level="ERROR"),
        Sample(line="Aborted", level="ERROR"),
        Sample(line="Killed", level="ERROR"),
        Sample(line="free(): invalid pointer", level="ERROR"),
        Sample(line="double free or corruption (out)"),
        Sample(line="*** SIGABRT (@0x1f4) received by PID 8123 (TID 0xffff9) from PID 8123; stack trace: ***"),
        Sample(line="*** Aborted at 1736500000 (unix time) ***"),
        Sample(line="run_train.sh: line 14: 88123 Killed                  python train.py", level="ERROR"),
        Sample(line="[1]+  Segmentation fault      (core dumped) ./bench", level="ERROR"),
        Sample(line="python3: /src/pool.cpp:88: void Pool::run(): Assertion `n > 0' failed."),
        Sample(line="slurmstepd: error: Detected 1 oom_kill event in StepId=771.0."),
    ),
)
