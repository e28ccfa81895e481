"""The verdict as the sentence that a support engineer would say: who failed first, when, how, and who only suffered.

It decides nothing: the judgement is given, and every value stands in a record of the chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from plogscope.chain.clear import is_condition
from plogscope.model.chain import Chain, Incident
from plogscope.model.record import Finding
from plogscope.model.signature import Field, Signature
from plogscope.model.vocabulary import Text
from plogscope.verdict import Judgement
from plogscope.wording import say, spans

QUOTED = 160
_DETAILS = ("error_text", "kernel", "op", "module", "variable", "size_bytes", "path")
"""Meanings of the fields that say most about a failure, the most telling first."""
_GIB = 1 << 30
SIGNAL_NAME = Field(type="text", meaning="signal")


def state_verdict(chain: Chain, judgement: Judgement, signatures: Mapping[str, Signature]) -> Text:
    """The first sentence of every view."""
    root = chain.incident(chain.root)
    if judgement.status == "explained" and root is not None:
        return _explained(chain, root, judgement, signatures)
    if judgement.status == "insufficient" and chain.suspects:
        first = chain.suspects[0]
        ranks = {one.rank for one in chain.suspects if one.rank is not None}
        if _named(first.rank, first.why) and len(ranks) > 1 and not all(_named(rank, first.why) for rank in ranks):
            return say("said.insufficient_several", ranks=spans(ranks), why=first.why)
        if _named(first.rank, first.why):
            return say("said.insufficient_suspects", why=first.why)
    return judgement.statement


def _named(rank: int | None, why: Text) -> bool:
    """Whether the reason says itself whom it is about."""
    return rank is not None and f"rank {rank}" in why.en.lower()


def _explained(chain: Chain, root: Incident, judgement: Judgement, signatures: Mapping[str, Signature]) -> Text:
    after = _joined(_after(chain, root), _ended(chain, root, signatures))
    if chain.root_reason is not None:
        return say("said.checker", reason=chain.root_reason, after=after)
    values = {"who": _spaced(_who(root)), "clock": _clock(root.lead), "after": after}
    if root.signature is None:
        return say("said.unknown", quote=_cut(root.lead.quote), **values)
    detail = _detail(root, signatures[root.signature])
    if is_condition(root) and not _breaks(chain, root):
        return say("said.condition", title=root.title, detail=detail, **values)
    key = "said.explained" if judgement.confidence.level == "high" else "said.likely"
    if root.actor.rank is None and root.actor.pid is None:
        key += "_job"
    return say(key, title=root.title, detail=detail, **values)


def _breaks(chain: Chain, root: Incident) -> bool:
    """Whether anything failed: what is slow or wrong can be all that there is to say of a run that came to its end."""
    others = [one for one in chain.incidents if one.id != root.id and chain.places.get(one.id) in FAILED]
    return any(not is_condition(one) for one in others)


FAILED = ("cascade", "witness")
"""Places of what was not got over."""


def _after(chain: Chain, root: Incident) -> Text:
    """Who waited for it, and how many findings follow from it."""
    incidents = {one.id: one for one in chain.incidents}
    waited = {
        rank
        for edge in chain.edges
        if edge.kind == "starves" and chain.places.get(edge.effect) == "cascade"
        for rank in [incidents[edge.effect].actor.rank]
        if rank is not None and rank != root.actor.rank
    }
    others = sum(1 for place in chain.places.values() if place == "cascade")
    if waited:
        return say("said.waited" if len(waited) > 1 else "said.waited_one", ranks=spans(sorted(waited)))
    if others:
        return say("said.others" if others > 1 else "said.others_one", count=others)
    return Text("", "")


def _ended(chain: Chain, root: Incident, signatures: Mapping[str, Signature]) -> Text:
    """The ranks that neither failed nor waited: all that is said about them is the signal that ended them."""
    told: dict[int, set[str]] = {}
    for one in chain.incidents:
        if one.actor.rank is not None and chain.places.get(one.id) != "recovered":
            told.setdefault(one.actor.rank, set()).add(_signal(one, signatures))
    ended = {rank: words for rank, words in told.items() if "" not in words and rank != root.actor.rank}
    if not ended:
        return Text("", "")
    key = "said.ended" if len(ended) > 1 else "said.ended_one"
    return say(key, ranks=spans(ended), signal="/".join(sorted(set().union(*ended.values()))))


def _signal(incident: Incident, signatures: Mapping[str, Signature]) -> str:
    """The signal by which a record of the teardown says that a process ended; empty for any other record."""
    signature = signatures.get(incident.signature or "")
    if signature is None or signature.role != "teardown":
        return ""
    stated = incident.lead.fields.items()
    return next((value for name, value in stated if value and signature.extract[name] == SIGNAL_NAME), "")


def _joined(first: Text, second: Text) -> Text:
    return Text(first.en + second.en, first.zh + second.zh)


def _who(root: Incident) -> Text:
    actor = root.actor
    on = say("said.on", node=actor.node) if actor.node else Text("", "")
    if actor.rank is not None:
        return say("said.rank", rank=actor.rank, on=on)
    if actor.pid is not None:
        device = say("said.device", device=actor.device) if actor.device is not None else Text("", "")
        return say("said.process", pid=actor.pid, device=device, on=on)
    return say("said.job", on=on)


def _spaced(who: Text) -> Text:
    """A space between a number or a Latin word and the Chinese that follows it."""
    return Text(who.en, f"{who.zh} " if who.zh[-1:].isascii() else who.zh)


def _clock(lead: Finding) -> Text:
    """The time of day as the log prints it; a line without a stamp stands after the one before it that has one."""
    if lead.time_ns is None or lead.before:
        return Text("", "")
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=lead.time_ns // 1000)  # noqa: DTZ001 - local, zone unknown
    except OverflowError:
        return Text("", "")
    return say("said.since" if lead.time_quality == "inherited" else "said.at", clock=moment.strftime("%H:%M:%S"))


def _detail(root: Incident, signature: Signature) -> Text:
    stated: dict[str, str] = {
        signature.extract[name].meaning: value for name, value in reversed(root.lead.fields.items()) if value
    }
    for meaning in _DETAILS:
        value = stated.get(meaning)
        if value and value not in root.title.en:
            if meaning == "size_bytes":
                return say("said.size_bytes", value=f"{int(value) / _GIB:.2f}") if value.isdecimal() else Text("", "")
            return say(f"said.{meaning}", value=_cut(value))
    return Text("", "")


def _cut(text: str) -> str:
    line = text.strip()
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"
