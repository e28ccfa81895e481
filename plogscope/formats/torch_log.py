"""TORCH_LOGS, torch elastic, torch_npu's logger and Paddle's glog: `W0520 14:53:14.120000 4711 file.py:530] msg`.

The number is a thread id in torch 2.4 and older and a pid since 2.5. Every line of a text gets the head, so an error
line can hold a line of a traceback. Torch 2.2 and older: `[2024-02-05 15:21:43,421] torch.x: [LEVEL] msg`.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.glog import LEVELS
from plogscope.formats.stamps import local_ns, yearless_ns

ORDER = 90

PID_LIMIT = 1 << 22
"""Linux never gives a larger pid: what is larger is a pthread id."""

_HEAD = re.compile(
    r"([VDIWECF])(\d\d)(\d\d) (\d\d:\d\d:\d\d)\.(\d{3,9}) {1,4}(\d{1,20}) ([^\s\]]{1,300}):(\d{1,7})\]"
    r"(?: \[\d{1,7}/\d{1,7}(?:_\d{1,7})?\])?(?: \[__\w{1,64}\])?(?: \[rank:(\d{1,7})\])? ?",
    re.ASCII,
)
_OLD = re.compile(
    r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\](?: \[\d{1,7}/\d{1,7}(?:_\d{1,7})?\])? "
    r"(torch[\w.]{0,200}): \[(\w{4,8})\] ?",
    re.ASCII,
)


def _read_old(text: str) -> Head | None:
    found = _OLD.match(text)
    if found is None:
        return None
    second, fraction, logger, level = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="torch-log",
        message=text[found.end() :].rstrip(),
        level=level,
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=logger,
    )


def head(text: str) -> Head | None:
    """A record of torch's Python logging or of a glog without brackets."""
    found = _HEAD.match(text)
    if found is None:
        return _read_old(text) if text.startswith("[") else None
    letter, month, day, clock, fraction, number, src_file, src_line, rank = found.groups()
    time_ns = yearless_ns(int(month), int(day), clock, fraction)
    ident = int(number)
    return Head(
        format="torch-log",
        message=text[found.end() :].rstrip(),
        level=LEVELS[letter],
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        pid=ident if ident <= PID_LIMIT else None,
        tid=ident if ident > PID_LIMIT else None,
        src_file=src_file,
        src_line=int(src_line),
        rank=int(rank) if rank else None,
        carrier=letter in "ECF",
    )


FORMAT = Format(
    name="torch-log",
    head=head,
    starts="VDIWECF[",
    samples=(
        Sample(
            line="V0520 14:53:14.120000 139884917106496 torch/_dynamo/symbolic_convert.py:530] [0/0] [__guards] x",
            level="DEBUG",
            time="1970-05-20T14:53:14.120000",
            tid=139884917106496,
            message="x",
        ),
        Sample(
            line="W1224 23:00:51.617000 18654 site-packages/torch/distributed/run.py:792] *****",
            level="WARNING",
            pid=18654,
            message="*****",
        ),
        Sample(
            line="E0707 13:03:41.582123 36001 NPUEvent.cpp:94] [rank:3] Find exception when finished",
            level="ERROR",
            pid=36001,
            message="Find exception when finished",
        ),
        Sample(line="I1020 19:41:12.192648 52001 init.cc:268] CustomDevice: ascend", level="INFO", pid=52001),
        Sample(
            line="[2024-05-07 08:47:31,877] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (code: 1)",
            level="ERROR",
            time="2024-05-07T08:47:31.877000",
            message="failed (code: 1)",
        ),
        Sample(
            line="[2024-02-05 15:21:43,421] [0/0] torch._dynamo.symbolic_convert: [DEBUG] TRACE BINARY_ADD None",
            level="DEBUG",
        ),
    ),
)
