"""vLLM: `ERROR 12-10 10:52:09 [core.py:708] text`. Every line of a text gets the head, also those of a traceback.

No year. Version 0 opens no bracket (`engine.py:400] text`).
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import yearless_ns

ORDER = 100

HEAD = re.compile(
    r"(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d)-(\d\d) (\d\d:\d\d:\d\d) \[?([^\s\]:]{1,300}):(\d{1,7})\] ?", re.ASCII
)


def head(text: str) -> Head | None:
    """A line of vLLM's logger. Its message keeps its indentation: it may be a frame of a traceback."""
    found = HEAD.match(text)
    if found is None:
        return None
    level, month, day, clock, src_file, src_line = found.groups()
    time_ns = yearless_ns(int(month), int(day), clock)
    return Head(
        format="vllm",
        message=text[found.end() :].rstrip(),
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        src_file=src_file,
        src_line=int(src_line),
        carrier=True,
    )


FORMAT = Format(
    name="vllm",
    head=head,
    starts="DIWEC",
    samples=(
        Sample(
            line="ERROR 12-10 11:52:09 [patch_core.py:58] Traceback (most recent call last):",
            level="ERROR",
            time="1970-12-10T11:52:09",
            message="Traceback (most recent call last):",
        ),
        Sample(
            line='ERROR 04-22 03:06:41 [v1/executor/multiproc_executor.py:751]   File "a.py", line 3, in run',
            message='  File "a.py", line 3, in run',
        ),
        Sample(line="INFO 02-29 08:45:18 engine.py:400] started", level="INFO", message="started"),
    ),
)
