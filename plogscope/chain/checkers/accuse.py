"""Makes suspects: who, why, and which log would tell more."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from plogscope.chain.checkers.base import JobView
from plogscope.model.chain import Process, Suspect
from plogscope.model.vocabulary import Text
from plogscope.wording import say


def suspect(view: JobView, rank: int, why: Text) -> Suspect:
    """A rank; its node, device and pid are added when its own lines say them."""
    process = process_of_rank(view, rank)
    need = say("suspect.need_log_any_time", who=say("who.rank", rank=rank))
    if process is None:
        return Suspect(rank=rank, why=why, need=need)
    return Suspect(rank=rank, why=why, need=need, node=process.node, device=process.device, pid=process.pid)


def suspects(view: JobView, ranks: Iterable[int], why: Text) -> tuple[Suspect, ...]:
    """The same reason for several ranks, in order."""
    return tuple(suspect(view, rank, why) for rank in sorted(set(ranks)))


def at_fault(view: JobView, ranks: Iterable[int | None], why: Text) -> tuple[Suspect, ...]:
    """Ranks that share one fault that is already proven; nobody, if it is only one: the root names it."""
    wrong = sorted({rank for rank in ranks if rank is not None})
    if len(wrong) <= 1:
        return ()
    need = say("suspect.same_fault")
    return tuple(msgspec.structs.replace(suspect(view, rank, why), need=need) for rank in wrong)


def suspect_place(node: str | None, device: int | None, why: Text) -> Suspect:
    """A place whose rank nothing in the bundle says."""
    who = say("checker.place", node=node or "?", device="?" if device is None else device)
    return Suspect(node=node, device=device, why=why, need=say("suspect.need_log_any_time", who=who))


def process_of_rank(view: JobView, rank: int) -> Process | None:
    """The process that the lines of the bundle give this world rank."""
    return next((one for one in view.cluster.processes if one.rank == rank), None)


def listed(ranks: Iterable[int], limit: int = 16) -> str:
    """Ranks for a sentence: `1, 3, 5` and how many more."""
    ordered = sorted(set(ranks))
    shown = ", ".join(map(str, ordered[:limit]))
    return shown if len(ordered) <= limit else f"{shown} (+{len(ordered) - limit})"
