"""Findings → incidents: one failure seen by several layers of a process, or one failure repeated, is one incident."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from plogscope.formats.prefixes import clean, peel
from plogscope.formats.registry import classify
from plogscope.formats.stamps import SECOND_NS
from plogscope.model.chain import ENDS_THE_HOST, KERNEL_FORMATS, Incident
from plogscope.model.record import BELOW_ERROR, Actor, Finding, Writer
from plogscope.model.signature import Code, Signature
from plogscope.model.vocabulary import Category, Role, Text

JOIN_WITHIN_NS = 15 * SECOND_NS
"""The host polls the device's ring buffer for up to about 12 s, so the layers of one fault can be that far apart."""

JOIN_WITHIN_LINES = 60
"""In a source without times: how far the lines of one failure lie apart."""

MAX_UNKNOWN_PER_PROCESS = 80
MAX_KNOWN_PER_PROCESS = 400
"""What signatures know is never crowded out by what they do not; of unknown errors the first and the last few stay."""

KEPT_LAST_UNKNOWN = 10

UNWIND_NS = SECOND_NS // 20
UNWIND_LINES = 12
"""A call stack that unwinds prints its layers at once, the deepest first."""

LOOK_BACK = 12
"""How many incidents of a writer a finding is compared with."""

CodeLookup = Callable[[str, str], Code | None]
"""(family, code) → row of the code table."""

_STRENGTH: dict[str, int] = {"cause": 0, "either": 1, "symptom": 2, "teardown": 3}

UNKNOWN_TITLE = Text(en="Unknown error", zh="未知错误")
CUT_TITLE = Text(en="A traceback without the exception that ends it", zh="没有结尾异常行的 traceback")

TORN_TITLE = Text(en="An error of whose message hardly anything is left", zh="错误消息几乎全部缺失")
TORN_WITHIN = 16
"""Characters: of a longer message enough is left to look for it."""


class Judged(msgspec.Struct, frozen=True):
    """A finding with the role and category that its signature or code table gives it."""

    finding: Finding
    signature: Signature | None
    role: Role
    category: Category
    title: Text
    weight: int
    hushed: bool = False
    """Printed below ERROR by a logging library, or a condition of the host that names no process of the job."""


PROGRAM = "name"
"""Field with the name of the program that a kernel's line is about."""

_OF_JOBS = re.compile(r"python|pt_|ray|vllm|mindie|torchrun|msrun|deepspeed|mpirun|atc\b", re.IGNORECASE)
"""How the programs of jobs are called."""

HUSHING_FORMATS = frozenset({"vllm", "py-logging", "torch-log", "mindie", "mindspore"})


def judge(finding: Finding, signatures: Mapping[str, Signature], lookup: CodeLookup) -> Judged:
    """Role and category of one finding: of the code it names, if its signature leaves that to the code table."""
    signature = signatures.get(finding.signature or "")
    if finding.is_bare_traceback:
        return Judged(finding, None, "symptom", "unknown", CUT_TITLE, -100)
    if signature is None and _is_torn(finding):
        return Judged(finding, None, "symptom", "unknown", TORN_TITLE, -100)
    if signature is None:
        return Judged(finding, None, "either", "unknown", UNKNOWN_TITLE, -100)
    role, category, title = signature.role, signature.category, signature.title
    if signature.chain.codes and "code" in finding.fields:
        code = lookup(signature.chain.codes, finding.fields["code"])
        if code is not None:
            role, category = code.role, code.category
            title = Text(en=f"{code.code} {code.title.en}", zh=f"{code.code} {code.title.zh}")
    names_a_process = any(signature.extract[name].meaning == "pid" for name in finding.fields)
    program = finding.fields.get(PROGRAM)
    of_another = names_a_process and (category == "host" or (program is not None and not _OF_JOBS.match(program)))
    hushed = _printed_below_error(finding) or (
        finding.format in KERNEL_FORMATS
        and (of_another or (category == "host" and finding.actor.pid is None))
        and signature.subcategory not in ENDS_THE_HOST
    )
    return Judged(finding, signature, role, category, title, signature.chain.weight, hushed)


def _is_torn(finding: Finding) -> bool:
    """True for a message that breaks off within one of its first characters."""
    return finding.quote.endswith("\ufffd") and len(finding.template) <= TORN_WITHIN


FRAMED_FORMATS = ("exception", "traceback")
"""A logging library can put its own head round these: the level in it is that of whoever caught the exception."""


def _printed_below_error(finding: Finding) -> bool:
    if finding.format not in FRAMED_FORMATS:
        return finding.format in HUSHING_FORMATS and finding.level in BELOW_ERROR
    frame = classify(peel(clean(finding.quote.encode("utf-8", "replace")))[1])
    return frame is not None and frame.format in HUSHING_FORMATS and frame.level in BELOW_ERROR


class _Group:
    """Findings that became one incident, while it grows."""

    def __init__(self, first: Judged) -> None:
        self.members = [first]
        self.identity: dict[str, str] = {}
        self.learn(first)

    @property
    def last(self) -> Finding:
        return self.members[-1].finding

    def learn(self, judged: Judged) -> None:
        signature = judged.signature
        if signature is not None:
            for name in signature.chain.identity:
                if judged.finding.fields.get(name):
                    self.identity.setdefault(signature.extract[name].meaning, judged.finding.fields[name])

    def fits(self, judged: Judged) -> bool:
        """True when nothing that both name tells them apart."""
        signature = judged.signature
        if signature is None:
            return True
        named = {
            signature.extract[name].meaning: judged.finding.fields[name]
            for name in signature.chain.identity
            if judged.finding.fields.get(name)
        }
        return all(self.identity.get(meaning, value) == value for meaning, value in named.items())

    def states_reason_of(self, judged: Judged) -> bool:
        """True when this is an unknown error and its thread unwinds: more unknown errors, then a trail message."""
        if judged.signature is not None and not judged.signature.chain.trail:
            return False
        if any(one.signature is not None and not one.signature.chain.trail for one in self.members):
            return False
        last, finding = self.last, judged.finding
        threads = {last.actor.tid, finding.actor.tid} - {None}
        if finding.format != "plog" or last.source != finding.source or len(threads) > 1:
            return False
        gap = None if last.time_ns is None or finding.time_ns is None else finding.time_ns - last.time_ns
        return 0 <= finding.line - last.line <= UNWIND_LINES and (gap is None or 0 <= gap <= UNWIND_NS)

    def takes(self, judged: Judged) -> bool:
        """True when the finding is another layer, or a repeat, of this failure in the same file.

        Other files that tell of it stay incidents of their own: edges connect them.
        """
        mine = self.members[0]
        if not _near(self.last, judged.finding) or not self.fits(judged) or mine.hushed != judged.hushed:
            return False
        if self.states_reason_of(judged):
            return True
        if judged.signature is None or mine.signature is None:
            return judged.signature is mine.signature and judged.finding.template == mine.finding.template
        if judged.finding.source == self.last.source:
            families = {one.signature.chain.joins for one in self.members if one.signature is not None}
            if judged.signature.chain.joins is not None and judged.signature.chain.joins in families:
                return True
        return judged.signature.id == mine.signature.id and judged.role == mine.role


def build_incidents(judged: Sequence[Judged], step_of: Mapping[int, str | None]) -> list[Incident]:
    """Incidents in the order of their first findings.

    Args:
        judged: Findings that can stand in a chain (no progress, context or noise), in order.
        step_of: Five-step directory by source id.
    """
    by_writer: dict[Writer, list[Judged]] = defaultdict(list)
    for one in judged:
        by_writer[one.finding.writer].append(one)
    groups: list[_Group] = []
    for members in by_writer.values():
        mine: list[_Group] = []
        for one in members:
            home = next((group for group in reversed(mine[-LOOK_BACK:]) if group.takes(one)), None)
            if home is not None:
                home.members.append(one)
                home.learn(one)
            else:
                mine.append(_Group(one))
        groups.extend(_bounded(mine))
    groups.sort(key=lambda group: place_key(group.members[0].finding))
    return [_incident(f"i{number}", group, step_of) for number, group in enumerate(groups, 1)]


def _bounded(groups: list[_Group]) -> list[_Group]:
    """The groups of one writer within their bounds, in order."""
    unknown = [group for group in groups if group.members[0].signature is None and len(group.members) == 1]
    dropped = set(map(id, unknown[MAX_UNKNOWN_PER_PROCESS - KEPT_LAST_UNKNOWN : -KEPT_LAST_UNKNOWN]))
    if len(unknown) <= MAX_UNKNOWN_PER_PROCESS:
        dropped = set()
    kept = [group for group in groups if id(group) not in dropped]
    return kept[: MAX_KNOWN_PER_PROCESS + MAX_UNKNOWN_PER_PROCESS]


def place_key(finding: Finding) -> tuple[int, int, int]:
    """Order of findings: time on the reference clock, then source and line."""
    time_ns = finding.order_ns if finding.order_ns is not None else (1 << 62)
    return (time_ns, finding.source, finding.line)


def _near(earlier: Finding, later: Finding) -> bool:
    if earlier.source == later.source and abs(later.line - (earlier.last_line or earlier.line)) <= JOIN_WITHIN_LINES:
        return True
    if earlier.order_ns is None or later.order_ns is None:
        return False
    return abs(later.order_ns - earlier.order_ns) <= JOIN_WITHIN_NS


def _incident(incident_id: str, group: _Group, step_of: Mapping[int, str | None]) -> Incident:
    members = group.members
    known = [one for one in members if one.signature is not None] or members
    strongest = min(known, key=lambda one: _STRENGTH.get(one.role, 9))
    eligible = [one for one in known if one.role == strongest.role]
    lead = max(eligible, key=lambda one: (one.weight, one.finding.nearness))
    reason = members[0] if members[0].signature is None and lead.signature is not None else None
    first = min(members, key=lambda one: place_key(one.finding))
    limit_s = next((s for one in members if (s := waited_s(one)) is not None), None)
    start = first.finding.order_ns
    if start is not None and limit_s is not None:
        start -= int(limit_s * SECOND_NS)
    signature = lead.signature
    return Incident(
        id=incident_id,
        lead=reason.finding if reason is not None else lead.finding,
        findings=tuple(one.finding for one in members),
        signature=signature.id if signature else None,
        title=lead.title,
        role="either" if reason is not None and lead.role == "symptom" else lead.role,
        category=lead.category,
        subcategory=signature.subcategory if signature else None,
        phase=signature.phase if signature else "any",
        actor=_actor(members),
        time_ns=lead.finding.order_ns,
        start_ns=start,
        hushed=all(one.hushed for one in members),
        waits=any(one.signature is not None and one.signature.chain.waits for one in members),
        count=sum(one.finding.count for one in members),
        step=step_of.get(lead.finding.source),
    )


def waited_s(judged: Judged) -> float | None:
    """How long the message says that it waited before it was printed, in seconds; None if it does not say."""
    signature = judged.signature
    if signature is None or not signature.chain.waits:
        return None
    for name, field in signature.extract.items():
        text = judged.finding.fields.get(name, "")
        scale = {"limit_s": 1.0, "limit_ms": 0.001, "elapsed_ms": 0.001}.get(field.meaning)
        if scale is not None and text.replace(".", "", 1).isdecimal():
            return float(text) * scale
    return None


def _actor(members: Sequence[Judged]) -> Actor:
    """The first thing that any member says about each trait of the writer."""
    traits: dict[str, object] = {}
    for one in members:
        for name in Actor.__struct_fields__:
            value = getattr(one.finding.actor, name)
            if value is not None:
                traits.setdefault(name, value)
    return msgspec.convert(traits, Actor)
