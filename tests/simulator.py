"""Writes the logs of a job of many ranks with one fault, small enough for hundreds of bundles: for the laws.

All processes run on one true time; every node has a clock of its own (skew) and prints its output in a zone of its own.
A rank that is no culprit waits for it and gives up after the limit, as HCCL does.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random

LIMIT_S, SHORT_LIMIT_S = 600.0, 60.0
START = datetime(2026, 3, 11, 1, 0, 0, tzinfo=timezone.utc)
UP_S, FAIL_S, SECOND_S = 12.0, 300.0, 400.0

OWN_FAULTS = (
    "python", "nan", "aicore", "device-oom", "torch-oom", "ecc", "lost", "port", "device-ip", "aicpu", "segfault",
)  # fmt: skip
"""The culprit's own log states the cause."""

KERNEL_FAULTS = ("host-oom",)
"""The log of the node states it."""

COMPARED_FAULTS = ("count", "tls", "order", "straggler", "short-limit")
"""Several ranks together state it."""

TABLE_FAULTS = ("table-path", "table-entry", "table-twice")
"""The rank table is wrong, as a whole or in the culprit's entry; every rank that reads it says so."""

EARLY_FAULTS = ("port", "device-ip", *TABLE_FAULTS)
"""The job does not get as far as its first step."""

SILENT_FAULTS = ("hang", "absent")
"""Nobody states it: the culprit says nothing."""

KINDS = (*OWN_FAULTS, *KERNEL_FAULTS, *COMPARED_FAULTS, *TABLE_FAULTS, *SILENT_FAULTS, "healthy")

NOBODYS_FAULTS = ("table-path", "healthy")


@dataclass(frozen=True)
class Process:
    """One process: `seat` counts over the job, `rank` is what it is called."""

    seat: int
    node: int
    local: int
    pid: int
    rank: int


@dataclass
class Bundle:
    """Files by path, and what is true about them.

    Attributes:
        status: What the verdict must be.
        culprit: Rank of the fault; None for a healthy job.
        root: (path, line) of every line that states the cause.
    """

    files: dict[str, list[str]] = field(default_factory=dict)
    status: str = "explained"
    culprit: int | None = None
    root: set[tuple[str, int]] = field(default_factory=set)
    of_rank: dict[int, list[str]] = field(default_factory=dict)

    def write(self, root: Path) -> Path:
        """The files below a folder."""
        for path, lines in self.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return root


@dataclass(frozen=True)
class Plan:
    """What to simulate; equal plans give equal bundles."""

    kind: str
    seed: int = 0
    nodes: int = 2
    per_node: int = 3
    skew_s: tuple[float, ...] = ()
    zone_h: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    """World rank of each seat; without it the seat's number."""

    noise: int = 0
    strangers: int = 0
    """Processes of another job on the first node."""

    caught: int = 0
    """Exceptions that ranks caught and logged while they went on; with any, each rank misses an optional module too."""

    quiet: bool = False
    """Only the first rank prints its steps."""

    proof: str = "up"
    """What relates the clocks of the nodes: "up", a communicator that all log to be up; "epochs", only the instants in
    the names of communicators that they enter; "none", nothing."""

    coded: bool = False
    """Who gives up waiting states the code of its error in both of its logs."""

    second: str = ""
    """A fault of a rank of another node, `SECOND_S` after that of the culprit; one of `OWN_FAULTS`."""

    silent_culprit: bool = False
    """Leave out all that the culprit and its node's kernel wrote."""


class Job:
    """A job that is being written."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = Random(f"{plan.kind}/{plan.seed}/{plan.nodes}/{plan.per_node}")
        total = plan.nodes * plan.per_node
        names = plan.names or tuple(range(total))
        pid = self.random.randint(20_000, 60_000)
        self.ranks = [
            Process(seat, seat // plan.per_node, seat % plan.per_node, pid + 7 * seat, names[seat])
            for seat in range(total)
        ]
        self.culprit = self.ranks[self.random.randrange(1, total)]
        self.world, self.twin = (f"10.44.3.1%eno2_6000{n}_0_{int(START.timestamp() + n) * 1_000_000}" for n in range(2))
        self.lines: dict[str, list[tuple[float, int, str, bool]]] = defaultdict(list)
        self.count = 0

    def skew(self, node: int) -> float:
        return self.plan.skew_s[node] if node < len(self.plan.skew_s) else 0.0

    def zone_h(self, node: int) -> int:
        """Of what the processes of a node print; their plogs are in UTC+8."""
        return self.plan.zone_h[node] if node < len(self.plan.zone_h) else 8

    def moment(self, node: int, at_s: float, hours: int = 8) -> datetime:
        return START + timedelta(seconds=at_s + self.skew(node), hours=hours)

    def put(self, path: str, at_s: float, text: str, *, root: bool = False) -> None:
        self.count += 1
        self.lines[path].append((at_s, self.count, text, root))

    def plog(
        self, who: Process, at_s: float, module: str, text: str, level: str = "ERROR", *, root: bool = False
    ) -> None:
        folder = "debug" if level != "INFO" else "run"
        stamp = self.moment(who.node, at_s)
        printed = f"{stamp:%Y-%m-%d-%H:%M:%S}.{stamp.microsecond // 1000:03d}.{stamp.microsecond % 1000:03d}"
        path = (
            f"host{who.node}/ascend/log/{folder}/plog/plog-{who.pid}_{self.moment(who.node, 0.0):%Y%m%d%H%M%S}001.log"
        )
        self.put(path, at_s, f"[{level}] {module}({who.pid},python3):{printed} {text}", root=root)

    def hccl(
        self, who: Process, at_s: float, where: str, text: str, level: str = "ERROR", *, root: bool = False
    ) -> None:
        self.plog(who, at_s, "HCCL", f"[{where}] [{who.pid + 100}]{text}", level, root=root)

    def runtime(self, who: Process, at_s: float, where: str, text: str, *, root: bool = False) -> None:
        self.plog(who, at_s, "RUNTIME", f"[{where}]{who.pid + 100} {text}", root=root)

    def output(self, who: Process, at_s: float, text: str, *, root: bool = False) -> None:
        self.put(f"host{who.node}/rank_{who.rank}.log", at_s, text, root=root)

    def trainer(self, who: Process, at_s: float, text: str, level: str = "INFO") -> None:
        stamp = self.moment(who.node, at_s, self.zone_h(who.node))
        self.output(
            who, at_s, f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03d} - trainer - {level} - {text}"
        )

    def kernel(self, node: int, at_s: float, text: str, *, root: bool = False) -> None:
        self.put(f"host{node}/dmesg.txt", at_s, f"[{self.moment(node, at_s):%a %b %d %H:%M:%S %Y}] {text}", root=root)

    def limit_s(self, who: Process) -> float:
        """How long a rank waits for a collective."""
        return SHORT_LIMIT_S if self.plan.kind == "short-limit" and who is self.culprit else LIMIT_S

    def joins(self, who: Process, at_s: float) -> None:
        """Bring-up of one rank."""
        self.hccl(
            who,
            at_s,
            "externalinput.cc:558",
            f"[HCCL_ENV] HCCL_EXEC_TIMEOUT set by environment to [{self.limit_s(who):.0f}]s",
            "INFO",
            root=self.limit_s(who) != LIMIT_S,
        )
        self.enters(who, at_s + 1, self.world)
        if self.plan.proof == "epochs":
            self.enters(who, at_s + 1.1, self.twin)
        self.hccl(
            who, at_s + 1.2, "topoinfo_detect.cc:506",
            f"[HCCL_TRACE][Flat]SetupAgent rankNum[{len(self.ranks)}], rank[{who.rank}], rootInfo "
            f"identifier[{self.world}], "
            f"server[10.44.3.{who.node + 1}%eno2], serverPort[60000]deviceType[2], logicDevId[{who.local}], "
            f"phydevId[{who.local}], deviceIp[192.0.{who.node}.{who.local + 1}]", "INFO",
        )  # fmt: skip

    def enters(self, who: Process, at_s: float, communicator: str) -> None:
        self.hccl(
            who, at_s, "op_base.cc:1293",
            f"Entry-HcclCommInitRootInfoInner:ranks[{len(self.ranks)}], rank[{who.rank}], rootinfo: "
            "host ip[10.44.3.1] "
            f"port[60000] nicDeploy[1] identifier[{communicator}], deviceLogicId[{who.local}]", "INFO",
        )  # fmt: skip

    def is_up(self, who: Process) -> None:
        self.hccl(
            who, UP_S + self.random.random(), "op_base.cc:1411",
            f"[HCCL_TRACE]HcclCommInitRootInfoInner success,take time [{self.random.randint(9, 99)}1121]us, "
            f"rankNum[{len(self.ranks)}], rank[{who.rank}],rootInfo identifier[{self.world}], "
            f"server[10.44.3.{who.node + 1}%eno2], logicDevId[{who.local}]", "INFO",
        )  # fmt: skip

    def steps(self, who: Process, end_s: float) -> None:
        for step, at_s in enumerate(range(30, int(end_s), 30)):
            self.trainer(
                who,
                at_s + 0.01 * who.local,
                f"rank {who.rank} step {step} loss 2.{step % 90 + 10} lr 1.0e-05 tokens/s 3000",
            )

    def waits(
        self, who: Process, issued_s: float, remote: int, *, operation: str = "AllReduce", index: int = 311
    ) -> None:
        """The report of a collective that did not end."""
        at_s = issued_s + self.limit_s(who) + self.random.uniform(0.1, 2.0)
        stamp = self.moment(who.node, issued_s)
        issued = f"{stamp:%Y-%m-%d-%H:%M:%S}.{stamp.microsecond // 1000:03d}.{stamp.microsecond % 1000:03d}"
        tag = f"{operation}_{self.world}"
        state = "[TaskExecStage][Timeout][HOST]Task run failed, "
        self.hccl(
            who,
            at_s,
            "task_exception_handler.cc:908",
            f"{state}base information is streamID:[9], taskID[23], tag[{tag}], AlgType(level "
            "0-1-2):[fullmesh-ring-NHR].",
        )
        self.hccl(
            who,
            at_s,
            "task_exception_handler.cc:760",
            f"{state}para information is notify id:[0x48], stage:[0], remote rank:[{remote}].",
        )
        self.hccl(
            who,
            at_s,
            "task_exception_handler.cc:771",
            f"{state}groupRank information is group:[{self.world}], user define information[], "
            f"rankSize[{len(self.ranks)}], rankId[{who.rank}].",
        )
        self.hccl(
            who,
            at_s,
            "task_exception_handler.cc:704",
            f"{state}opData information is timeStamp:[{issued}], deviceId[{who.local}], index[{index}"
            "], count[8192], reduceType[sum], src[0x12], dst[0x13], dataType[bfp16].",
        )
        if self.plan.coded:
            self.ends_its_wait(who, at_s + 0.3, 507048)
        self.raises(
            who,
            at_s + 0.5,
            "RuntimeError: "
            "npuSynchronizeDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:513 NPU function "
            "error: AclrtSynchronizeDeviceWithTimeout, error code is 507048",
        )

    def ends_its_wait(self, who: Process, at_s: float, code: int) -> None:
        """One error in the words of the runtime, in the plog, and of torch_npu, in the output."""
        call = "aclrtSynchronizeDeviceWithTimeoutImpl:synchronize device with timeout failed"
        self.plog(who, at_s, "ASCENDCL", f"[device.cpp:421]{who.pid} {call}, runtime result = {code}")
        stamp = self.moment(who.node, at_s + 0.1, self.zone_h(who.node))
        printed = f"{stamp.month}{stamp:%d %H:%M:%S}.{stamp.microsecond:06d}000"
        self.output(
            who,
            at_s + 0.1,
            f"[rank{who.rank}]:[E{printed} ProcessGroupHCCL.cpp:1906] [Rank {who.rank}] HCCL watchdog thread "
            "terminated with exception: compiler_depend.ts:61 NPU function error: "
            f"acl::AclQueryEventRecordedStatus(event_, &currStatus), error code is {code}",
        )

    def raises(self, who: Process, at_s: float, text: str, *, root: bool = False) -> None:
        for number, line in enumerate(
            ("Traceback (most recent call last):", '  File "/job/train.py", line 88, in <module>', "    step()")
        ):
            self.output(who, at_s + 0.0001 * number, line)
        self.output(who, at_s + 0.001, text, root=root)

    def catches(self, who: Process, at_s: float, level: str, told: str, exception: str, then: str) -> None:
        """An exception that the program logs and gets over."""
        self.trainer(who, at_s, told, level)
        self.raises(who, at_s + 0.0001, exception)
        self.trainer(who, at_s + 0.002, then, "WARNING")

    def bundle(self, status: str) -> Bundle:
        result = Bundle(status=status, culprit=self.culprit.rank if self.plan.kind not in NOBODYS_FAULTS else None)
        for path, entries in self.lines.items():
            ordered = sorted(entries)
            result.files[path] = [text for _, _, text, _ in ordered]
            result.root |= {(path, number) for number, entry in enumerate(ordered, 1) if entry[3]}
        return result


def simulate(plan: Plan) -> Bundle:
    """The logs of the planned job."""
    from tests.simulated_faults import write_fault  # noqa: PLC0415 - it writes with a Job

    job = Job(plan)
    culprit, others = job.culprit, [who for who in job.ranks if who is not job.culprit]
    early = plan.kind in EARLY_FAULTS
    for who in job.ranks:
        if plan.proof != "none":
            job.joins(who, 2.0 + 0.2 * who.local)
        if not early and plan.proof == "up":
            job.is_up(who)
    status = write_fault(job, culprit, others)
    for who in job.ranks:
        if not plan.quiet or who.seat == 0:
            job.steps(who, UP_S + 4 if early else FAIL_S + (1200 if plan.kind == "healthy" else 0))
    if plan.kind == "healthy":
        for who in job.ranks:
            job.trainer(who, FAIL_S + 1210, "training finished, saved to /ckpt/final")
    _extras(job)
    if plan.kind == "absent" or plan.silent_culprit:
        status = "insufficient"
        stamp = f"-{culprit.pid}_"
        for path in [
            path for path in job.lines if stamp in path or path.endswith((f"rank_{culprit.rank}.log", "dmesg.txt"))
        ]:
            del job.lines[path]
    return job.bundle(status)


def _extras(job: Job) -> None:
    for number in range(job.plan.noise):
        who = job.ranks[number % len(job.ranks)]
        at_s = 20.0 + (FAIL_S - 40.0) * (number / max(1, job.plan.noise))
        job.plog(
            who,
            at_s,
            "GE",
            f"[graph_var_manager.cc:512]{who.pid} CheckVar:variable {number} not found in cache, use default",
            "WARNING",
        )
        job.trainer(who, at_s, f"data queue depth {number % 9}")
    for who in job.ranks if job.plan.caught else ():
        job.catches(
            who,
            0.5,
            "WARNING",
            "no fused kernels",
            "ModuleNotFoundError: No module named 'fused_rope'",
            "eager kernels",
        )
    for number in range(0 if job.plan.kind in EARLY_FAULTS else job.plan.caught):
        who = job.random.choice(job.ranks)
        at_s = 20.0 + (FAIL_S - 80.0) * (number / job.plan.caught)
        job.catches(who, at_s, "ERROR", f"sample {number} is broken", "KeyError: 'labels'", "the next sample is taken")
        job.plog(who, FAIL_S - 1.0, "GE", f"[model_manager.cc:77]{who.pid} LoadTask:end", "WARNING")
    for number in range(job.plan.strangers):
        other = Process(900 + number, 0, 0, 90_001 + number, -1)
        for step in range(20):
            job.plog(
                other,
                10.0 + 40 * step,
                "ASCENDCL",
                f"[memory.cpp:76]{other.pid} aclrtMallocImpl:start to execute aclrtMalloc, size = {512 * step}",
                "INFO",
            )
