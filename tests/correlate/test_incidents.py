from __future__ import annotations

import msgspec

from plogscope.correlate.incidents import Judged, build_incidents, judge
from plogscope.data import grammar_root
from plogscope.grammar.compile import read_grammar
from plogscope.model.chain import Incident
from plogscope.model.record import Finding
from tests.correlate.things import finding, source

ROOT = grammar_root()
assert ROOT is not None
SIGNATURES = read_grammar(ROOT).by_id()
PLOG = source(0, "plog", "a", 40)


def record(signature: str | None, line: int, at_s: float) -> Finding:
    return msgspec.structs.replace(
        finding(signature, PLOG, at_s, line=line), template=f"t{line}", order_ns=int(at_s * 1e9)
    )


def built(*findings: Finding) -> list[Incident]:
    judged: list[Judged] = [judge(one, SIGNATURES, lambda _family, _code: None) for one in findings]
    return build_incidents(judged, {})


def test_the_reason_before_a_tiling_step_that_failed_can_be_a_cause_of_the_kind_of_the_step() -> None:
    (one,) = built(record(None, 31, 1.0), record("operator/tiling-step-failed", 32, 1.003))

    assert (one.lead.line, one.role, one.category) == (31, "either", "operator")


def test_a_tiling_step_that_failed_without_a_reason_is_a_symptom() -> None:
    (one,) = built(record("operator/tiling-step-failed", 32, 1.003))

    assert (one.lead.line, one.role) == (32, "symptom")


def test_the_reason_before_the_task_daemons_refusal_stands_for_it() -> None:
    (one,) = built(record(None, 7, 1.0), record(None, 8, 1.001), record("device/tsd-open-failed", 9, 1.002))

    assert (one.lead.line, one.signature) == (7, "device/tsd-open-failed")


def test_an_error_long_before_it_is_another_failure() -> None:
    assert [one.lead.line for one in built(record(None, 7, 1.0), record("device/tsd-open-failed", 9, 9.0))] == [7, 9]


def test_a_process_that_the_kernel_killed_is_not_of_the_job_if_its_program_is_of_another_kind() -> None:
    machine = source(1, "host-system", "a", None)

    def hushed(name: str) -> bool:
        says = {"pid": 77, "name": name}
        noted = finding("memory/host-oom-killed", machine, 1.0, format="syslog", says=says)
        return judge(noted, SIGNATURES, lambda _family, _code: None).hushed

    assert [hushed(name) for name in ("java", "prometheus", "python3", "ray::IDLE", "pt_main_thread")] == [
        True, True, False, False, False,
    ]  # fmt: skip
