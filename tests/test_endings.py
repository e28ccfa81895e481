"""How a job ends that no device ended: well, by itself after a retry, by a person, by a scheduler, by a time limit.

Whatever its processes say while they are taken down is the end of the job, never a failure of the device.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from plogscope.model.report import Report
from plogscope.pipeline import Options, analyze

PIDS = (51007, 51008)
START = datetime(2026, 2, 3, 4, 0, 0, tzinfo=timezone.utc)
STEPS, STEP_S = 40, 3
END_S = STEPS * STEP_S + 1
"""Seconds after the start at which the ending comes."""


def stamp(at_s: float) -> str:
    moment = START + timedelta(seconds=at_s)
    return f"{moment:%Y-%m-%d-%H:%M:%S}.{moment.microsecond // 1000:03}.000"


def plog(level: str, module: str, pid: int, at_s: float, where: str, text: str) -> str:
    return f"[{level}] {module}({pid},python3):{stamp(at_s)} [{where}]{pid} {text}"


def training(upto: int = STEPS) -> list[str]:
    moments = [(START + timedelta(seconds=step * STEP_S), step) for step in range(1, upto + 1)]
    return [f"{at:%Y-%m-%d %H:%M:%S},000 - trainer - INFO - step {n}/400 loss {3 - n / 100:.4f}" for at, n in moments]


def logger(pid: int) -> list[str]:
    """What CANN of one process writes while it trains."""
    return [
        plog("INFO", "RUNTIME", pid, step * STEP_S, "stream.cc:41", f"AddTask:stream_id=3, task_id={step}")
        for step in range(1, STEPS + 1)
    ]


def taken_down(pid: int, at_s: float) -> list[str]:
    """What CANN of one process writes when it is ended in the middle of a step."""
    return [
        plog(
            "ERROR", "HCCL", pid, at_s, "hccl_socket.cc:96", "[Recv]errNo[0x0000000005000013] socket is closed by peer"
        ),
        plog(
            "ERROR",
            "RUNTIME",
            pid,
            at_s + 0.1,
            "stream.cc:1085",
            "GetError:Stream Synchronize failed, stream_id=3, retCode=0x95, [the model stream execute failed].",
        ),
        plog(
            "ERROR",
            "ASCENDCL",
            pid,
            at_s + 0.2,
            "stream.cpp:146",
            "aclrtSynchronizeStream:synchronize stream failed, runtime result = 507011",
        ),
    ]


def sent_signal(number: int, name: str) -> list[str]:
    """torchrun is told to end, and ends its workers."""
    at = START + timedelta(seconds=END_S)
    head = f"W{at:%m%d %H:%M:%S}.100000 50990 torch/distributed/elastic"
    return [
        f"{head}/agent/server/api.py:723] Received {number} death signal, shutting down workers",
        *(f"{head}/multiprocessing/api.py:897] Sending process {pid} closing signal {name}" for pid in PIDS),
        "Traceback (most recent call last):",
        '  File "/usr/local/bin/torchrun", line 8, in <module>',
        "    sys.exit(main())",
        f"torch.distributed.elastic.multiprocessing.api.SignalException: Process 50990 got signal: {number}",
    ]


def retry(pid: int, at_s: float) -> list[str]:
    """A first attempt that fails and a second one that does not."""
    where = "channel_probe.cc:88"
    return [
        plog("ERROR", "TDT", pid, at_s, where, "Open:first attempt on channel 3 failed, will try again"),
        plog("INFO", "TDT", pid, at_s + 0.1, where, "Open:channel 3 opened, retry succeeded"),
    ]


def verdict_of(
    folder: Path, output: list[str], after_s: float | None = END_S + 0.5, retried_s: float | None = None
) -> Report:
    """Report on two processes, which say their last words `after_s` after the start (None: none)."""
    (folder / "plog").mkdir()
    (folder / "stdout.log").write_text("\n".join([*training(), *output, ""]), "utf-8")
    for pid in PIDS:
        lines = [*logger(pid), *(retry(pid, retried_s) if retried_s is not None else [])]
        lines.sort(key=lambda line: line.split("):", 1)[1])
        lines += taken_down(pid, after_s) if after_s is not None else []
        (folder / "plog" / f"plog-{pid}_20260203040000001.log").write_text("\n".join([*lines, ""]), "utf-8")
    return analyze([folder], Options(jobs=1))


def test_a_run_that_ends_well_did_not_fail(tmp_path: Path) -> None:
    report = verdict_of(tmp_path, ["Training completed."], after_s=None)
    assert (report.verdict.status, report.triage.route) == ("no-failure", "none")


def test_an_error_that_a_retry_got_over_is_no_failure(tmp_path: Path) -> None:
    failed_s = 30.5
    report = verdict_of(tmp_path, ["Training completed."], after_s=None, retried_s=failed_s)
    assert report.verdict.status == "no-failure"
    assert {entry.role for entry in report.chain} == {"recovered"}


INTERRUPTED = [
    "^CTraceback (most recent call last):",
    '  File "/workspace/train.py", line 88, in <module>',
    "    loss.backward()",
    "KeyboardInterrupt",
]

AT = f"{START + timedelta(seconds=END_S):%Y-%m-%dT%H:%M:%S}"
ENDINGS = {
    "ctrl-c": INTERRUPTED,
    "ctrl-c-of-torchrun": [*sent_signal(2, "SIGINT"), "KeyboardInterrupt"],
    "sigterm": sent_signal(15, "SIGTERM"),
    "slurm-time-limit": [
        f"slurmstepd: error: *** JOB 881 ON node12 CANCELLED AT {AT} DUE TO TIME LIMIT ***",
        *sent_signal(15, "SIGTERM"),
    ],
    "slurm-cancel": [
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        f"slurmstepd: error: *** STEP 881.0 ON node12 CANCELLED AT {AT} ***",
        *sent_signal(15, "SIGTERM"),
    ],
    "slurm-after-a-task": [
        "srun: error: node12: task 1: Killed",
        "srun: Terminating StepId=881.0",
        f"slurmstepd: error: *** STEP 881.0 ON node12 CANCELLED AT {AT} ***",
        *sent_signal(15, "SIGTERM"),
    ],
    "evicted": [
        "Normal  Preempted  12s  volcano  Preempted by pod prod/infer-0 on node n3",
        *sent_signal(15, "SIGTERM"),
    ],
    "deadline": [*sent_signal(15, "SIGTERM"), "  reason: DeadlineExceeded"],
    "time-limit-of-the-shell": ["run.sh: line 18: 50990 Terminated              torchrun train.py"],
}


NAMED_BY_A_SCHEDULER = ("slurm-time-limit", "slurm-cancel", "evicted", "deadline")


def expected_of(name: str) -> tuple[str, str]:
    """Status and category: a scheduler says that it ended the job, a signal does not say who sent it."""
    if name in NAMED_BY_A_SCHEDULER:
        return ("explained", "host")
    return ("no-failure", "unknown") if name.startswith("ctrl-c") else ("insufficient", "host")


@pytest.mark.parametrize("after_s", [END_S + 0.5, END_S + 20.0, None], ids=["at-once", "later", "silent"])
@pytest.mark.parametrize("name", ENDINGS)
def test_the_end_of_a_job_from_outside_is_no_failure_of_the_device(
    tmp_path: Path, name: str, after_s: float | None
) -> None:
    verdict = verdict_of(tmp_path, ENDINGS[name], after_s).verdict

    assert (verdict.status, verdict.category) == expected_of(name), verdict.statement.en
    named = ("launcher/scheduler-cancel", "launcher/scheduler-preempts")
    assert verdict.root_cause is None or verdict.root_cause.signature in named


def test_a_cause_that_a_process_states_before_it_is_ended_stays_the_cause(tmp_path: Path) -> None:
    report = verdict_of(
        tmp_path, ["torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB", *ENDINGS["sigterm"]]
    )
    root = report.verdict.root_cause
    assert root is not None
    assert (report.verdict.category, root.line) == ("memory", STEPS + 1)


def noted(at_s: float, text: str) -> str:
    at = START + timedelta(seconds=at_s)
    return f"{at:%b} {at.day:2} {at:%H:%M:%S} node12 {text}"


CROWDED = "kernel: nf_conntrack: nf_conntrack: table full, dropping packet"
EXPORTER = "npu-exporter[901]: [ERROR] collector/network.go:91 get link speed failed, err: not supported"
KILLED = ["mpirun noticed that process rank 1 with PID 51008 on node node12 exited on signal 9 (Killed)."]


@pytest.mark.parametrize(
    ("kills", "root"),
    [
        ("sudo:     lee : TTY=pts/1 ; PWD=/home/lee ; USER=root ; COMMAND=/usr/bin/kill -9 51008", True),
        ('audit: type=OBJ_PID msg=audit(1770091321.100:77): opid=51008 oauid=0 ouid=0 oses=1 ocomm="python3"', True),
        ("sudo:     lee : TTY=pts/1 ; PWD=/home/lee ; USER=root ; COMMAND=/usr/bin/kill -9 777", False),
        ("systemd[1]: Started Session 12 of user root.", False),
    ],
    ids=["sudo", "audit", "another-process", "nobody"],
)
def test_a_machine_says_many_things_but_only_who_killed_a_process_of_the_job_counts(
    tmp_path: Path, kills: str, *, root: bool
) -> None:
    lines = [noted(-60, CROWDED), noted(30, EXPORTER), noted(END_S, kills), noted(END_S + 40, CROWDED)]
    (tmp_path / "messages").write_text("\n".join([*lines, ""]), "utf-8")

    for rank, pid in enumerate(PIDS):
        joins = f"Entry-HcclCommInitRootInfoInner:ranks[2], rank[{rank}], rootinfo: host ip[10.1.1.1] port[60000]"
        line = plog("INFO", "HCCL", pid, 0.5, "op_base.cc:801", f"{joins} identifier[world], deviceLogicId[{rank}]")
        (tmp_path / f"plog-{pid}_20260203040000002.log").write_text(f"{line}\n", "utf-8")

    verdict = verdict_of(tmp_path, KILLED, after_s=None).verdict

    assert verdict.category == "host"
    assert root or [one.rank for one in verdict.suspects] == [1]
    assert (verdict.root_cause.line if verdict.root_cause is not None else None) == (3 if root else None)


ODDITIES = {
    "query": (
        "RUNTIME",
        "api_c.cc:2904",
        "rtGetDeviceCapability:ErrCode=207000, desc=[feature not support], InnerCode=0x7",
    ),
    "capture": ("RUNTIME", "api_c.cc:88", "StreamQuery:ErrCode=107030, desc=[the current capture mode], InnerCode=0x7"),
    "other": ("RUNTIME", "api_c.cc:88", "rtEventQuery:ErrCode=107002, desc=[context is null], InnerCode=0x7"),
}


@pytest.mark.parametrize("zone_h", [0, 8], ids=["one-zone", "two-zones"])
@pytest.mark.parametrize("name", ODDITIES)
def test_a_run_that_ends_well_got_over_what_its_processes_wrote_on_after(
    tmp_path: Path, name: str, zone_h: int
) -> None:
    module, where, text = ODDITIES[name]
    (tmp_path / "plog").mkdir()
    (tmp_path / "stdout.log").write_text("\n".join([*training(), "Training completed.", ""]), "utf-8")
    for pid in PIDS:
        odd = plog("ERROR", module, pid, END_S - 30 + zone_h * 3600, where, text)
        others = [
            plog("INFO", "GE", pid, second + zone_h * 3600, "a.cc:7", f"run {second}")
            for second in (2, 40, 95, 104, 112)
        ]
        lines = sorted([*others, odd], key=lambda line: line.split("):", 1)[1])
        (tmp_path / "plog" / f"plog-{pid}_20260203040000001.log").write_text("\n".join([*lines, ""]), "utf-8")

    assert analyze([tmp_path], Options(jobs=1)).verdict.status == "no-failure"
