"""Laws of the verdict: what must not change it, and what must.

`SEEDS` bundles of each kind are enough to notice a broken law; raise it (27 makes about 500 bundles) to measure a rate.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from plogscope import read_table
from plogscope.model.report import ClockEntry, Report
from plogscope.pipeline import Options, analyze
from tests.simulator import COMPARED_FAULTS, KERNEL_FAULTS, KINDS, OWN_FAULTS, Bundle, Plan, simulate

SEEDS = 1


def plan_of(kind: str, seed: int) -> Plan:
    """A job of two or three nodes whose clocks are off by up to 80 s and whose output is in one of two zones."""
    random = Random(f"{kind}/{seed}")
    nodes = random.choice((2, 3))
    return Plan(
        kind,
        seed=seed,
        nodes=nodes,
        per_node=random.choice((2, 3)),
        skew_s=tuple(random.uniform(-80, 80) for _ in range(nodes)),
        zone_h=tuple(random.choice((0, 8)) for _ in range(nodes)),
    )


def report_of(bundle: Bundle) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        return analyze([bundle.write(Path(folder) / "bundle")], Options(jobs=1))


def answer(report: Report) -> tuple[object, ...]:
    """Status, signature and rank of the cause, ranks under suspicion."""
    root = report.verdict.root_cause
    cause = (root.signature, root.rank) if root is not None else None
    return (report.verdict.status, report.verdict.category, cause, tuple(one.rank for one in report.verdict.suspects))


def cases(*kinds: str) -> list[Plan]:
    return [plan_of(kind, seed) for kind in kinds for seed in range(SEEDS)]


def named(plan: Plan) -> str:
    return f"{plan.kind}-{plan.seed}"


@pytest.mark.parametrize("plan", cases(*KINDS), ids=named)
def test_the_fault_is_found_at_its_line_and_rank(plan: Plan) -> None:
    bundle = simulate(plan)

    verdict = report_of(bundle).verdict

    assert verdict.status == bundle.status
    if bundle.status == "explained":
        assert verdict.root_cause is not None
        assert (verdict.root_cause.file, verdict.root_cause.line) in bundle.root
        assert verdict.root_cause.rank == bundle.culprit
    if bundle.status == "insufficient":
        assert [one.rank for one in verdict.suspects] == [bundle.culprit]


@pytest.mark.parametrize("plan", cases("aicore", "hang", "order", "host-oom"), ids=named)
def test_renaming_the_ranks_renames_the_answer(plan: Plan) -> None:
    total = plan.nodes * plan.per_node
    names = tuple(Random(plan.seed).sample(range(total), total))

    before = answer(report_of(simulate(plan)))
    after = answer(report_of(simulate(replace(plan, names=names))))

    status, category, cause, suspects = before
    renamed = (cause[0], names[cause[1]]) if isinstance(cause, tuple) else None
    assert isinstance(suspects, tuple)
    assert after == (status, category, renamed, tuple(sorted(names[rank] for rank in suspects)))


HOUR_S = 3600.0


def shifted(plan: Plan, by_s: float) -> Plan:
    """The clock of the last node moved."""
    skew_s = plan.skew_s or (0.0,) * plan.nodes
    return replace(plan, skew_s=(*skew_s[:-1], skew_s[-1] + by_s))


def main_clock(report: Report, node: int) -> ClockEntry:
    (found,) = [clock for clock in report.cluster.clocks if clock.clock == f"host{node}/plog"]
    return found


@pytest.mark.parametrize("by_s", [HOUR_S, 8 * HOUR_S, -90.0])
@pytest.mark.parametrize("plan", cases("ecc", "python", "absent", "straggler", "healthy"), ids=named)
def test_a_clock_that_is_off_changes_nothing_and_is_shown(plan: Plan, by_s: float) -> None:
    before, after = report_of(simulate(plan)), report_of(simulate(shifted(plan, by_s)))

    assert answer(after) == answer(before)
    old, new = main_clock(before, plan.nodes - 1), main_clock(after, plan.nodes - 1)
    assert new.basis == old.basis == "proven"
    assert old.offset_s - new.offset_s == pytest.approx(by_s, abs=0.01)
    assert old.offset_s == pytest.approx(plan.skew_s[0] - plan.skew_s[-1], abs=5.0)


@pytest.mark.parametrize("zone_h", [(8, 8, 8), (0, 0, 0), (0, 8, 8), (-5, 0, 9)], ids=str)
def test_an_error_that_a_process_states_in_both_logs_stands_at_one_time(
    tmp_path: Path, zone_h: tuple[int, ...]
) -> None:
    bundle = simulate(replace(plan_of("hang", 0), nodes=3, zone_h=zone_h, skew_s=(0.0, 40.0, -3600.0), coded=True))

    rows = read_table(bundle.write(tmp_path / "bundle"), jobs=1).to_pylist()

    stated = [row for row in rows if "507048" in row["message"] and row["format"] in ("plog", "glog")]
    logged = {row["rank"]: row["time"] for row in stated if row["format"] == "plog"}
    printed = {row["rank"]: row["time"] for row in stated if row["format"] == "glog"}
    assert len(logged) >= len(zone_h)
    assert logged.keys() == printed.keys()
    assert all(abs((printed[rank] - logged[rank]).total_seconds()) <= 1.0 for rank in logged)


@pytest.mark.parametrize("by_s", [HOUR_S, 8 * HOUR_S])
@pytest.mark.parametrize("plan", cases("ecc", "aicore"), ids=named)
def test_instants_in_the_names_of_communicators_prove_a_shift_where_none_came_up(plan: Plan, by_s: float) -> None:
    second = "aicore" if plan.kind == "ecc" else "ecc"
    plan = replace(plan, skew_s=(), proof="epochs", second=second)

    before, after = report_of(simulate(plan)), report_of(simulate(shifted(plan, by_s)))

    found = main_clock(after, plan.nodes - 1)
    assert (found.basis, found.proof, found.offset_s) == ("proven", "epochs", -by_s)
    assert answer(after) == answer(before)
    assert after.verdict.root_cause is not None
    assert after.verdict.root_cause.rank == simulate(plan).culprit


@pytest.mark.parametrize("by_s", [HOUR_S, 8 * HOUR_S, -90.0, 500.0])
@pytest.mark.parametrize("plan", cases("ecc", "aicore", "torch-oom"), ids=named)
def test_what_nothing_proves_orders_nothing(plan: Plan, by_s: float) -> None:
    second = "device-oom" if plan.kind == "ecc" else "ecc"
    plan = replace(plan, skew_s=(), proof="none", second=second)

    before, after = report_of(simulate(plan)), report_of(simulate(shifted(plan, by_s)))

    assert answer(after) == answer(before)
    assert main_clock(after, plan.nodes - 1).basis == "assumed"
    assert after.verdict.confidence == before.verdict.confidence
    assert after.verdict.confidence.level != "high"


@pytest.mark.parametrize("plan", cases(*(kind for kind in KINDS if kind != "healthy")), ids=named)
def test_without_proof_of_the_clocks_a_shift_changes_no_verdict(plan: Plan) -> None:
    plan = replace(plan, skew_s=(), proof="none")

    assert answer(report_of(simulate(shifted(plan, HOUR_S)))) == answer(report_of(simulate(plan)))


@pytest.mark.parametrize("plan", cases("lost", "tls", "hang", "healthy"), ids=named)
def test_noise_and_processes_of_other_jobs_change_nothing(plan: Plan) -> None:
    before = answer(report_of(simulate(plan)))
    after = answer(report_of(simulate(replace(plan, noise=60, strangers=3))))

    assert after == before


@pytest.mark.parametrize("quiet", [False, True], ids=["each-rank-prints", "one-rank-prints"])
@pytest.mark.parametrize("plan", cases("python", "aicore", "host-oom", "hang", "port", "healthy"), ids=named)
def test_exceptions_that_the_program_caught_change_nothing(plan: Plan, quiet: bool) -> None:  # noqa: FBT001 - pytest
    before = answer(report_of(simulate(replace(plan, quiet=quiet))))
    after = answer(report_of(simulate(replace(plan, quiet=quiet, caught=8))))

    assert after == before


@pytest.mark.parametrize("plan", cases("aicore", "torch-oom", "segfault", *KERNEL_FAULTS), ids=named)
def test_without_the_culprits_log_the_verdict_is_insufficient_and_names_it(plan: Plan) -> None:
    bundle = simulate(replace(plan, silent_culprit=True))

    verdict = report_of(bundle).verdict

    assert (verdict.status, verdict.root_cause) == ("insufficient", None)
    assert [one.rank for one in verdict.suspects] == [bundle.culprit]


def test_the_simulator_knows_many_kinds_and_repeats_itself() -> None:
    assert len({*OWN_FAULTS, *KERNEL_FAULTS, *COMPARED_FAULTS}) >= 14
    assert simulate(plan_of("order", 3)) == simulate(plan_of("order", 3))
