from __future__ import annotations

import msgspec
import pytest

from plogscope.chain.checkers.busy import check
from plogscope.model.record import Finding
from plogscope.model.vocabulary import TimeQuality
from tests.chain.checkers.job import SECOND_NS, START_NS, Job


def waiting(job: Job, *ranks: int, from_s: float = 100.0, to_s: float = 400.0) -> None:
    for rank in ranks:
        incident = job.fails(rank, "hccl/torch-watchdog-timeout", to_s)
        start_ns = START_NS + int(from_s * SECOND_NS)
        job.incidents[-1] = msgspec.structs.replace(incident, start_ns=start_ns)
    job.incidents = [msgspec.structs.replace(one, lead=exact(one.lead)) for one in job.incidents]


def exact(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, time_quality="exact")


def works(job: Job, rank: int, ended_s: float, took: str, *, quality: TimeQuality = "exact") -> None:
    line = job.says(rank, "performance/long-action", ended_s, what="saving", elapsed=took)
    job.findings[-1] = msgspec.structs.replace(line, time_quality=quality)


def test_the_rank_that_worked_while_the_others_gave_up_is_the_first_cause() -> None:
    job = Job(expected=3)
    waiting(job, 0, 2)
    works(job, 1, 450.0, "352.5")

    (result,) = check(job.view())

    assert (result.kind, result.actor and result.actor.rank) == ("root", 1)
    assert "352 s" in result.reason.en


@pytest.mark.parametrize(("ended_s", "took"), [(90.0, "352.5"), (450.0, "20.0"), (395.0, "0")])
def test_work_that_was_over_before_or_was_short_is_none(ended_s: float, took: str) -> None:
    job = Job(expected=3)
    waiting(job, 0, 2)
    works(job, 1, ended_s, took)

    assert check(job.view()) == []


@pytest.mark.parametrize(("took", "names"), [("310.0", 1), ("120.0", 0)])
def test_without_a_time_it_took_as_long_as_the_others_wait(took: str, names: int) -> None:
    job = Job(expected=3)
    waiting(job, 0, 2)
    works(job, 1, 0.0, took, quality="inherited")

    assert len(check(job.view())) == names


def test_a_rank_that_went_on_to_its_next_step_was_not_late() -> None:
    job = Job(expected=3)
    waiting(job, 0, 2)
    works(job, 1, 450.0, "352.5")
    job.says(1, "progress/step-loss", 500.0)

    assert check(job.view()) == []


@pytest.mark.parametrize(
    ("bar", "others", "names"),
    [
        ("Evaluating:  61%|######    | 310/512 [04:58<03:12,  1.05it/s]", (0, 2), 1),
        ("  61%|######    | 310/512 [04:58<03:12,  1.05it/s]", (0, 2), 0),
        ("Evaluating:  61%|######    | 310/512 [04:58<03:12,  1.05it/s]", (0,), 0),
        ("Evaluating: 100%|##########| 512/512 [04:58<00:00,  1.05it/s]", (0, 2), 0),
    ],
)
def test_a_bar_that_stands_still_counts_for_lonely_work_of_the_only_rank_that_does_not_wait(
    bar: str, others: tuple[int, ...], names: int
) -> None:
    job = Job(expected=3)
    waiting(job, *others)
    step, count = bar.split("| ")[1].split(" ", maxsplit=1)[0].split("/")
    line = job.says(1, "progress/progress-bar", 0.0, step=step, count=count, elapsed="04:58")
    job.findings[-1] = msgspec.structs.replace(line, quote=bar, time_quality="none", order_ns=None)

    assert len(check(job.view())) == names
