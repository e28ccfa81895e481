"""Reports for the tests of the views: one explained, one insufficient, one without failure, one hostile, one huge."""

from __future__ import annotations

import msgspec

from plogscope.model.report import (
    SCHEMA,
    Alternative,
    BundleEntry,
    ChainEntry,
    ClockEntry,
    ClusterEntry,
    CommunicatorEntry,
    Confidence,
    Coverage,
    Environment,
    Evidence,
    FileEntry,
    Handoff,
    LineSpan,
    LogEntry,
    MissingEntry,
    NextAction,
    RankEntry,
    Report,
    RootCause,
    StepEntry,
    SuspectEntry,
    Timeline,
    TimelineRank,
    Tool,
    Triage,
    UnknownError,
    Verdict,
)
from plogscope.model.vocabulary import Place, Text

PLOG = "node-b/debug/plog/plog-48213_20260214083015127.log"
STDOUT = "node-b/worker-5.log"
PEER = "node-a/debug/plog/plog-51007_20260214083014998.log"
ROOT_QUOTE = (
    "[ERROR] RUNTIME(48213,python3):2026-02-14-08:47:31.204.771 [task_info.cc:1276]48655 PrintErrorInfo:"
    "AICORE kernel execute failed, device_id=5, stream_id=11, report_stream_id=11, task_id=2041, flip_num=0, "
    "fault kernel_name=ScatterNdUpdate_7c1, fault kernel info ext=none, program id=88, hash=1170341."
)
PEER_QUOTE = (
    "[ERROR] HCCL(51007,python3):2026-02-14-08:57:33.010.119 [task_exception_handler.cc:611] [51322][TaskExecStage]"
    "[Timeout]Task run failed, base information is streamID:[9], taskID[733], tag[AllReduce_172.20.8.11], "
    "AlgType(level 0-1-2):[ring-null-null]."
)


def text(en: str, zh: str) -> Text:
    return Text(en=en, zh=zh)


def entry(name: str, role: Place, quote: str, **changes: object) -> ChainEntry:
    base = ChainEntry(
        id=name,
        role=role,
        signature="operator/aicore-kernel-failed",
        title=text("A kernel failed on the AI Core", "算子在 AI Core 上执行失败"),
        file=PLOG,
        line=4127,
        quote=quote,
        record=LineSpan(4127, 4133),
        time="2026-02-14T08:47:31.204771",
        start_time=None,
        node="node-b",
        pid=48213,
        device=5,
        rank=13,
        count=1,
        explained_by=[],
        reason=None,
    )
    return msgspec.structs.replace(base, **changes)


def _chain() -> list[ChainEntry]:
    return [
        entry("c-1", "root", ROOT_QUOTE),
        entry(
            "c-2",
            "cascade",
            "RuntimeError: The Inner error is reported as above. [ERROR] 2026-02-14-08:47:31 ERR00100 PTA call failed",
            title=text("torch_npu reports the failed call", "torch_npu 报告调用失败"),
            file=STDOUT,
            line=912,
            record=LineSpan(880, 912),
            signature="host/torch-npu-wrapper",
            time="2026-02-14T08:47:31.300000",
            explained_by=["c-1"],
            reason=text(
                "Same device and stream, 0.1 s later; a layer above.", "同一设备与流，晚 0.1 秒；属于上层包装。"
            ),
        ),
        entry(
            "c-3",
            "cascade",
            PEER_QUOTE,
            title=text("A rank waited for a peer until its limit", "某 rank 等待对端直到超时"),
            file=PEER,
            line=20_981,
            record=LineSpan(20_981, 20_984),
            signature="communication/hccl-task-timeout",
            time="2026-02-14T08:57:33.010119",
            start_time="2026-02-14T08:47:33.010119",
            node="node-a",
            pid=51007,
            device=2,
            rank=2,
            count=15,
            explained_by=["c-1", "c-2"],
            relation="starves",
            reason=text("15 ranks wait for rank 13, which had failed before.", "15 个 rank 在等待更早失败的 rank 13。"),
        ),
        entry(
            "c-4",
            "teardown",
            "torch.distributed.elastic.multiprocessing.api: Sending process 51007 closing signal SIGTERM",
            title=text("The launcher ends the other processes", "启动器结束其他进程"),
            file="node-a/launch.log",
            line=77,
            record=LineSpan(77, 77),
            signature="host/elastic-sigterm",
            time="2026-02-14T08:58:02.000000",
            node="node-a",
            pid=50990,
            device=None,
            rank=None,
            explained_by=["c-3"],
        ),
        entry(
            "c-5",
            "recovered",
            "[WARNING] HCCL(51007,python3): socket connect retry 2, remote 172.20.8.14",
            title=text("A connection was retried and came up", "连接重试后建立"),
            file=PEER,
            line=311,
            record=LineSpan(311, 311),
            signature="communication/connect-retry",
            time="2026-02-14T08:30:44.120000",
            node="node-a",
            pid=51007,
            device=2,
            rank=2,
        ),
    ]


def _root() -> RootCause:
    return RootCause(
        signature="operator/aicore-kernel-failed",
        title=text(
            "Kernel ScatterNdUpdate_7c1 failed on the AI Core of device 5",
            "算子 ScatterNdUpdate_7c1 在设备 5 的 AI Core 上执行失败",
        ),
        code="EZ9999",
        file=PLOG,
        line=4127,
        quote=ROOT_QUOTE,
        record=LineSpan(4127, 4133),
        time="2026-02-14T08:47:31.204771",
        node="node-b",
        pid=48213,
        device=5,
        rank=13,
        fields={"kernel": "ScatterNdUpdate_7c1", "stream_id": "11", "task_id": "2041"},
    )


def _evidence() -> list[Evidence]:
    before = [
        f"[INFO] RUNTIME(48213,python3):2026-02-14-08:47:31.20{n}.000 [stream.cc:{700 + n}]48655 task submit"
        for n in range(5)
    ]
    after = [
        f"[ERROR] RUNTIME(48213,python3):2026-02-14-08:47:31.20{n}.400 [device_error_proc.cc:9{n}] core {n}"
        for n in range(5, 10)
    ]
    return [
        Evidence(
            id="e-5fc01a77",
            file=PLOG,
            line=4127,
            quote=ROOT_QUOTE,
            context_before=before,
            context_after=after,
            why=text(
                "The device names the kernel, the stream and the task that failed.", "设备指明了失败的算子、流与任务。"
            ),
        ),
        Evidence(
            id="e-90b2d314",
            file=PEER,
            line=20_981,
            quote=PEER_QUOTE,
            context_before=before[:2],
            context_after=[],
            why=text("The peers began to wait 1.8 s after that.", "对端在 1.8 秒之后开始等待。"),
        ),
    ]


def _timeline(ranks: int = 16, bins: int = 180) -> Timeline:
    rows = []
    for rank in range(ranks):
        counts = [[(place * 7 + rank * 3) % 23 if place % 4 else 0 for place in range(bins)], [0] * bins]
        marks = [(bins - 9, "c-3")] if rank != 13 else [(bins * 6 // 10, "c-1"), (bins * 6 // 10 + 1, "c-2")]
        if rank == 2:
            marks.append((3, "c-5"))
        if rank == 13:
            counts[0] = [count if place < bins * 6 // 10 else 0 for place, count in enumerate(counts[0])]
        rows.append(
            TimelineRank(label=f"rank {rank} node-{'a' if rank < 8 else 'b'}", rank=rank, counts=counts, marks=marks)
        )
    return Timeline(t0="2026-02-14T08:30:00", bin_s=10.0, ranks=rows, levels=["INFO", "ERROR"])


def _cluster(ranks: int = 16) -> ClusterEntry:
    entries = [
        RankEntry(
            rank=rank,
            node="node-a" if rank < 8 else "node-b",
            device=rank % 8,
            pid=48_000 + 17 * rank,
            first_error="2026-02-14T08:47:31.204771" if rank == 13 else f"2026-02-14T08:57:33.0{rank:02d}000",
            last_seen="2026-02-14T08:58:02.500000",
            silent_since="2026-02-14T08:47:32.000000" if rank == 13 else None,
        )
        for rank in range(ranks)
    ]
    return ClusterEntry(
        nodes=["node-a", "node-b"],
        ranks=entries,
        communicators=[
            CommunicatorEntry(identifier="172.20.8.11%bond0_60000_0_1771057801", size=16, ranks=list(range(16)))
        ],
        clocks=[
            ClockEntry(clock="node-a", offset_s=0.0, uncertainty_s=None, basis="reference"),
            ClockEntry(clock="node-b", offset_s=-0.412, uncertainty_s=0.05, basis="proven"),
        ],
    )


def _files() -> list[FileEntry]:
    return [
        FileEntry(
            path=PLOG,
            kind="plog",
            node="node-b",
            pid=48213,
            rank=13,
            device=5,
            bytes=1_904_771,
            lines=12_004,
            records=9_877,
            unparsed=3,
            first_time="2026-02-14T08:30:15.127000",
            last_time="2026-02-14T08:47:32.000000",
        ),
        FileEntry(
            path=STDOUT,
            kind="stdout",
            node="node-b",
            pid=48213,
            rank=13,
            bytes=80_412,
            lines=915,
            records=611,
            unparsed=40,
        ),
        FileEntry(
            path=PEER,
            kind="plog",
            node="node-a",
            pid=51007,
            rank=2,
            device=2,
            bytes=3_310_090,
            lines=21_340,
            records=20_001,
        ),
        FileEntry(path="node-a/core.51007", kind="core", bytes=90_000_001, skipped="not a log"),
    ]


def explained() -> Report:
    """A kernel failed on one rank of sixteen; the others waited for it."""
    rival = Alternative(
        **{
            **msgspec.structs.asdict(_root()),
            "title": text("A link of node-a went down", "node-a 的链路中断"),
            "line": 311,
            "file": PEER,
        },
        why_not=text("The connection came up again 12 minutes before.", "该连接在 12 分钟前已经恢复。"),
    )
    return Report(
        schema=SCHEMA,
        tool=Tool("plogscope", "0.1.0", "sha256:5b1c09aa"),
        bundle=BundleEntry("train-0214", "per-node", _files()),
        triage=Triage(route="runtime-error", rule="R12", rests_on="first cause"),
        verdict=Verdict(
            status="explained",
            category="operator",
            subcategory="aicore",
            confidence=Confidence("high", [text("The device itself recorded the failure.", "故障由设备直接记录。")]),
            statement=text(
                "Kernel ScatterNdUpdate_7c1 failed on rank 13; 15 ranks then waited for it.",
                "rank 13 上的算子 ScatterNdUpdate_7c1 失败，其余 15 个 rank 因等待它而超时。",
            ),
            root_cause=_root(),
            alternatives=[rival],
        ),
        chain=_chain(),
        evidence=_evidence(),
        next_actions=[
            NextAction(
                kind="check",
                action=text("Run the failing step again with synchronous launch.", "以同步下发方式重跑失败的步骤。"),
                command="python3 train.py --steps 1",
                env={"ASCEND_LAUNCH_BLOCKING": "1"},
                why=text("The stack then names the call.", "这样调用栈会指向具体调用。"),
                repro="import torch\nx = torch.zeros(8).npu()\nx.scatter_(0, torch.tensor([9]).npu(), 1.0)",
            ),
            NextAction(kind="fix", action=text("Check the index range of the scatter.", "修正 scatter 的索引范围。")),
        ],
        timeline=_timeline(),
        cluster=_cluster(),
        environment=Environment(
            torch="2.6.0",
            torch_npu="2.6.0.post3",
            cann="8.2.RC1",
            python="3.11.6",
            soc="Ascend910B3",
            env={"HCCL_EXEC_TIMEOUT": "600", "ASCEND_GLOBAL_LOG_LEVEL": "3"},
            source={"cann": f"{PLOG}:3"},
        ),
        coverage=Coverage(
            read=34_259,
            parsed=34_216,
            unparsed=43,
            skipped=[{"path": "node-a/core.51007", "reason": "not a log"}],
            folded=15,
            unknown_errors=[
                UnknownError(template="[ERROR] APP: queue <n> is late by <n> ms", count=4, file=STDOUT, line=640)
            ],
            notes=[
                text("The year of the launcher's stamps comes from its neighbours.", "启动器时间戳的年份取自相邻文件。")
            ],
        ),
        generated="2026-02-14T09:12:00Z",
    )


def insufficient() -> Report:
    """Fifteen ranks timed out; the log of the sixteenth is not there. Holds what no view may show in this state."""
    base = explained()
    chain = [
        msgspec.structs.replace(found, role="witness", explained_by=[], reason=None)
        for found in base.chain
        if found.id == "c-3"
    ]
    return msgspec.structs.replace(
        base,
        triage=Triage(
            route="insufficient",
            rule="C4",
            rests_on="step5 has no plog",
            first_failed_step="step5-npugraph_ex",
            steps=[
                StepEntry("step1-eager", "passed", 0),
                StepEntry("step2-compile-eager", "assumed-passed", None),
                StepEntry("step5-npugraph_ex", "failed", 1),
            ],
            missing=[
                MissingEntry(
                    text("The plog of rank 13", "rank 13 的 plog"),
                    text("All others wait for it.", "其余 rank 都在等待它。"),
                    "tar cz ~/ascend/log | cat > rank13.tgz",
                )
            ],
            handoff=Handoff(
                skill="npugraph-triage",
                rule="C4",
                rests_on="step5",
                first_failed_step="step5-npugraph_ex",
                notes=[text("Steps 1 and 2 passed.", "第 1、2 步通过。")],
                logs=[LogEntry("step5/run.log", [12, 400])],
                kept_options=["--dynamic"],
            ),
        ),
        verdict=Verdict(
            status="insufficient",
            category="communication",
            subcategory=None,
            confidence=Confidence("low", [text("Only witnesses were heard.", "只有旁证。")]),
            statement=text(
                "15 ranks waited for rank 13, whose log is missing.", "15 个 rank 在等待 rank 13，而它的日志缺失。"
            ),
            suspects=[
                SuspectEntry(
                    rank=13,
                    node="node-b",
                    device=5,
                    pid=None,
                    why=text("15 ranks wait for it.", "15 个 rank 在等待它。"),
                    need=text("Its plog from 08:47 to 08:48.", "08:47 至 08:48 的 plog。"),
                )
            ],
        ),
        chain=chain,
        evidence=base.evidence[1:],
        next_actions=[
            NextAction(
                kind="collect",
                action=text("Collect the plog of rank 13 on node-b.", "收集 node-b 上 rank 13 的 plog。"),
                command="tar czf rank13.tgz ~/ascend/log",
            ),
            NextAction(kind="fix", action=text("SECRET-FIX replace the kernel.", "SECRET-FIX 更换算子。")),
        ],
    )


def overfull() -> Report:
    """A report that breaks the contract: insufficient, and yet with a root cause, a rival and a remedy."""
    base, full = insufficient(), explained()
    verdict = msgspec.structs.replace(
        base.verdict, root_cause=full.verdict.root_cause, alternatives=full.verdict.alternatives
    )
    return msgspec.structs.replace(base, verdict=verdict)


def no_failure() -> Report:
    """A healthy run."""
    base = explained()
    return msgspec.structs.replace(
        base,
        triage=Triage(route="none", rule="R1", rests_on="no failure"),
        verdict=Verdict(
            status="no-failure",
            category="unknown",
            subcategory=None,
            confidence=Confidence("high", []),
            statement=text("Nothing failed in 3 files.", "3 个文件中没有报错。"),
        ),
        chain=[],
        evidence=[],
        next_actions=[NextAction(kind="collect", action=text("Say what is wrong.", "请说明现象。"))],
        timeline=Timeline(t0=None, bin_s=1.0, ranks=[], levels=[]),
        cluster=ClusterEntry(nodes=[], ranks=[], communicators=[], clocks=[]),
        environment=Environment(),
        coverage=Coverage(read=0, parsed=0, unparsed=0, skipped=[], folded=0, unknown_errors=[], notes=[]),
    )


ATTACKS = (
    "</script><script>document.title='PWNED'</script>",
    '"><img src=x onerror="document.title=\'PWNED\'">',
    "'><svg/onload=document.title='PWNED'>",
    "]]><!-- --><style>*{display:none}</style>",
    "</textarea></title></pre></details><h1>PWNED</h1>",
    "{{ 7*7 }}{% raw %}",
    "left\u202egnp.exe\u2066hidden\u2069",
    "nul\x00bell\x07\x1b[31mred\x1b]0;title\x07\x9b2J\r\nnext",
    "``` fence ````` `tick`",
    "@everyone #1 ![x](http://127.0.0.1/x.png) [a](javascript:alert(1)) <img src=http://127.0.0.1/y.png>",
    "错误：显存不足 🔥👩‍🔧 | a | b |",
    "&lt;b&gt; &amp; &#x3c;",
)


def hostile() -> Report:
    """Every free text of the report is an attack, one line has a megabyte, and a name is not UTF-8."""
    document = msgspec.to_builtins(explained())
    counter = iter(range(10**9))
    kept = {"role", "status", "category", "level", "route", "kind", "basis", "schema", "id", "explained_by", "relation"}
    kept |= {"time_quality", "first_error_quality"}

    def poison(value: object, key: str = "") -> object:
        if isinstance(value, str) and key not in kept:
            return ATTACKS[next(counter) % len(ATTACKS)]
        if isinstance(value, dict):
            return {name: poison(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [poison(item, key) for item in value]
        return value

    poisoned = msgspec.convert(poison(document), Report)
    evidence = [*poisoned.evidence, *(_attack(number, attack) for number, attack in enumerate(ATTACKS))]
    evidence.append(
        msgspec.structs.replace(
            evidence[0], id="e-long", line=99_001, quote="q" * 3_000, context_after=["A<b>" * 250_000]
        )
    )
    files = [*poisoned.bundle.files, FileEntry(path="bad\udcff\udc80name.log", kind="plog")]
    return msgspec.structs.replace(poisoned, evidence=evidence, bundle=BundleEntry("x\udcff", "per-node", files))


def _attack(number: int, attack: str) -> Evidence:
    return Evidence(
        id=f'e-"{number}>',
        file=f"{attack}.log",
        line=number + 1,
        quote=attack,
        why=text(attack, attack + "。"),
        context_before=[attack],
        context_after=[attack, attack],
    )


def huge(entries: int = 5_000) -> Report:
    """A job of 1,024 ranks with thousands of chain entries and 2,500 pieces of evidence."""
    base = explained()
    chain = [base.chain[0]]
    chain += [
        msgspec.structs.replace(
            base.chain[2],
            id=f"c-{number + 2}",
            line=number + 1,
            rank=number % 1_024,
            role="cascade" if number % 2 else "teardown",
        )
        for number in range(entries - 1)
    ]
    evidence = [
        msgspec.structs.replace(base.evidence[0], id=f"e-{number:08x}", line=number + 10) for number in range(2_500)
    ]
    return msgspec.structs.replace(
        base,
        chain=chain,
        evidence=[base.evidence[0], *evidence],
        timeline=_timeline(1_024, 1_200),
        cluster=_cluster(1_024),
    )


ALL = {
    "explained": explained,
    "insufficient": insufficient,
    "overfull": overfull,
    "no-failure": no_failure,
    "hostile": hostile,
}
