"""Builds the view of a job from a few findings: what a rule sees."""

from __future__ import annotations

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.model.chain import Clock, Cluster, Communicator, Incident, Process
from plogscope.model.record import Actor, Finding
from plogscope.model.vocabulary import Role, Text

SECOND_NS = 1_000_000_000
START_NS = 1_770_000_000 * SECOND_NS
WORLD = "10.44.3.17%eno2_60000_0_1773200537118204"


class Job:
    """A job under construction. Every rank is a process with a plog of its own, on the node `n<rank // 8>`."""

    def __init__(self, expected: int | None = None, clocks: tuple[Clock, ...] = ()) -> None:
        self.expected = expected
        self.clocks = clocks or (Clock(id=0, name="n0"),)
        self.findings: list[Finding] = []
        self.incidents: list[Incident] = []
        self.processes: dict[int, Process] = {}
        self.lines: dict[int, int] = {}

    def seen(self, rank: int, *, last_s: float | None = None, clock: int = 0) -> None:
        """A rank whose log is in the bundle."""
        last = None if last_s is None else START_NS + int(last_s * SECOND_NS)
        self.processes[rank] = Process(
            node=f"n{rank // 8}",
            pid=4000 + rank,
            rank=rank,
            device=rank % 8,
            first_ns=START_NS,
            last_ns=last,
            clock=clock,
        )

    def says(
        self, rank: int | None, signature: str, at_s: float = 0.0, /, *, clock: int = 0, **fields: object
    ) -> Finding:
        """A line of a rank; None = a process whose rank nothing says."""
        if rank is not None and rank not in self.processes:
            self.seen(rank)
        source = 900 if rank is None else rank
        self.lines[source] = self.lines.get(source, 0) + 1
        moment = START_NS + int(at_s * SECOND_NS)
        process = self.processes.get(-1 if rank is None else rank, Process(node="n0", pid=4900))
        finding = Finding(
            signature=signature,
            source=source,
            line=self.lines[source],
            quote=f"{signature} {fields}",
            record_line=self.lines[source],
            record_end_line=self.lines[source],
            offset=0,
            format="plog",
            time_ns=moment,
            order_ns=moment,
            clock=clock,
            actor=Actor(node=process.node, pid=process.pid, rank=rank, device=process.device),
            fields={name: str(value) for name, value in fields.items()},
        )
        self.findings.append(finding)
        return finding

    def fails(
        self,
        rank: int | None,
        signature: str,
        at_s: float = 0.0,
        /,
        *,
        role: Role = "symptom",
        waits: bool = True,
        clock: int = 0,
        **fields: object,
    ) -> Incident:
        """A line of a rank that is an incident of its own."""
        finding = self.says(rank, signature, at_s, clock=clock, **fields)
        incident = Incident(
            id=f"i{len(self.incidents) + 1}",
            lead=finding,
            findings=(finding,),
            signature=signature,
            title=Text("title", "标题"),
            role=role,
            category="communication",
            actor=finding.actor,
            time_ns=finding.order_ns,
            start_ns=finding.order_ns,
            waits=waits,
        )
        self.incidents.append(incident)
        return incident

    def crashes(self, rank: int, at_s: float = 0.0) -> Incident:
        """A failure of the rank itself."""
        return self.fails(rank, "python/exception", at_s, role="cause", waits=False)

    def reports_task(
        self,
        rank: int,
        at_s: float,
        *,
        tag: str = f"AllReduce_{WORLD}",
        index: int = 40,
        size: int = 4,
        inside: int | None = None,
        communicator: str = WORLD,
        remote: int | None = None,
        issued: str | None = None,
        count: int = 4096,
        clock: int = 0,
    ) -> Incident:
        """The lines of a failed collective of one rank."""
        incident = self.fails(rank, "hccl/task-failed", at_s, clock=clock, tag=tag, index=index)
        first = len(self.findings) - 1
        if remote is not None:
            self.says(rank, "hccl/task-failed-remote", at_s, clock=clock, remote_rank=remote)
        group = {"communicator": communicator, "rank_size": size, "group_rank": rank if inside is None else inside}
        self.says(rank, "hccl/task-failed-group", at_s, clock=clock, **group)
        if issued is not None:
            self.says(rank, "hccl/task-failed-op", at_s, clock=clock, issued=issued, index=index, count=count)
        self.incidents[-1] = msgspec.structs.replace(incident, findings=tuple(self.findings[first:]))
        return self.incidents[-1]

    def view(self) -> JobView:
        """What the rules see."""
        return JobView(
            incidents=tuple(self.incidents),
            findings=tuple(self.findings),
            cluster=Cluster(
                processes=tuple(self.processes.values()),
                clocks=self.clocks,
                communicators=(Communicator(identifier=WORLD, size=self.expected),) if self.expected else (),
                expected_ranks=self.expected,
            ),
        )
