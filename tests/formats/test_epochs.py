"""The zone of a writer, from instants in UTC that stand beside its local stamp."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.epochs import EAST_NS, MAX_DELAY_NS, QUARTER_NS, WEST_NS, agreed_zone, instants, vote_of
from plogscope.formats.stamps import SECOND_NS, local_ns

HOUR_NS = 3600 * SECOND_NS


def zone_votes(text: str, local: int) -> list[int]:
    """What each instant of a line says about the zone, if anything."""
    return [vote for instant in instants(text) if (vote := vote_of(instant, local)) is not None]


def stamp(second: str, fraction: str = "") -> int:
    found = local_ns(second, fraction)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "second", "hours"),
    [
        ("tag[AllReduce_192.0.2.7%enp61_60000_0_1772359205718970]", "2026-03-01-18:00:59", 8),
        ("identifier[fe80::1%eth0_60008_3_1772359205718970]", "2026-03-01-05:00:05", -5),
        ("[hcom.cc:3][hccl-4711-0-1772359205-hccl_world_group][5]hcom init", "2026-03-01-10:00:06", 0),
        ("[ascend] receive ts exception msg, call excep_code=0xb4060007, time=1772359205.406123s, devid=0",
         "2026-03-01-15:30:05", 5.5),
        ("call mntn_system_error: 0xb4060006,            time: 1772359205.401122.", "2026-03-01-18:00:05", 8),
    ],
)  # fmt: skip
def test_an_instant_beside_a_local_stamp_tells_the_zone(text: str, second: str, hours: float) -> None:
    assert zone_votes(text, stamp(second)) == [int(hours * HOUR_NS)]


def test_a_root_whose_clock_is_ahead_changes_no_zone() -> None:
    assert zone_votes("x%eth0_60000_0_1772359205000000", stamp("2026-03-01-18:00:02")) == [8 * HOUR_NS]


def test_a_line_written_long_after_the_instant_has_no_vote() -> None:
    assert zone_votes("x%eth0_60000_0_1772359205000000", stamp("2026-03-01-18:07:30")) == []
    assert zone_votes("x%eth0_60000_0_1772359205000000", stamp("2026-03-03-18:00:05")) == []


def test_one_instant_votes_once() -> None:
    name = "x%eth0_60000_0_1772359205000000"

    assert zone_votes(f"{name} and {name}", stamp("2026-03-01-18:00:06")) == [8 * HOUR_NS]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "size=1772359205",
        "HBM error, time us= 1772359205718970",
        "hccl_world_group",
        "%eth0_60000_0_17723592057189701",
    ],
)
def test_other_long_numbers_are_no_instants(text: str) -> None:
    assert zone_votes(text, stamp("2026-03-01-18:00:06")) == []


@given(
    zone=st.integers(WEST_NS // QUARTER_NS, EAST_NS // QUARTER_NS),
    delay_ns=st.integers(0, MAX_DELAY_NS),
    instant_us=st.integers(1_500_000_000_000_000, 1_999_999_999_999_999),
)
def test_every_zone_is_found_while_the_line_is_prompt(zone: int, delay_ns: int, instant_us: int) -> None:
    local = instant_us * 1000 + zone * QUARTER_NS + delay_ns

    assert zone_votes(f"group[192.0.2.7%enp61_60000_0_{instant_us}]", local) == [zone * QUARTER_NS]


@given(st.text(max_size=400), st.integers(0, 2**62))
def test_any_text_is_read(text: str, time_ns: int) -> None:
    assert all(vote % QUARTER_NS == 0 for vote in zone_votes(text, time_ns))


FIRST, SECOND, THIRD = (1_772_359_205 * SECOND_NS + step * 1000 * SECOND_NS for step in range(3))


def test_two_instants_that_agree_prove_the_zone_of_a_clock() -> None:
    assert agreed_zone([(FIRST, FIRST + 8 * HOUR_NS), (SECOND, SECOND + 8 * HOUR_NS + SECOND_NS)]) == 8 * HOUR_NS


def test_one_instant_proves_nothing_however_often_it_is_named() -> None:
    assert agreed_zone([(FIRST, FIRST + 8 * HOUR_NS)] * 5) is None


def test_lines_that_name_an_instant_again_later_do_not_vote() -> None:
    prompt = [(FIRST, FIRST + 8 * HOUR_NS), (SECOND, SECOND + 8 * HOUR_NS)]
    late = [(instant, local + QUARTER_NS * step) for instant, local in prompt for step in range(1, 9)]

    assert agreed_zone(late + prompt) == 8 * HOUR_NS


def test_a_clock_whose_instants_disagree_has_no_zone() -> None:
    votes = [(FIRST, FIRST + 8 * HOUR_NS), (SECOND, SECOND + 9 * HOUR_NS)]

    assert agreed_zone(votes) is None
    assert agreed_zone([*votes, (THIRD, THIRD + 8 * HOUR_NS)]) == 8 * HOUR_NS


def test_instants_are_read_in_utc() -> None:
    assert instants("x%eth0_60000_0_1772359205000001 hccl-9-0-1772359206-g") == [
        1_772_359_205_000_001_000,
        1_772_359_206_000_000_000,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[2026-03-01 18:00:05.023+08:00] [13818] [28132] [batchscheduler] [INFO] [config.py:208] : link info",
        "[2026-03-01 18:00:05,023+0800] [12] [34] [server] [INFO] [a.cpp:2] : up",
        'time="2026-03-01T05:00:05.023-05:00" level=info msg="uploading"',
        "2026-03-01T10:00:05.023Z stdout F [ERROR] HCCL(7,python):2026-03-01-18:00:05.020.101 [a.cc:1] [9]x",
    ],
)
def test_a_stamp_that_states_its_zone_is_an_instant(text: str) -> None:
    assert instants(text) == [1_772_359_205_023_000_000]


@pytest.mark.parametrize(
    "text",
    ["2026-03-01 18:00:05 - trainer - INFO - x", "took 2026-03-01 18:00:05-19:00:05", "2026-13-01T10:00:05Z x"],
)
def test_a_stamp_without_a_zone_is_none(text: str) -> None:
    assert instants(text) == []
