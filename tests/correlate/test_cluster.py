from __future__ import annotations

from plogscope.correlate.clocks import Clocks
from plogscope.correlate.cluster import build_cluster, nodes_of
from plogscope.correlate.homes import Homes
from plogscope.correlate.identity import Identities
from plogscope.model.chain import Clock, Process
from tests.correlate.things import SECOND_NS, bundle, source

PLOG, MERGED = source(0, "plog", "a", 41), source(1, "stdout", None)
CLOCKS = Clocks(
    (
        Clock(id=0, name="a/plog"),
        Clock(id=1, name="bundle/stdout", basis="assumed"),
        Clock(id=2, name="a/stdout", offset_s=60.0),
    ),
    {0: 0, 1: 1},
    {("a", "plog"): 0, (None, "stdout"): 1, ("a", "stdout"): 2},
)
KNOWN = Identities({("a", 41): Process(node="a", pid=41, rank=3)}, {}, (), 4)


def test_the_span_of_a_process_joins_its_files_on_the_reference_clock() -> None:
    spans = {0: {41: (10 * SECOND_NS, 20 * SECOND_NS)}, 1: {41: (0, 90 * SECOND_NS)}}

    (process,) = build_cluster(bundle(PLOG, MERGED), KNOWN, CLOCKS, spans, Homes({41: "a"}, {})).processes

    assert (process.node, process.rank) == ("a", 3)
    assert (process.first_ns, process.last_ns) == (10 * SECOND_NS, 150 * SECOND_NS)


def test_the_pid_of_the_device_daemon_is_no_process() -> None:
    processes = build_cluster(bundle(PLOG), Identities({}, {}, (), None), CLOCKS, {0: {-1: (0, 1)}}).processes

    assert processes == ()


def test_all_nodes_are_named_once() -> None:
    cluster = build_cluster(bundle(PLOG, MERGED), KNOWN, CLOCKS, {})

    assert nodes_of(cluster, bundle(PLOG, MERGED)) == ["a"]
