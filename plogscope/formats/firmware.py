"""Firmware of the device (IMP, LPM, IMU, MCU): a plog head, then no file bracket but the places of the firmware.

LPM writes six digits of microseconds without a second dot.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.plog import LEVELS
from plogscope.formats.stamps import local_ns

ORDER = 20

_HEAD = re.compile(
    r"\s{0,8}\[([A-Z]{4,8})\] ?"
    r"(?:(?=IMP\(|LPM\(|IMU\(|MCU\(|[A-Z]\w{1,15}\(-))([A-Z]\w{1,15})\((-?\d{1,10})(?:, ?([^()\r\n\[]{0,64}))?\): ?"
    r"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:\.(\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?"
    r"(?: \d{1,20}(?= ))?(?: \((?:device_id: ?(\d{1,5})[ ,])?(?:die_?id: ?\d{1,5})(?:,cpuid:\d{1,5})?\))?"
    r"(?: \[\w{1,32}\](?= ?\[))?(?: ?\[(?:(\w{1,100}\.\w{1,4})|(\w{1,100})) (\d{1,7})\])?",
    re.ASCII,
)


def head(text: str) -> Head | None:
    """A record of the management firmware."""
    found = _HEAD.match(text)
    if found is None:
        return None
    level, module, pid, proc, second, fraction, device, src_file, func, src_line = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="firmware",
        message=text[found.end() :].strip(),
        level=LEVELS.get(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module,
        pid=int(pid),
        proc=proc or None,
        device=int(device) if device else None,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
        func=func,
    )


FORMAT = Format(
    name="firmware",
    head=head,
    starts="[ \t",
    samples=(
        Sample(
            line="[EVENT] IMP(-2,IMP): 2024-11-04-08:22:54.994.714 71 (device_id:1 die_id:0) [IMP] present=1",
            level="EVENT",
            time="2024-11-04T08:22:54.994714",
            pid=-2,
            message="[IMP] present=1",
        ),
        Sample(
            line="[INFO] LPM(-1,lpm):2024-10-03-18:54:47.260926 [acg] [AicCpmDataPrint 685] freq=1650",
            level="INFO",
            time="2024-10-03T18:54:47.260926",
            message="freq=1650",
        ),
        Sample(
            line="[ERROR] LPM(-1,lpm):1970-01-01-08:00:09.000412 (dieid:0) [acg_cpm.c 221] no clock",
            level="ERROR",
            message="no clock",
        ),
        Sample(line="[EVENT] MCU(0,mcu):2024-10-03-18:54:47.260.926 fan speed set", message="fan speed set"),
    ),
)
