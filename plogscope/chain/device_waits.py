"""Kernels that exchange data with other ranks: when such a kernel runs into its time limit, it waited for a peer."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from plogscope.model.chain import Incident

_COLLECTIVE = re.compile(
    r"(?:^|_)aiv_|Moe\w{0,20}(?:Dispatch|Combine)|AllToAll|AlltoAll|AllGatherMatmul|MatmulAllReduce"
)
TIME_LIMIT = "operator/aicore-timeout-or-trap"


def mark_device_waits(incidents: Sequence[Incident]) -> list[Incident]:
    """Incidents with the failed kernels that only waited turned into waits of a collective.

    Such a failure names the kernel, and the core's report says time limit or trap with no error bit set. With an error
    bit (an address out of range) the kernel failed by itself and stays what it is.
    """
    return [_as_wait(one) if _waited(one) else one for one in incidents]


def _waited(incident: Incident) -> bool:
    kernels = [finding.fields.get("kernel", "") for finding in incident.findings]
    return any(map(_COLLECTIVE.search, kernels)) and any(one.signature == TIME_LIMIT for one in incident.findings)


def _as_wait(incident: Incident) -> Incident:
    return msgspec.structs.replace(
        incident, role="symptom", waits=True, category="communication", subcategory="collective-kernel"
    )
