"""Facts that stand in names: pid, device, rank, node, folder, time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.discover.names import NameFacts, facts_of, nodes_of

STAMP_NS = 1_741_064_767_008_000_000  # 2025-03-04 05:06:07.008


@pytest.mark.parametrize(
    ("path", "facts"),
    [
        ("a/debug/plog/plog-61_20250304050607008.log", NameFacts(pid=61, folder="debug", stamp_ns=STAMP_NS)),
        ("run/plog/plog-61_20250304050607.log", NameFacts(pid=61, folder="run", stamp_ns=STAMP_NS - 8_000_000)),
        ("n_security_plog-61_20250304050607008.log", NameFacts(pid=61, folder="security", stamp_ns=STAMP_NS)),
        ("debug/device-4/device-6161_20250304050607008.log",
         NameFacts(pid=6161, device=4, folder="debug", stamp_ns=STAMP_NS)),
        ("slog/dev-os-4/device-5/device-5_20250304050607008.log", NameFacts(device=5, stamp_ns=STAMP_NS)),
        ("debug/device-app-61/device-app-61_20250304050607008.log",
         NameFacts(pid=61, folder="debug", stamp_ns=STAMP_NS)),
        ("device-7_19700101080014075.log", NameFacts(pid=7)),
        ("10.3.0.4/rank_12/stdout_stderr.log", NameFacts(rank=12)),
        ("logs/rank-3.txt", NameFacts(rank=3)),
        ("msrun_log/worker_5.log", NameFacts(rank=5)),
        ("worker-5/train.log", NameFacts()),
        ("job-proc-rank-6-device-2.txt", NameFacts(rank=6, device=2)),
        ("t/attempt_0/3/stderr.log", NameFacts(local_rank=3)),
        ("logs/local_rank_2.log", NameFacts(local_rank=2)),
        ("x/run_2025_03_04_05_06_07_000001-pid_77-rank_1/npugraph_ex/debug.log", NameFacts(pid=77, rank=1)),
        ("20250304-050607-pid515/step1-eager/stdout_stderr.log", NameFacts()),
        ("mindie/log/debug/mindie-llm_61_20250304050607008.log", NameFacts(pid=61, stamp_ns=STAMP_NS)),
        ("rank_table_16.json", NameFacts()),
        ("node_rank_3.log", NameFacts()),
        ("prank_3x.log", NameFacts()),
        ("ring-rank1-behind/stdout.log", NameFacts()),
        ("rank_3/rank_5/x.log", NameFacts(rank=5)),
        ("proc-rank-6-device-2/x.log", NameFacts(rank=6)),
        ("train_20250304-050607.log", NameFacts(stamp_ns=STAMP_NS - 8_000_000)),
        ("plog-61_20251304050607008.log", NameFacts(pid=61)),
    ],
)  # fmt: skip
def test_facts_of_a_path(path: str, facts: NameFacts) -> None:
    assert facts_of(path) == facts


@pytest.mark.parametrize(
    ("path", "node"),
    [
        ("node-00/ascend/log/debug/plog/plog-61_20250304050607008.log", "node-00"),
        ("10.3.0.4/rank_1/x.log", "10.3.0.4"),
        ("worker-1/x.log", "worker-1"),
        ("logs/node_3/x.log", "node_3"),
        ("job-7-worker-2/x.log", "job-7-worker-2"),
        ("node-02_run_plog-61_20250304050607008.log", "node-02"),
        ("hosta_debug_plog-61_20250304050607008.log", "hosta"),
        ("train_node-03.log", "node-03"),
        ("node-04_stdout_stderr.log", "node-04"),
        ("10.3.0.5.log", "10.3.0.5"),
    ],
)
def test_node_of_a_path(path: str, node: str) -> None:
    assert nodes_of([path], []) == {path: node}


@pytest.mark.parametrize(
    "path",
    ["debug/plog/plog-61_20250304050607008.log", "rank_3/x.log", "logs/x.log", "step5-npugraph_ex/x.log",
     "rank_1_debug_plog-61_20250304050607008.log", "999.1.1.1/x.log", "worker_3.log", "decode/x.log"],
)  # fmt: skip
def test_structure_is_no_node(path: str) -> None:
    assert nodes_of([path], []) == {}


def test_sibling_folders_with_cann_logs_are_host_names() -> None:
    logs = [f"{host}/ascend/log/debug/plog/plog-61_20250304050607008.log" for host in ("taishan", "kunlun")]
    assert nodes_of([*logs, "kunlun/train.log"], logs) == {
        logs[0]: "taishan",
        logs[1]: "kunlun",
        "kunlun/train.log": "kunlun",
    }
    assert nodes_of(logs[:1], logs[:1]) == {}


def test_sibling_ranks_and_log_folders_are_no_hosts() -> None:
    logs = [f"{folder}/debug/plog/plog-61_20250304050607008.log" for folder in ("rank_0", "rank_1", "debug", "logs")]
    assert nodes_of(logs, logs) == {}


def test_node_of_a_flat_plog_name_holds_for_the_printed_log_beside_it() -> None:
    plog = "hosta_debug_plog-61_20250304050607008.log"
    assert nodes_of([plog, "hosta_train.log", "hostab_train.log"], [plog]) == {
        plog: "hosta",
        "hosta_train.log": "hosta",
    }


@given(st.lists(st.text(max_size=60), max_size=8))
def test_any_names_have_facts(paths: list[str]) -> None:
    assert set(nodes_of(paths, paths)) <= set(paths)
    for path in paths:
        facts = facts_of(path)
        assert facts.pid is None or facts.pid >= 0


@pytest.mark.parametrize(
    ("path", "node"),
    [
        ("host/taishan-7/messages", "taishan-7"),
        ("log/job-taishan-7.log", "taishan-7"),
        ("job-node41.log", "node41"),
        ("taishan-7_dmesg.txt", "taishan-7"),
        ("log/taishan-71.log", None),
        ("log/taishan-7-2.log", None),
        ("log/merged.log", None),
    ],
)
def test_files_are_of_the_machine_they_are_named_after(path: str, node: str | None) -> None:
    logs = [f"plogs/{host}/debug/plog/plog-61_20250304050607008.log" for host in ("taishan-7", "node41")]
    assert nodes_of([*logs, path], logs).get(path) == node
