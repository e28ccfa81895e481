"""Error text of CANN as it stands in stdout, stderr and exceptions: a code, a process, a time, a title.

Generation 0 and 1 write `CODE: time msg`, 2 `CODE: [PID: n] time msg`, 3 `CODE[PID: n] time Title(CODE): msg` and,
for user errors, `[PID: n] time Title(CODE): msg`. The time is when the error was *reported*: before it was printed.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 60

_CODE = r"[EW][0-9A-Z]\d{4}"
_TIME = r"(?P<second>\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?"
_LABEL = r"(?:\[(?:ERROR|WARNING)\] RecentErrMsg: |CANN error: )?"
"""What programs print before the text that aclGetRecentErrMsg gives them."""
_TIMED = re.compile(
    rf"{_LABEL}(?P<code>{_CODE})?(?:(?:: ?)?\[PID: ?(?P<pid>\d{{1,10}})\]|:) ?{_TIME}"
    rf"\s*(?:(?P<title>[\w/ .\-]{{0,80}}?)\((?P<inner>{_CODE})\): ?)?",
    re.ASCII,
)
_UNTIMED = re.compile(rf"{_LABEL}(?P<code>{_CODE})(?::\s*|\s{{2,8}})(?=\S|$)", re.ASCII)


def head(text: str) -> Head | None:
    """The first line of an error-manager block."""
    found = _TIMED.match(text) or _UNTIMED.match(text)
    if found is None:
        return None
    fields = found.groupdict()
    code = fields["code"] or fields.get("inner")
    if code is None and fields.get("pid") is None:
        return None
    time_ns = local_ns(fields["second"], fields["fraction"]) if fields.get("second") else None
    body = text[found.end() :].strip()
    pid = fields.get("pid")
    return Head(
        format="error-manager",
        message=f"{code}: {body}" if code else body,
        level="WARNING" if code and code.startswith("W") else "ERROR",
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        pid=int(pid) if pid else None,
    )


FORMAT = Format(
    name="error-manager",
    head=head,
    starts="EWC[",
    samples=(
        Sample(
            line="EZ9999: 2024-09-18-22:11:04.305.611  The error from device(chipId:2), aicore."
            "[FUNC:Print][FILE:a.cc][LINE:3]",
            level="ERROR",
            time="2024-09-18T22:11:04.305611",
            message="EZ9999: The error from device(chipId:2), aicore.[FUNC:Print][FILE:a.cc][LINE:3]",
        ),
        Sample(
            line="EI0006: [PID: 50331] 2025-04-02-19:20:21.222.323 Getting socket times out. Reason: none came",
            time="2025-04-02T19:20:21.222323",
            pid=50331,
            message="EI0006: Getting socket times out. Reason: none came",
        ),
        Sample(
            line="EZ9999[PID: 8811] 2026-02-11-20:13:22.806.034 (EZ9999):  The error from device(chipId:7)",
            pid=8811,
            message="EZ9999: The error from device(chipId:7)",
        ),
        Sample(
            line="EZ9999[PID: 8811] 2026-02-11-20:13:22.806.034 AclNN_Inner_Error(EZ9999):  Parse kernel config fail.",
            message="EZ9999: Parse kernel config fail.",
        ),
        Sample(
            line="[PID: 7712] 2026-05-07-04:20:31.532.507 Invalid_Argument(EL0003): The argument is invalid.",
            level="ERROR",
            pid=7712,
            message="EL0003: The argument is invalid.",
        ),
        Sample(
            line="[PID: 7712] 2025-12-03-21:59:08.232.310 Execution Error ROCE CQE(EI0013): An error CQE occurred.",
            message="EI0013: An error CQE occurred.",
        ),
        Sample(
            line="[PID: 7712] 2026-05-07-04:20:31.532.507 Device_Absent/Abnormal(EL0001): Device not found.",
            message="EL0001: Device not found.",
        ),
        Sample(
            line="[ERROR] RecentErrMsg: [PID: 7712] 2026-05-07-04:20:31.532.507 Out_Of_Memory(EL0004): no room",
            level="ERROR",
            time="2026-05-07T04:20:31.532507",
            pid=7712,
            message="EL0004: no room",
        ),
        Sample(
            line="CANN error: EE1001: [PID: 7712] 2025-12-03-21:59:08.232.310 The argument is invalid.",
            time="2025-12-03T21:59:08.232310",
            pid=7712,
            message="EE1001: The argument is invalid.",
        ),
        Sample(line="EE9999: Inner Error!", level="ERROR", message="EE9999: Inner Error!"),
        Sample(line="E39999: Inner Error, Please contact support engineer!"),
        Sample(line="EI0002: The wait execution of the Notify register times out.", level="ERROR"),
        Sample(line="EZ9999  rtStreamSynchronize execute failed", message="EZ9999: rtStreamSynchronize execute failed"),
        Sample(line="W11001: Op X does not hit the high-priority operator information library.", level="WARNING"),
    ),
)
