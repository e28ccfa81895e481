"""The host and device record of CANN: `[LEVEL] MODULE(pid,process):time [file:line] tid func:message`.

All generations since 2020: empty, spaced or missing process names, key-value pairs before the file bracket, a space
instead of `-` in the time, no space after the level, numeric modules, and eleven ways to write thread and function.
"""

from __future__ import annotations

import re

from plogscope.formats.base import Format, Head, Sample
from plogscope.formats.stamps import local_ns

ORDER = 5

LEVELS: dict[str, str | None] = {
    "DEBUG": "DEBUG",
    "INFO": "INFO",
    "WARNING": "WARNING",
    "ERROR": "ERROR",
    "EVENT": "EVENT",
    "TRACE": "INFO",
    "OPLOG": "INFO",
}
"""As the record says; NULL and numbers have no meaning. TRACE was the init and destroy note of old HCCL."""

HEAD = re.compile(
    r"\s{0,8}\[(DEBUG|INFO|WARNING|ERROR|EVENT|TRACE|NULL|OPLOG|\d{1,3})\] ?"
    r"([A-Z][A-Za-z0-9_]{0,31}|\d{1,5})\((\d{1,10})(?:, ?([^\r\n\[]{0,128}?))?\):? ?"  # a `[` would bridge a torn head
    r"(\d{4}-\d\d-\d\d[- ]\d\d:\d\d:\d\d)(?:\.(\d{6}(?!\d)|\d{3}(?:\.\d{3})?))?"
    r"[ \t]{0,4}(?:\[[A-Za-z_]{1,32}:[^\[\]:\r\n]{0,128}\] ){0,8}"
    r"(?:\[([^\[\]:\r\n]{1,300}\.[A-Za-z]{1,4}): ?(\d{1,7})\])?",
    re.ASCII,
)

_TAIL = re.compile(
    r"[ \t]{0,4}(?:"
    r"\[(?P<square>\d{1,10})\](?:\[(?P<square2>\d{1,10})\])?"  # HCCL: [tid], or [pid][tid]
    r"|(?P<bare>\d{1,10}) (?:(?P<bare_func>[A-Za-z_~][\w:~<>]{0,200}):)?"  # RUNTIME, GE, ASCENDCL, FE, TBE
    r"|(?:>>> )?\(tid:(?P<paren>\d{1,10})\)"  # PROFILING, ATRACE, ADETECT
    r"|(?:\[(?P<br_func>[A-Za-z_~]\w{0,200})\])?\[tid:(?P<br>\d{1,10})\]"  # TDT, IDEDD, AICPU
    r"|tid:(?P<colon>\d{1,10}),\s?(?P<colon_func>\w{1,200})(?:\(\d{1,7}\))?\s?:"  # HCCP
    r"|(?P<roce_func>[a-z_]\w{0,200})\(\d{1,7}\)\s?:"  # ROCE
    r"|\[ascend\]\s?\[curpid: ?\d{1,10}, ?(?P<drv>\d{1,10})\]\s?\[drv\]\s?\[\w{1,64}\]\s?"
    r"\[(?P<drv_func>\w{1,200})(?: \d{1,7})?\]"  # DRV, with and without a file
    r"|\[[A-Za-z]\w{1,63}\] ?\[(?P<dev_func>\w{1,200})[ :]\d{1,7}\]"  # DRV with a file, DVPP
    r"|\[\d{1,10}\.\d{6}\] ?(?P<kernel>\[ascend\] ?\[(?P<inner>ERROR|WARN)\])?"  # KERNEL: the level is inside
    r"|\[hccl-\d+-\d+-\d{10}-(?P<group>[^\]\s]{1,128})\]\[(?P<rank>\d{1,7})\]"  # HCCL before 7
    r"|(?P<only_func>[A-Z~][A-Za-z]\w{1,200}):(?=[^\s/\\])"
    r")",
    re.ASCII,
)
_INNER_LEVEL = {"ERROR": "ERROR", "WARN": "WARNING"}


_OTHERS = frozenset({"TORCHAIR", "NPUGRAPH_EX", "IMP", "LPM", "IMU", "MCU"})
"""Modules with a format of their own behind the same head."""

_MINDSPORE_THREAD = re.compile(r"(?:0x)?(?:[0-9a-f]{6,16}|\d{1,20}),")
_KEPT = frozenset({"rank", "kernel", "inner", None})
"""Tails that stay in the message."""


def head(text: str) -> Head | None:
    """A plog record of any generation, but none of the formats that share its head."""
    found = HEAD.match(text)
    if found is None:
        return None
    level, module, pid, proc, second, fraction, src_file, src_line = found.groups()
    if module in _OTHERS or (proc and "," in proc and _MINDSPORE_THREAD.match(proc) is not None):
        return None
    start = found.end()
    tail = _TAIL.match(text, start)
    tid = func = rank = inner = None
    if tail is not None:
        kind = tail.lastgroup
        if kind == "square":
            tid = int(tail[1])
        elif kind == "bare_func":
            tid, func = int(tail[3]), tail[4]
        else:
            tid, func, rank, inner = _read_rare(tail)
        if kind not in _KEPT:
            start = tail.end()
    time_ns = local_ns(second, fraction)
    return Head(
        format="plog",
        message=text[start:].strip(),
        level=inner or LEVELS.get(level),
        time_ns=time_ns,
        time_quality="none" if time_ns is None else "exact",
        module=module,
        pid=int(pid),
        tid=tid,
        proc=proc or None,
        src_file=src_file,
        src_line=int(src_line) if src_line else None,
        func=func,
        rank=rank,
    )


def _read_rare(tail: re.Match[str]) -> tuple[int | None, str | None, int | None, str | None]:
    """Thread, function, rank and level of the tails that are not those of HCCL and RUNTIME."""
    groups = tail.groupdict()
    tid = next((groups[name] for name in _THREADS if groups[name]), None)
    func = next((groups[name] for name in _FUNCTIONS if groups[name]), None)
    is_world = groups["group"] == "hccl_world_group"  # any other group numbers its own members
    return (
        int(tid) if tid else None,
        func,
        int(groups["rank"]) if is_world else None,
        _INNER_LEVEL.get(groups["inner"] or ""),
    )


_THREADS = ("square2", "bare", "paren", "br", "colon", "drv")
_FUNCTIONS = ("br_func", "colon_func", "roce_func", "drv_func", "dev_func", "only_func")


_HCCL = "[ERROR] HCCL(41207,python3.10):2025-10-14-13:40:43.416.520 "
FORMAT = Format(
    name="plog",
    head=head,
    starts="[ \t",
    samples=(
        Sample(
            line=_HCCL + "[transport_manager.cc:1011] [41633][Create][DestLink]peer did not answer",
            level="ERROR",
            time="2025-10-14T13:40:43.416520",
            pid=41207,
            tid=41633,
            message="[Create][DestLink]peer did not answer",
        ),
        Sample(
            line="[INFO] RUNTIME(5121,trainer):2024-11-02-00:59:07.000.041 [stream.cc:88]5190 Setup:ready, id=3",
            level="INFO",
            time="2024-11-02T00:59:07.000041",
            pid=5121,
            tid=5190,
            message="ready, id=3",
        ),
        Sample(
            line="[ERROR]HCCL(70011,):2025-09-03 04:05:06.070.080[heartbeat.cc:551][70012][70013]lost",
            level="ERROR",
            time="2025-09-03T04:05:06.070080",
            pid=70011,
            tid=70013,
            message="lost",
        ),
        Sample(
            line="[INFO] HCCL(815, python3):2025-12-01-18:00:00.000.001 [adapt.cc:5] [816]Entry-X",
            pid=815,
            tid=816,
        ),
        Sample(
            line="[ERROR] ASC(3140, python3): 2025-08-19-07:07:07.123.456 [a.cpp:1] 3140 Init:bad tiling",
            pid=3140,
            tid=3140,
            message="bad tiling",
        ),
        Sample(
            line="[TRACE] HCCL(66021,python):2022-05-06-07:08:09.010.011 [status:init] "
            "[hcom.cc:201][hccl-66021-0-1651820889-hccl_world_group][5]hcom init by file success",
            level="INFO",
            pid=66021,
        ),
        Sample(
            line="[ERROR] DRV(2218,python3):2024-03-04-05:06:07.080.090 [ascend][curpid: 2218, 2219]"
            "[drv][devmm][halMemAlloc 911]<errno:12, 6> no memory",
            pid=2218,
            tid=2219,
            message="<errno:12, 6> no memory",
        ),
        Sample(
            line="[ERROR] DRV(2218,python3):2024-03-04-05:06:07.080.092 [svm.c:77][ascend][curpid: 2218, 2220]"
            "[drv][devmm][svm_mem_stats_show]Module ID=1, used=2MB",
            tid=2220,
            message="Module ID=1, used=2MB",
        ),
        Sample(
            line="[ERROR] DRV(2218,python3):2024-03-04-05:06:07.080.091 [svm.c:12][devmm] [svm_stats 12] used=1",
            message="used=1",
        ),
        Sample(line="[ERROR] RUNTIME(8541):2020-08-09-10:11:12.130.140 [a/b/task.cc: 77]8542 Run:failed", tid=8542),
        Sample(
            line="[EVENT] PROFILING(77,main):2025-05-19-15:59:07.740.922 [cb.cpp:79] >>> (tid:78) called",
            level="EVENT",
            tid=78,
            message="called",
        ),
        Sample(
            line="[EVENT] TDT(77,main):2025-05-19-15:59:07.741.638 [pm.cpp:103][OpenProcess][tid:78] enter",
            tid=78,
            message="enter",
        ),
        Sample(
            line="[INFO] HCCP(312,hccp_service.bin):2025-10-24-15:39:26.133.826 [rs_ssl.c:9]tid:313,rs_init(9) : ok",
            tid=313,
            message="ok",
        ),
        Sample(
            line="[ERROR] ROCE(312,all_to_all):2025-09-15-08:38:12.776.612 [roce.c:630]handle_cqe(630) : status 0x15",
            message="status 0x15",
        ),
        Sample(
            line="[EVENT] KERNEL(904,sklogd):2023-06-10-13:16:14.096.793 [klogd.c:253][2516.794072] [ascend] [ERROR] "
            "[tsdrv] [cq_callback 319] <swapper/3:0> exception",
            level="ERROR",
        ),
        Sample(line="[NULL] 45(19,a b):2025-01-02-03:04:05 plain", time="2025-01-02T03:04:05", pid=19, message="plain"),
        Sample(line="[WARNING] DRV(0,boot):1970-01-01-08:00:13.260926 [x.c:9] early", level="WARNING", pid=0),
    ),
)
