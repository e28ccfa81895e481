"""Small incidents, signatures and clocks."""

from __future__ import annotations

from plogscope.model.chain import Clock, Incident
from plogscope.model.record import Actor, Finding
from plogscope.model.signature import ChainHints, Explains, Field, Match, Signature
from plogscope.model.vocabulary import Category, Role, Text

SECOND_NS = 1_000_000_000
START_NS = 1_770_000_000 * SECOND_NS
ONE_CLOCK = (Clock(id=0, name="a/plog"), Clock(id=1, name="b/plog", uncertainty_s=5.0, basis="proven"))
TEXT = Text("something happened", "发生了某事")


def finding(
    signature: str | None,
    at_s: float | None = 0.0,
    *,
    source: int = 0,
    line: int = 1,
    clock: int = 0,
    rank: int | None = None,
    format: str = "plog",  # noqa: A002 - the field's name
    **fields: object,
) -> Finding:
    moment = None if at_s is None else START_NS + int(at_s * SECOND_NS)
    return Finding(
        signature=signature,
        source=source,
        line=line,
        quote=f"line {line}",
        record_line=line,
        record_end_line=line,
        offset=0,
        format=format,
        level="ERROR",
        time_ns=moment,
        order_ns=moment,
        clock=clock,
        actor=Actor(node="a" if clock == 0 else "b", pid=40 + source, rank=rank),
        fields={name: str(value) for name, value in fields.items()},
    )


def incident(
    name: str,
    lead: Finding,
    role: Role = "cause",
    *,
    waits: bool = False,
    category: Category = "device",
    subcategory: str | None = None,
) -> Incident:
    return Incident(
        id=name,
        lead=lead,
        findings=(lead,),
        signature=lead.signature,
        title=TEXT,
        role=role,
        category=category,
        subcategory=subcategory,
        actor=lead.actor,
        time_ns=lead.order_ns,
        start_ns=lead.order_ns,
        waits=waits,
    )


def signature(
    name: str,
    role: Role = "cause",
    *,
    explains: tuple[Explains, ...] = (),
    extract: dict[str, Field] | None = None,
    waits: bool = False,
    subcategory: str | None = None,
) -> Signature:
    return Signature(
        id=name,
        title=TEXT,
        status="stable",
        category="device",
        subcategory=subcategory,
        role=role,
        match=Match(pattern="x"),
        extract=extract or {},
        chain=ChainHints(explains=explains, waits=waits),
    )
