"""The closed word lists of the report contract: roles, places, statuses, categories, routes.

Code, JSON, grammar files and reports use these words and no others.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

Role = Literal["cause", "either", "symptom", "teardown", "context", "progress", "noise"]
"""What one signature hints: `cause` needs nothing before it, `symptom` always has something behind it,
`either` can be both; `teardown`, `noise` and `context` never fail anything; `progress` clears what came before."""

Place = Literal["root", "cascade", "witness", "teardown", "recovered"]
"""Where an incident stands in the chain: a conclusion, unlike `Role`."""

Status = Literal["explained", "insufficient", "no-failure"]
Category = Literal[
    "operator", "communication", "stream_event", "memory", "device",
    "host", "compile", "accuracy", "performance", "unknown",
]  # fmt: skip
Route = Literal["compile-error", "runtime-error", "accuracy", "performance", "environment", "insufficient", "none"]
ActionKind = Literal["collect", "check", "fix", "workaround"]
ConfidenceLevel = Literal["high", "medium", "low"]
TimeQuality = Literal["exact", "no_year", "no_date", "inherited", "none"]
Symptom = Literal["crash", "mismatch", "slow"]
EdgeKind = Literal["wraps", "poisons", "starves", "kills", "signature", "checker", "repeats"]
"""Why one incident can explain another: a layer above it, a broken device, a wait for a peer, a launcher's signal,
a signature's `explains`, a checker's rule, or the same failure printed again."""

ClockBasis = Literal["reference", "proven", "assumed"]
ClockProof = Literal["communicator", "epochs", "errors", "spans", "host"]
"""What proves a clock's offset: communicators that came up on both nodes, instants in UTC that lines state, errors of
one process in both of its logs, logs that begin and end together, system logs in step with failing processes."""

ROLES: tuple[str, ...] = get_args(Role)
PLACES: tuple[str, ...] = get_args(Place)
STATUSES: tuple[str, ...] = get_args(Status)
CATEGORIES: tuple[str, ...] = get_args(Category)
ACTION_KINDS: tuple[str, ...] = get_args(ActionKind)

STEP_NAMES: tuple[str, ...] = (
    "step1-eager",
    "step2-compile-eager",
    "step3-compile-aot_eager",
    "step4-npugraph_ex-force_eager",
    "step5-npugraph_ex",
)
"""The directories of a five-step run, in the order in which the steps run."""


class Text(msgspec.Struct, frozen=True):
    """Words for people, in English and Chinese. Log lines and codes are never in here translated."""

    en: str
    zh: str
