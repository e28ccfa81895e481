"""The report, schema `plogscope.report/1`: the one document of which every output is a view.

Field names and values are a contract with users and agents: fields may be added, none may change its meaning.
The JSON Schema is generated from these classes (`json_schema`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from plogscope.model.vocabulary import (
    ActionKind,
    Category,
    ClockBasis,
    ClockProof,
    ConfidenceLevel,
    EdgeKind,
    Place,
    Route,
    Status,
    Text,
    TimeQuality,
)

SCHEMA = "plogscope.report/1"


class Tool(msgspec.Struct, frozen=True):
    """Which program with which knowledge wrote the report."""

    name: str
    version: str
    grammar_digest: str


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the bundle. `skipped` is the reason why it was not read, else None."""

    path: str
    kind: str
    node: str | None = None
    pid: int | None = None
    rank: int | None = None
    device: int | None = None
    bytes: int = 0
    lines: int = 0
    records: int = 0
    unparsed: int = 0
    first_time: str | None = None
    last_time: str | None = None
    skipped: str | None = None


class BundleEntry(msgspec.Struct, frozen=True):
    """What was analysed."""

    path: str
    layout: str
    files: list[FileEntry]


class StepEntry(msgspec.Struct, frozen=True):
    """One of the five steps: passed, assumed-passed, failed, not-run, incomplete or gap."""

    name: str
    status: str
    exit_code: int | None


class MissingEntry(msgspec.Struct, frozen=True):
    """What is missing, why it matters and how to get it (a command where there is one)."""

    what: Text
    why: Text
    how: str


class LogEntry(msgspec.Struct, frozen=True):
    """A log that was collected and its key lines."""

    file: str
    lines: list[int]


class InputEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One of the six things a diagnosis wants to know before it starts.

    `item`: script, versions, shapes, features (streams, custom and in-place operators), symptom, stack;
    `state`: present, missing or unknown; `file` and `line` are where it stands.
    """

    item: str
    state: str
    detail: Text
    file: str | None = None
    line: int | None = None


class Handoff(msgspec.Struct, frozen=True, kw_only=True):
    """What the diagnosis that takes over needs; it names a route and no root cause."""

    skill: str
    rule: str
    rests_on: str
    first_failed_step: str | None
    notes: list[Text] = []
    logs: list[LogEntry] = []
    kept_options: list[str] = []
    missing: list[MissingEntry] = []
    inputs: list[InputEntry] = []


class Triage(msgspec.Struct, frozen=True, kw_only=True):
    """The route, the rule that chose it, and the state of a five-step run (`steps` is empty elsewhere)."""

    route: Route
    rule: str
    rests_on: str
    first_failed_step: str | None = None
    steps: list[StepEntry] = []
    complete: bool = False
    missing: list[MissingEntry] = []
    handoff: Handoff | None = None
    inputs: list[InputEntry] = []


class LineSpan(msgspec.Struct, frozen=True):
    """First and last line of the record that a line stands in, 1-based."""

    line: int
    end_line: int


class RootCause(msgspec.Struct, frozen=True, kw_only=True):
    """The line that states the first cause. `quote` is that line, cut at 500 characters with `…`.

    `code` is the code as printed; `code_name` is how people ask `plogscope explain` for it (`drv:6`), where the code
    alone says nothing and its line tells which kind it is.
    """

    signature: str | None
    title: Text
    code: str | None
    file: str
    line: int
    quote: str
    record: LineSpan
    time: str | None
    node: str | None
    pid: int | None
    device: int | None
    rank: int | None
    fields: dict[str, str] = {}
    time_quality: TimeQuality = "exact"
    """`inherited`: the line has no stamp, and `time` is that of the last stamped line before it."""
    code_name: str | None = None


class Alternative(RootCause, frozen=True, kw_only=True):
    """A rival of the root cause and why it was not chosen."""

    why_not: Text


class SuspectEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A rank or node that the evidence points at, or whose log is missing."""

    rank: int | None
    node: str | None
    device: int | None
    pid: int | None
    why: Text
    need: Text


class Confidence(msgspec.Struct, frozen=True):
    """How sure the verdict is.

    `high`: first-hand record of the cause, or a missing rank proven by counting; `medium`: one step inferred;
    `low`: a single witness or an unknown error.
    """

    level: ConfidenceLevel
    why: list[Text]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. Unless `status` is `explained` there is no root cause and no alternative."""

    status: Status
    category: Category
    subcategory: str | None
    confidence: Confidence
    statement: Text
    root_cause: RootCause | None = None
    suspects: list[SuspectEntry] = []
    alternatives: list[Alternative] = []


class ChainEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One incident and its place. `explained_by` lists ids of this chain; `reason` says why the first of them does."""

    id: str
    role: Place
    signature: str | None
    title: Text
    file: str
    line: int
    quote: str
    record: LineSpan
    time: str | None
    start_time: str | None
    node: str | None
    pid: int | None
    device: int | None
    rank: int | None
    count: int
    explained_by: list[str]
    reason: Text | None
    offset_s: float = 0.0
    """`time` is as printed; `time + offset_s` and `start_time` stand on the reference clock of the report."""
    relation: EdgeKind | None = None
    """How the first of `explained_by` explains this one: `starves` = it waited for a peer, `wraps` = a layer above."""
    time_quality: TimeQuality = "exact"
    """`inherited`: the line has no stamp, and `time` is that of the last stamped line before it."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One quoted line with up to five lines before and after it."""

    id: str
    file: str
    line: int
    quote: str
    why: Text
    context_before: list[str]
    context_after: list[str]


class NextAction(msgspec.Struct, frozen=True, kw_only=True):
    """What to do. The first action of a report is the smallest."""

    kind: ActionKind
    action: Text
    command: str | None = None
    env: dict[str, str] = {}
    repro: str | None = None
    why: Text | None = None


class TimelineRank(msgspec.Struct, frozen=True, kw_only=True):
    """Counts of one rank (or of one file, if ranks are unknown) per bin, and marks (bin, chain id)."""

    label: str
    rank: int | None
    counts: list[list[int]]
    marks: list[tuple[int, str]]


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Kept records per rank and time bin. `counts[level][bin]`, levels as in `levels`."""

    t0: str | None
    bin_s: float
    ranks: list[TimelineRank]
    levels: list[str]


class RankEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One rank (or process of unknown rank).

    `first_error` is the first one with a stamp; only where no error has one it is inherited from the line before.
    """

    rank: int | None
    node: str | None
    device: int | None
    pid: int | None
    first_error: str | None
    last_seen: str | None
    silent_since: str | None
    first_error_quality: TimeQuality = "exact"


class CommunicatorEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One communicator."""

    identifier: str
    size: int | None
    ranks: list[int]


class ClockEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One clock and how its offset on the reference clock is known.

    `proof`: what proves the offset; `zone_s`: its local time minus UTC, where lines prove that.
    """

    clock: str
    offset_s: float
    uncertainty_s: float | None
    basis: ClockBasis
    proof: ClockProof | None = None
    zone_s: float | None = None


class ClusterEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Nodes, ranks, communicators and clocks of the job."""

    nodes: list[str]
    ranks: list[RankEntry]
    communicators: list[CommunicatorEntry]
    clocks: list[ClockEntry]


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Versions and variables as the logs state them, null where they do not. `source` maps a name to file:line."""

    torch: str | None = None
    torch_npu: str | None = None
    torchair: str | None = None
    cann: str | None = None
    driver: str | None = None
    soc: str | None = None
    python: str | None = None
    os: str | None = None
    env: dict[str, str] = {}
    source: dict[str, str] = {}


class UnknownError(msgspec.Struct, frozen=True, kw_only=True):
    """An ERROR record that no signature knows: masked text, how often, first place."""

    template: str
    count: int
    file: str
    line: int


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What was read and what was not. Numbers are lines unless the name says otherwise.

    `read`: lines read; `parsed`: lines that belong to a record of a known format; `unparsed`: lines of no known
    format; `skipped`: paths not read, with the reason; `folded`: records that repeat a kept one.
    """

    read: int
    parsed: int
    unparsed: int
    skipped: list[dict[str, str]]
    folded: int
    unknown_errors: list[UnknownError]
    notes: list[Text]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole report."""

    schema: str
    tool: Tool
    bundle: BundleEntry
    triage: Triage
    verdict: Verdict
    chain: list[ChainEntry]
    evidence: list[Evidence]
    next_actions: list[NextAction]
    timeline: Timeline
    cluster: ClusterEntry
    environment: Environment
    coverage: Coverage
    generated: str = ""
    """UTC time of writing; the only field that differs between two runs on the same input."""
    run_id: str = ""
    """Name of what was analysed and with which rules; the views compute it from the files when it is empty."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a report."""
    return msgspec.json.schema(Report)
