"""Host and device operating systems: syslog in four notations, dmesg with a date or with the time since boot.

What a program other than the kernel prints into syslog is framed line by line: such a line is a carrier.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns, month_number, yearless_ns

ORDER = 180

_SEVERITIES = {
    "emerg": "CRITICAL",
    "alert": "CRITICAL",
    "crit": "CRITICAL",
    "err": "ERROR",
    "error": "ERROR",
    "warn": "WARNING",
    "warning": "WARNING",
    "notice": "INFO",
    "info": "INFO",
    "debug": "DEBUG",
}
_PROG = r"([\w./\-()]{1,100}?)(?:\[([\d\-]{1,10})\])?: ?"
_RFC3164 = re.compile(
    r"(?:([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d) )?"
    r"(?:(?<= )([\w.\-:]{1,200})|\(none\)) (?:(\w{1,16})\.(\w{1,8}) )?" + _PROG,
    re.ASCII,
)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{3,9}))?(?:Z|[+-]\d\d:?\d\d)"
    r"(?:\|(\w{1,16})\|([\w./\-]{1,100})\[([\d\-]{1,10})\](?:\||: ?)"
    r"| [\w.\-:]{1,200} (?:([\w./\-()]{1,100})\[(\d{1,10})\]|(kernel|systemd)): ?)",
    re.ASCII,
)
_DMESG_DATE = re.compile(r"\[[A-Z][a-z]{2} ([A-Z][a-z]{2}) {1,2}(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})\] ?", re.ASCII)
_DMESG_BOOT = re.compile(r"(?:<\d{1,3}>)?\[ {0,8}\d{1,10}\.\d{6}\](?:\[ {0,6}[TC]\d{1,10}\])? ?", re.ASCII)


def frame_end(text: str, at: int = 0) -> int:
    """Where the text begins behind a syslog head that starts at `at`; `at` if there is none."""
    if text[at : at + 1] not in _FRAME_STARTS:
        return at
    found = _RFC3164.match(text, at) or _ISO.match(text, at)
    return at if found is None else found.end()


_FRAME_STARTS = frozenset("JFMASOND2(")

OWN_WORDS = frozenset({"kernel", "sudo"})
"""Programs that frame nobody else's text; sudo even indents its own, to align the names of users."""


def _pid(digits: str | None) -> int | None:
    return int(digits) if digits and digits.isdecimal() else None


def syslog_head(text: str) -> Head | None:
    """A line of /var/log/messages, of a device's messages or of EulerOS' ISO notation."""
    if text[:1].isdigit():
        return _read_iso(text)
    found = _RFC3164.match(text)
    if found is None:
        return None
    month, day, clock, _, _, severity, prog, pid = found.groups()
    time_ns = None
    if month:
        number = month_number(month)
        if not number:
            return None
        time_ns = yearless_ns(number, int(day), clock)
    return Head(
        format="syslog",
        message=text[found.end() :].rstrip(),
        level=_SEVERITIES.get(severity or ""),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "no_year",
        proc=prog,
        pid=_pid(pid),
        carrier=prog not in OWN_WORDS,
    )


def _read_iso(text: str) -> Head | None:
    found = _ISO.match(text)
    if found is None:
        return None
    second, fraction, severity, pipe_prog, pipe_pid, prog, pid, bare_prog = found.groups()
    time_ns = local_ns(second, fraction)
    return Head(
        format="syslog",
        message=text[found.end() :].rstrip(),
        level=_SEVERITIES.get(severity or ""),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        proc=pipe_prog or prog or bare_prog,
        pid=_pid(pipe_pid or pid),
        carrier=OWN_WORDS.isdisjoint({pipe_prog, prog, bare_prog}),
    )


def dmesg_head(text: str) -> Head | None:
    """A kernel line; the time since boot is no date."""
    found = _DMESG_DATE.match(text)
    time_ns = None
    if found is not None:
        month, day, clock, year = found.groups()
        time_ns = local_ns(f"{year}-{month_number(month):02d}-{int(day):02d} {clock}")
    else:
        found = _DMESG_BOOT.match(text)
        if found is None:
            return None
    return Head(
        format="dmesg",
        message=text[found.end() :].strip(),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        proc="kernel",
    )


FORMATS = (
    Format(
        name="syslog",
        head=syslog_head,
        starts="JFMASOND(0123456789",
        samples=(
            Sample(
                line="Mar 17 23:03:09 node-b kernel: nf_conntrack: table full, dropping packet",
                time="1970-03-17T23:03:09",
                message="nf_conntrack: table full, dropping packet",
            ),
            Sample(line="Sep  5 03:40:50 node-b systemd[1]: Started Session 9.", pid=1, message="Started Session 9."),
            Sample(
                line="2020-12-30T00:39:25.857705+08:00|warning|kernel[-]|[2120226.886150] RAS: isolate page",
                level="WARNING",
                time="2020-12-30T00:39:25.857705",
            ),
            Sample(line="2024-08-29T17:01:48.358733+00:00|info|sysmonitor[1270]: irqbalance is abnormal", pid=1270),
            Sample(
                line="2025-02-03T04:05:06.123456+08:00 node-b sshd[991]: Accepted publickey",
                pid=991,
                message="Accepted publickey",
            ),
            Sample(line="(none) kern.info kernel: [14417.324674][T28601] [kbox] catch oom event", level="INFO"),
            Sample(line="Feb 29 01:02:03 (none) cron.info crond[412]: USER root pid 9", level="INFO", pid=412),
        ),
    ),
    Format(
        name="dmesg",
        head=dmesg_head,
        starts="[<",
        samples=(
            Sample(
                line="[Thu Aug 15 12:04:11 2024] Out of memory: Killed process 6001 (python3)",
                time="2024-08-15T12:04:11",
                message="Out of memory: Killed process 6001 (python3)",
            ),
            Sample(line="[11219.196524] {1}[Hardware Error]: from APEI", message="{1}[Hardware Error]: from APEI"),
            Sample(line="[   12.000001][ T1562] pcieport: AER", message="pcieport: AER"),
            Sample(line="<6>[   12.000001] usb 1-1: new device", message="usb 1-1: new device"),
        ),
    ),
)
