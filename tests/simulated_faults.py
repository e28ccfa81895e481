"""What the ranks of a simulated job write about its fault: the culprit, those that wait, those that compare."""

from __future__ import annotations

from tests.simulator import (
    COMPARED_FAULTS,
    FAIL_S,
    LIMIT_S,
    SECOND_S,
    SILENT_FAULTS,
    TABLE_FAULTS,
    UP_S,
    Job,
    Process,
)


def write_fault(job: Job, culprit: Process, others: list[Process]) -> str:
    kind = job.plan.kind
    if kind == "healthy":
        return "no-failure"
    if kind in COMPARED_FAULTS:
        _compared(job, culprit, others)
        return "explained"
    if kind in TABLE_FAULTS:
        _misread(job, culprit, others[0])
        return "explained"
    if kind not in SILENT_FAULTS:
        _fails(job, culprit, kind, FAIL_S)
    if job.plan.second:
        other = next(who for who in others if who.node != culprit.node)
        _fails(job, other, job.plan.second, FAIL_S + SECOND_S)
    if kind in ("port", "device-ip"):
        for who in others:
            job.hccl(
                who,
                UP_S + 120 + 0.1 * who.local,
                "hccl_socket_manager.cc:797",
                f"[Wait][LinkEstablish]wait socket establish timeout, role[0] rank[{who.rank}] timeout[120 s]",
            )
            job.hccl(
                who,
                UP_S + 120 + 0.1 * who.local,
                "hccl_socket_manager.cc:583",
                f"   |  192.0.{culprit.node}.{culprit.local + 1}({culprit.rank})   |  16666  |   192.0."
                f"{who.node}.{who.local + 1}({who.rank})   |  2882  |  client  | time out |   DISABLE  | "
                "LinkInfo",
            )
    else:
        for who in others:
            job.waits(who, FAIL_S + job.random.uniform(0.0, 1.5), culprit.rank)
    return "insufficient" if kind in SILENT_FAULTS else "explained"


def _fails(job: Job, who: Process, kind: str, at_s: float) -> None:
    """What the culprit (or the kernel of its node) writes."""
    device = f"device_id={who.local}"
    core = (
        f"PrintCoreInfo:An error occurs on the device(chipId:{who.local}, dieId:0), the serial "
        "number is 18, the error is aicore error, core id is 7, error code = 0x8000, dump info: "
        "pc start: 0x124, current: 0x1246, vec error info: 0x5b, mte error info: 0x3c, ifu error "
        "info: 0x2d, ccu error info: 0, cube error info: 0, biu error info: 0, aic error mask: "
        "0x65, para base: 0x12."
    )
    plain = {
        "aicore": ("device_error_core_proc.cc:1227", core),
        "device-oom": ("npu_driver.cc:691",
            (f"DevMemAllocHugePageManaged:[driver interface] halMemAlloc failed: {device}, "
            "size=2147483648, type=2, env_type=3, drvRetCode=6!")),
        "ecc": ("runtime.cc:5571",
            (f"ProcHBMRas:HBM MULTI BIT ECC, Uncorrectable ECC, {device}, event_id=0x80e01801, time "
            "us=91022338000.")),
        "lost": ("engine.cc:914",
            f"ReportHeartBreakProcV2:Device heartbeat lost, {device}, all streams are aborted."),
        "aicpu": ("device_error_proc.cc:1232",
            (f"ProcessStarsAicpuErrorInfo:The error from device(chipId:{who.local}, dieId:0), serial "
            "number is 6, an exception occurred during AICPU execution, stream_id:4, task_id:77, "
            "errcode:21003, msg:inner error.")),
    }  # fmt: skip
    raised = {
        "python": f"ValueError: token id {who.pid} exceeds vocab 32000",
        "nan": (
            f"RuntimeError: Rank {who.rank}: found NaN in local grad norm in backward pass before "
            "data-parallel communication collective"),
        "torch-oom": (
            f"torch.OutOfMemoryError: NPU out of memory. Tried to allocate 2.00 GiB (NPU {who.local}; "
            "60.97 GiB total capacity; 55.41 GiB already allocated; 55.41 GiB current active; 312.44 "
            "MiB free; 58.02 GiB reserved in total by PyTorch)"),
    }  # fmt: skip
    if kind in plain:
        job.runtime(who, at_s, *plain[kind], root=True)
    elif kind in raised:
        job.raises(who, at_s, raised[kind], root=True)
    elif kind == "segfault":
        job.output(who, at_s, "Fatal Python error: Segmentation fault", root=True)
    elif kind == "host-oom":
        job.kernel(
            who.node,
            at_s,
            f"Out of memory: Killed process {who.pid} (python3) total-vm:402118844kB, "
            "anon-rss:318220112kB, file-rss:0kB, shmem-rss:4112kB, UID:0 pgtables:640112kB "
            "oom_score_adj:0",
            root=True,
        )
    elif kind == "port":
        job.hccl(
            who,
            UP_S,
            "hccl_socket.cc:110",
            f"[InitChannelStage][RanktableDetect] socket type[0], listen on ip[192.0.{who.node}."
            f"{who.local + 1}] and specific port[16666] fail. Please check the port status and "
            "whether the port is being used by other process.",
            root=True,
        )
    elif kind == "device-ip":
        job.plog(
            who,
            UP_S,
            "HCCP",
            "[ra_host.c:480] tid:61002,ra_rdev_init_check_ip(480) : [check][ip]fail, ret(129) the IP "
            f"address(192.0.9.9) in the ranktable is inconsistent with the IP address(192.0.{who.node}"
            f".{who.local + 1}) of the network adapter, please make sure they're consistent. num(1)",
            root=True,
        )


def _misread(job: Job, culprit: Process, other: Process) -> None:
    """What every rank says of the rank table that it reads."""
    text = {
        "table-path": "errNo[0x0000000005010001] path /job/hccl_16p.json is not a valid real path",
        "table-entry": f"rank[{culprit.rank}] device ip family[2] is not same as others[10].",
        "table-twice": "devices have same superDeviceId[0x3000000] in superPod[super_pod_id_0]. Current device info: "
        f"serverId[10.44.3.{culprit.node + 1}], rankId[{culprit.rank}], group[hccl_world_group]. Another device info: "
        f"rankId[{other.rank}].",
    }[job.plan.kind]
    for who in job.ranks:
        at_s = UP_S + job.random.random()
        job.hccl(who, at_s, "topoinfo_ranktable.cc:66", f"[InitGroupStage][RanktableCheck]{text}", root=True)
        job.raises(who, at_s + 0.5, "RuntimeError: create:torch_npu/csrc/distributed/ProcessGroupHCCL.cpp:118 "
                   "HCCL function error: HcclCommInitClusterInfo, error code is 1")  # fmt: skip


def _compared(job: Job, culprit: Process, others: list[Process]) -> None:
    kind = job.plan.kind
    if kind == "count":
        for who in job.ranks:
            own, other = (1536, 2048) if who is culprit else (2048, 1536)
            job.hccl(
                who,
                FAIL_S + 0.1 * who.seat,
                "rank_consistentcy_checker.cc:439",
                f"[InitChannelStage][ParameterConflict]CMD information count check fail. local[{own}], remote[{other}]",
                root=who is culprit,
            )
    elif kind == "tls":
        for who in job.ranks:
            peer = others[0] if who is culprit else culprit
            job.hccl(
                who,
                FAIL_S + 120 + 0.1 * who.seat,
                "hccl_socket_manager.cc:583",
                f"   |  192.0.{peer.node}.{peer.local + 1}({peer.rank})   |  16666  |   192.0.{who.node}."
                f"{who.local + 1}({who.rank})   |  2882  |  server  | time out |   "
                f"{'ENABLE' if who is culprit else 'DISABLE'}  | LinkInfo",
                root=who is culprit,
            )
    elif kind == "order":
        for who in job.ranks:
            job.waits(
                who,
                FAIL_S + 0.1 * who.seat,
                culprit.rank if who is not culprit else others[0].rank,
                operation="Broadcast" if who is culprit else "AllReduce",
            )
        _mark(job, culprit)
    elif kind == "short-limit":
        for who in job.ranks:
            job.waits(who, FAIL_S + 0.1 * who.seat, others[0].rank)
    else:
        for who in others:
            job.waits(who, FAIL_S + 0.1 * who.seat, culprit.rank)
        job.waits(culprit, FAIL_S + LIMIT_S + 400, others[0].rank)
        _mark(job, culprit)


def _mark(job: Job, culprit: Process) -> None:
    """The culprit's report is the cause."""
    for path, entries in job.lines.items():
        if f"-{culprit.pid}_" in path:
            job.lines[path] = [(at, n, text, root or "Task run failed" in text) for at, n, text, root in entries]
