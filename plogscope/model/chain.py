"""Incidents, edges between them, and the chain of causes."""

from __future__ import annotations

import msgspec

from plogscope.model.record import Actor, Finding, ProcessKey, Writer
from plogscope.model.vocabulary import Category, ClockBasis, ClockProof, EdgeKind, Place, Role, Text


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """One clock of the bundle: where its stamps stand on the reference clock.

    `order = time_local + offset_s`; nothing is ordered across clocks by less than the sum of the uncertainties, and
    nothing at all between clocks that no evidence relates.

    Attributes:
        uncertainty_s: How far the offset onto the reference clock can be wrong.
        proof: What proves the offset; None for the reference and for what is assumed.
        zone_s: Local time minus UTC, where lines prove it.
        island: Clocks of one island are of one node and proven against each other, even where nothing relates the node
            to the reference.
        island_s: How far an offset within the island can be wrong.
    """

    id: int
    name: str
    offset_s: float = 0.0
    uncertainty_s: float = 0.0
    basis: ClockBasis = "reference"
    proof: ClockProof | None = None
    zone_s: float | None = None
    island: int | None = None
    island_s: float = 0.0

    def doubt_s(self, other: Clock) -> float | None:
        """How far a lag between stamps of the two can be wrong, in seconds; None if nothing relates them."""
        if self.id == other.id:
            return 0.0
        if self.island is not None and self.island == other.island:
            return self.island_s + other.island_s
        if "assumed" in (self.basis, other.basis):
            return None
        return self.uncertainty_s + other.uncertainty_s


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """One process of the job as identity resolution sees it; its span is on the reference clock, as `clock` has it."""

    node: str | None
    pid: int | None
    device: int | None = None
    rank: int | None = None
    first_ns: int | None = None
    last_ns: int | None = None
    clock: int = 0

    @property
    def key(self) -> ProcessKey | None:
        """Node and pid, if the pid is known."""
        return None if self.pid is None else (self.node, self.pid)


class Communicator(msgspec.Struct, frozen=True, kw_only=True):
    """One HCCL communicator: its identifier, its size and the ranks whose own lines prove membership."""

    identifier: str
    size: int | None = None
    ranks: tuple[int, ...] = ()


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """Who takes part: processes, clocks, communicators (name → member ranks seen, size)."""

    processes: tuple[Process, ...] = ()
    clocks: tuple[Clock, ...] = ()
    communicators: tuple[Communicator, ...] = ()
    expected_ranks: int | None = None


KERNEL_FORMATS = frozenset({"syslog", "dmesg"})
"""Logs of a host: many programs write them, so what stands in the same file is not of one process."""

ENDS_THE_HOST = ("kernel-panic", "reboot")
"""Subcategories of what ends all processes of a host, of the job or not."""


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that are one failure seen by several layers, or one failure repeated.

    Attributes:
        lead: The finding whose line states the failure.
        signature: Id, or None when no signature knows the lead.
        start_ns: On the reference clock; a timeout stands at its start (stamp - limit). None = unknown.
        waits: It says that somebody else did not come.
        hushed: A logging library printed it below ERROR, or a handler printed it: whoever printed it went on.
        count: Records folded into it.
    """

    id: str
    lead: Finding
    findings: tuple[Finding, ...]
    signature: str | None
    title: Text
    role: Role
    category: Category
    subcategory: str | None = None
    phase: str = "any"
    actor: Actor = Actor()
    time_ns: int | None = None
    start_ns: int | None = None
    waits: bool = False
    hushed: bool = False
    count: int = 1
    step: str | None = None

    @property
    def writer(self) -> Writer:
        """Incidents with the same value are of one process as far as is known."""
        return self.actor.writer(self.lead.source)

    def same_process(self, other: Incident) -> bool:
        """True when both were written by one process as far as the lines tell."""
        mine, theirs = self.actor, other.actor
        if mine.pid is not None and theirs.pid is not None:
            return mine.process == theirs.process
        if mine.rank is not None and theirs.rank is not None:
            return mine.rank == theirs.rank
        if self.lead.format in KERNEL_FORMATS or other.lead.format in KERNEL_FORMATS:
            return False
        return self.lead.source == other.lead.source


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """Incident `cause` can explain incident `effect`; `reason` is given where the kind does not say it."""

    cause: str
    effect: str
    kind: EdgeKind
    reason: Text | None = None


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """A rank or node that the evidence points at, or whose log is missing, and what is needed to know more.

    Attributes:
        logged: Its log is in the bundle: what it did is the question, not where its log is.
    """

    why: Text
    need: Text
    rank: int | None = None
    node: str | None = None
    device: int | None = None
    pid: int | None = None
    logged: bool = False


class Rival(msgspec.Struct, frozen=True):
    """Another incident that could be the root, and why it was not chosen."""

    incident: str
    why_not: Text
    unordered: bool = False
    """It can be as much a cause, and nothing tells which of the two came first."""


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """The graph of incidents, who stands where, and the choice.

    Attributes:
        incidents: In the order of the reference clock, then of the sources.
        places: Incident id → place.
        root: Id of the first cause; None when nothing that is there can be one.
        proven_absence: The suspects are proven by counting (expected against seen), not inferred.
        root_reason: Why a checker chose the root, when the root's own record does not say so itself.
    """

    incidents: tuple[Incident, ...] = ()
    edges: tuple[Edge, ...] = ()
    places: dict[str, Place] = {}
    root: str | None = None
    terminal: str | None = None
    rivals: tuple[Rival, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    proven_absence: bool = False
    root_reason: Text | None = None
    root_proven: bool = False
    """The checker that chose the root counted, it did not infer."""

    def incident(self, incident_id: str | None) -> Incident | None:
        """The incident with that id, or None."""
        return next((incident for incident in self.incidents if incident.id == incident_id), None)
