"""Small sources and findings."""

from __future__ import annotations

from collections.abc import Mapping

from plogscope.model.record import Actor, Finding
from plogscope.model.source import Bundle, Source, SourceKind

SECOND_NS = 1_000_000_000
START_NS = 1_770_000_000 * SECOND_NS


def source(number: int, kind: SourceKind, node: str | None, pid: int | None = None) -> Source:
    path = f"{node or 'all'}/{kind}-{number}.log"
    return Source(id=number, path=path, location=path, kind=kind, size=1, node=node, pid=pid)


def bundle(*sources: Source) -> Bundle:
    return Bundle(path="b", layout="loose", sources=sources)


def finding(
    signature: str | None,
    where: Source,
    at_s: float | None = 0.0,
    /,
    *,
    line: int = 1,
    level: str = "ERROR",
    format: str | None = None,  # noqa: A002 - the field's name
    pid: int | None = None,
    rank: int | None = None,
    local_rank: int | None = None,
    node: str | None = None,
    says: Mapping[str, object] | None = None,
    **fields: object,
) -> Finding:
    """A finding; `says` holds extracted fields whose names are also those of traits of the writer."""
    return Finding(
        signature=signature,
        source=where.id,
        line=line,
        quote=f"line {line}",
        record_line=line,
        record_end_line=line,
        offset=0,
        format=format or ("plog" if where.kind == "plog" else "exception"),
        level=level,
        time_ns=None if at_s is None else START_NS + int(at_s * SECOND_NS),
        time_quality="exact",
        actor=Actor(
            node=node if node is not None else where.node,
            pid=pid if pid is not None else where.pid,
            rank=rank,
            local_rank=local_rank,
        ),
        fields={name: str(value) for name, value in {**fields, **(says or {})}.items()},
    )
