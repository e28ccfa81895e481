"""What a checker sees and what it says."""

from __future__ import annotations

from typing import Literal

import msgspec

from plogscope.model.chain import Cluster, Incident, Suspect
from plogscope.model.record import Actor, Finding
from plogscope.model.vocabulary import Text


class JobView(msgspec.Struct, frozen=True):
    """The failing job: incidents that were not recovered, all findings (context included), who takes part."""

    incidents: tuple[Incident, ...]
    findings: tuple[Finding, ...]
    cluster: Cluster


class CheckerResult(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's word: a first cause (`root`, `end`), ranks nobody heard from (`suspects`), or no cause (`aftermath`).

    An `end` counts only where nothing else can be the cause.

    Attributes:
        proven: The absence was counted (expected against seen), not inferred.
        finding: The line that proves it.
        suspects: Of a root: all the ranks that are wrong, when there are several.
        covers: Of a root: incidents that the rule compared with each other, none of them speaks against its choice. Of
            an aftermath: what belongs to it.
        actor: Whose failure it is, when another rank states it.
    """

    rule: str
    kind: Literal["root", "end", "suspects", "aftermath"]
    reason: Text
    incident: str | None = None
    suspects: tuple[Suspect, ...] = ()
    proven: bool = False
    finding: Finding | None = None
    covers: tuple[str, ...] = ()
    actor: Actor | None = None
