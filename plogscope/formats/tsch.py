"""Task scheduler of the device: `[LEVEL] TSCH(-1,null):time seq (dieid:0,cpuid:0) file.c:12 func: msg`.

Register dumps (`<exception_print>…`) follow without a head. Newer firmware puts the file into brackets.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.plog import LEVELS
from plogscope.formats.stamps import local_ns

ORDER = 10

_HEAD = re.compile(
    r"\s{0,8}\[([A-Z]{4,8})\] ?([A-Z]{2,16})\(-1,null\): ?"
    r"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:\.(\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?"
    r"(?: \d{1,20})?(?: \((?:dieid:\d{1,5},)?cpuid:\d{1,5}\))?"
    r"(?: \[?([\w./\-]{1,300}):(\d{1,7})\]?)?(?: (\w{1,200}): )?",
    re.ASCII,
)


def head(text: str) -> Head | None:
    """A record of the task scheduler."""
    found = _HEAD.match(text)
    if found is None:
        return None
    level, module, second, fraction, src_file, src_line, func = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="tsch",
        message=text[found.end() :].strip(),
        level=LEVELS.get(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module,
        pid=-1,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
        func=func,
    )


FORMAT = Format(
    name="tsch",
    head=head,
    starts="[ \t",
    samples=(
        Sample(
            line="[ERROR] TSCH(-1,null):2023-06-11-14:16:11.401.438 19 (dieid:0,cpuid:0) hwts_plat.c:1931 "
            "int_process_hwts_timeout: RTS_HWTS: hwts timeout exception bitmap=0x8000",
            level="ERROR",
            time="2023-06-11T14:16:11.401438",
            pid=-1,
            message="RTS_HWTS: hwts timeout exception bitmap=0x8000",
        ),
        Sample(
            line="[ERROR] TSCH(-1,null):2020-09-05-20:51:13.452.762 63001 (cpuid:0) engine.c:707 unbind: failed",
            message="failed",
        ),
        Sample(
            line="[EVENT] TSCH(-1,null):2024-04-20-18:02:52.772.875 35001 (dieid:0,cpuid:0) [aicore.c:2243] dump: pc=1",
            level="EVENT",
            message="pc=1",
        ),
    ),
)
