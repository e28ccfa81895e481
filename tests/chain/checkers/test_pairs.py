from __future__ import annotations

from plogscope.chain.checkers.pairs import check
from tests.chain.checkers.job import WORLD, Job


def meets(job: Job, rank: int, operation: str, remote: int, at_s: float = 100.0) -> str:
    return job.reports_task(rank, at_s, tag=f"{operation}_{WORLD}", remote=remote).id


def test_two_that_send_to_each_other_are_both_wrong() -> None:
    job = Job(expected=4)
    first = meets(job, 2, "Send", 3)
    meets(job, 3, "Send", 2, 101.0)

    (result,) = check(job.view())

    assert (result.incident, [one.rank for one in result.suspects]) == (first, [2, 3])
    assert "send" in result.reason.en


def test_the_rank_that_receives_from_another_than_the_sender_is_the_first_cause() -> None:
    job = Job(expected=4)
    meets(job, 0, "Send", 2)
    wrong = meets(job, 2, "Receive", 1)

    (result,) = check(job.view())

    assert (result.kind, result.incident) == ("root", wrong)
    assert "rank 1" in result.reason.en


def test_a_pair_that_would_meet_says_nothing() -> None:
    job = Job(expected=4)
    meets(job, 0, "Send", 2)
    meets(job, 2, "Receive", 0)

    assert check(job.view()) == []


def test_a_chain_of_sends_is_no_pair() -> None:
    job = Job(expected=4)
    meets(job, 0, "Send", 1)
    meets(job, 1, "Send", 2)

    assert check(job.view()) == []


def shares(job: Job, rank: int, sender: int, receiver: int) -> str:
    return job.reports_task(rank, 100.0, tag=f"worldCommSendRecv_{sender}_{receiver}_{WORLD}").id


def test_where_both_sides_share_a_tag_it_tells_who_sends() -> None:
    job = Job(expected=4)
    first = shares(job, 2, 2, 3)
    shares(job, 3, 3, 2)

    (result,) = check(job.view())

    assert (result.incident, [one.rank for one in result.suspects]) == (first, [2, 3])


def test_two_sides_of_one_tag_meet() -> None:
    job = Job(expected=4)
    shares(job, 2, 2, 3)
    shares(job, 3, 2, 3)

    assert check(job.view()) == []
