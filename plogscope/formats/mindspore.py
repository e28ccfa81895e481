"""MindSpore: `[LEVEL] MODULE(pid,tid,process):time [file:line] Func] msg`: three fields where plog has two.

C++ writes the thread in hex behind a comma, Python in decimal behind a colon. The level can be EXCEPTION.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 30

_LEVELS = {"EXCEPTION": "ERROR"}
_HEAD = re.compile(
    r"\s{0,8}\[(DEBUG|INFO|WARNING|ERROR|CRITICAL|EXCEPTION|EVENT)\] ([A-Z_]{2,32})"
    r"\((\d{1,10})(?:,(?:0x)?([0-9a-f]{6,16}|\d{1,20})|:(\d{1,20})),([^)\r\n\[]{0,128})\): ?"
    r"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:\.(\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?"
    r"(?: \[([^\]\r\n:]{1,300}):(\d{1,7})\])?(?: \[?([~\w]{1,200})\](?= |$))?",
    re.ASCII,
)


def head(text: str) -> Head | None:
    """A MindSpore record of the C++ or the Python side."""
    found = _HEAD.match(text)
    if found is None:
        return None
    level, module, pid, hex_tid, decimal_tid, proc, second, fraction, src_file, src_line, func = found.groups()
    time_ns = local_ns(second, fraction)
    level = _LEVELS.get(level, level)
    return Head(
        format="mindspore",
        message=text[found.end() :].strip(),
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module,
        pid=int(pid),
        tid=int(hex_tid, 16) if hex_tid else int(decimal_tid),
        proc=proc or None,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
        func=func,
    )


FORMAT = Format(
    name="mindspore",
    head=head,
    starts="[ \t",
    samples=(
        Sample(
            line="[WARNING] HCCL_ADPT(5731,ffff8de02d61,python):2023-05-24-04:52:21.134.879 "
            "[mindspore/ccsrc/hccl_adapter.cc:47] GenHcclOptions] DEPLOY_MODE is not set",
            level="WARNING",
            time="2023-05-24T04:52:21.134879",
            pid=5731,
            tid=0xFFFF8DE02D61,
            message="DEPLOY_MODE is not set",
        ),
        Sample(
            line="[WARNING] ME(5731:281473062022111,MainProcess):2023-05-24-04:52:26.782.379 "
            "[mindspore/train/model.py:1079] For LossCallBack callback, use on_train",
            pid=5731,
            tid=281473062022111,
            message="For LossCallBack callback, use on_train",
        ),
        Sample(
            line="[EXCEPTION] DEVICE(2811,fffe06ffd1e1,python):2023-11-21-15:34:32.886.561 [a/b.cc:7] [Run] failed",
            level="ERROR",
            message="failed",
        ),
    ),
)
