from __future__ import annotations

import msgspec

from plogscope.chain.device_waits import TIME_LIMIT, mark_device_waits
from plogscope.model.chain import Incident
from tests.chain.things import finding, incident


def failed(kernel: str, second: str | None) -> Incident:
    lead = finding("operator/aicore-kernel-failed", kernel=kernel)
    others = () if second is None else (finding(second, line=2),)
    return msgspec.structs.replace(incident("i1", lead, category="operator"), findings=(lead, *others))


def test_a_dispatch_kernel_at_its_time_limit_waited_for_a_peer() -> None:
    (one,) = mark_device_waits([failed("MoeDistributeDispatchV2_71_mix_aiv", TIME_LIMIT)])

    assert (one.role, one.waits, one.category) == ("symptom", True, "communication")


def test_a_dispatch_kernel_with_an_error_bit_failed_by_itself() -> None:
    one = failed("MoeDistributeDispatchV2_71_mix_aiv", "operator/aicore-address-out-of-range")

    assert mark_device_waits([one]) == [one]


def test_any_other_kernel_at_its_time_limit_failed_by_itself() -> None:
    one = failed("MatMulV3_4f1c_2", TIME_LIMIT)

    assert mark_device_waits([one]) == [one]
