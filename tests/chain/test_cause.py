from __future__ import annotations

from msgspec import structs

from plogscope.chain.cause import find_cause
from plogscope.chain.checkers.base import CheckerResult
from plogscope.model.chain import Chain, Incident, Suspect
from plogscope.model.record import Actor
from plogscope.model.vocabulary import Text
from tests.chain.things import ONE_CLOCK, SECOND_NS, finding, incident, signature

NAMES = {name: signature(name) for name in ("x/a", "x/b", "x/c")}
REASON = Text("because", "因为")


def caused(
    *incidents: Incident, checked: tuple[CheckerResult, ...] = (), cleared: frozenset[str] = frozenset()
) -> Chain:
    return find_cause(incidents, cleared, NAMES, ONE_CLOCK, checked)


def fault(at_s: float = 10.0, name: str = "i1", source: int = 0) -> Incident:
    return incident(name, finding("x/a", at_s, source=source))


def wait(name: str = "i2", at_s: float = 20.0, source: int = 1) -> Incident:
    return incident(name, finding("x/b", at_s, source=source), "symptom", waits=True)


def suspects(*, proven: bool) -> CheckerResult:
    who = (Suspect(rank=3, why=REASON, need=REASON),)
    return CheckerResult(rule="r", kind="suspects", reason=REASON, suspects=who, proven=proven)


def test_a_direct_cause_is_the_root_and_waits_are_its_cascade() -> None:
    chain = caused(wait(), fault())

    assert (chain.root, chain.places) == ("i1", {"i1": "root", "i2": "cascade"})


def test_waits_alone_have_no_root() -> None:
    chain = caused(wait(), wait("i3", 21.0, 2))

    assert (chain.root, set(chain.places.values())) == (None, {"witness"})


def test_the_earlier_of_two_direct_causes_is_the_root_and_the_other_a_rival() -> None:
    later = incident("i3", finding("x/c", 60.0, source=2))

    chain = caused(fault(), later, wait())

    assert (chain.root, [rival.incident for rival in chain.rivals]) == ("i1", ["i3"])


def test_what_was_recovered_is_no_root() -> None:
    chain = caused(fault(), cleared=frozenset({"i1"}))

    assert (chain.root, chain.places) == (None, {"i1": "recovered"})


def test_a_direct_cause_outside_beats_a_checkers_root() -> None:
    result = CheckerResult(rule="r", kind="root", reason=REASON, incident="i2")

    assert caused(fault(), wait(), checked=(result,)).root == "i1"


def test_a_rule_that_compared_the_direct_causes_chooses_among_them() -> None:
    other = fault(11.0, "i3", 2)
    covers = ("i1", "i3")
    result = CheckerResult(rule="r", kind="root", reason=REASON, incident="i3", covers=covers, finding=other.lead)

    chain = caused(fault(), other, wait(), checked=(result,))

    assert (chain.root, chain.root_reason) == ("i3", Text("Because", "因为"))


def test_the_line_that_proves_it_gives_the_root_its_name_and_the_rule_its_owner() -> None:
    line = finding("x/c", 19.0, source=1, line=7)
    result = CheckerResult(rule="r", kind="root", reason=REASON, incident="i2", finding=line, actor=Actor(rank=5))

    chain = caused(wait(), checked=(result,))
    root = chain.incident(chain.root)

    assert root is not None
    assert (root.signature, root.lead.line, root.actor.rank) == ("x/c", 7, 5)


def test_a_counted_absence_beats_an_inferred_cause() -> None:
    either = incident("i1", finding("x/a", 10.0), "either")

    chain = caused(either, wait(), checked=(suspects(proven=True),))

    assert (chain.root, [one.rank for one in chain.suspects], chain.proven_absence) == (None, [3], True)


def test_an_inferred_absence_does_not() -> None:
    either = incident("i1", finding("x/a", 10.0), "either")

    assert caused(either, wait(), checked=(suspects(proven=False),)).root == "i1"


def test_a_condition_is_the_root_only_when_nothing_failed() -> None:
    slow = incident("i9", finding("x/c", 1.0, source=4), category="performance")

    assert caused(slow).root == "i9"
    assert caused(slow, fault()).root == "i1"
    assert caused(slow, wait()).root is None


def test_of_two_unknown_errors_that_no_clock_orders_the_component_that_failed_is_nearer_than_a_programs_print() -> None:
    printed = incident("i1", finding(None, None, source=1, line=23, format="text"), "either", category="unknown")
    stated = incident("i2", finding(None, 9.0, source=2, line=25), "either", category="unknown")

    assert caused(printed, stated).root == "i2"


def test_what_failed_in_workers_that_were_started_again_is_no_first_cause() -> None:
    first, second = incident("i1", finding("x/a", 10.0), "either"), fault(5.0, "i2", 1)
    later = CheckerResult(rule="restart", kind="aftermath", reason=Text("again", "再次"), covers=("i2",))

    chain = caused(first, second, checked=(later,))

    assert (chain.root, chain.places["i2"]) == ("i1", "cascade")
    assert [(edge.cause, edge.effect, edge.reason) for edge in chain.edges] == [("i1", "i2", later.reason)]


def test_an_unknown_error_after_a_launcher_saw_another_process_fail_is_no_root() -> None:
    ended = incident("i1", finding("x/a", 10.0, code="1", pid="77"), "symptom", subcategory="launcher")
    unknown = incident("i2", finding(None, 11.0, source=1), "either", category="unknown")
    exact = structs.replace(unknown.lead, time_quality="exact")
    unknown = structs.replace(unknown, lead=exact, findings=(exact,))
    own = structs.replace(exact, actor=structs.replace(exact.actor, pid=77))
    of_the_one_that_failed = structs.replace(unknown, lead=own, findings=(own,))
    earlier = structs.replace(exact, order_ns=(exact.order_ns or 0) - 60 * SECOND_NS)
    before = structs.replace(unknown, lead=earlier, findings=(earlier,), start_ns=earlier.order_ns)

    assert caused(ended, unknown).root is None
    assert caused(ended, of_the_one_that_failed).root == "i2"
    assert caused(ended, before).root == "i2"
