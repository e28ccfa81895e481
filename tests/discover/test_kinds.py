"""Kinds: by path where the name is unmistakable, else by the first bytes; what is binary or packed is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from plogscope.discover.kinds import kind_of
from plogscope.discover.walk import File

LOG = b"2025-03-04 05:06:07,008 INFO starting\n"
RUN = "step5-npugraph_ex/torch_compile_debug/torch_compile_debug/run_2025_03_04_05_06_07_000001-pid_61"


def decide(tmp_path: Path, path: str, data: bytes = LOG, *, alone: bool = False) -> tuple[str | None, str | None]:
    location = tmp_path / "file"
    location.write_bytes(data)
    kind = kind_of(File(path, str(location), len(data), 0), alone=alone)
    return kind.kind, kind.skipped


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("debug/plog/plog-61_20250304050607008.log", "plog"),
        ("run/plog/plog-61_202503040506070081.log", "plog"),
        ("node-1_debug_plog-61_20250304050607008.log", "plog"),
        ("worker-0/plog-parser-61-0.log", "plog"),
        ("debug/plog/renamed.log", "plog"),
        ("debug/device-2/device-61611_20250304050607008.log", "device-log"),
        ("device-app-61/device-app-61_20250304050607008.log", "device-log"),
        ("slog/dev-os-2/debug/device-2/device-2_20250304050607008.log", "device-system"),
        ("debug/device-2/device-2_20250304050607008.log", "device-system"),
        ("hisi_logs/device-0/20250304050607-000001/log/kernel.log", "device-system"),
        ("message/dev-os-1/messages", "device-system"),
        ("run/device-os/device-os_20250304050607008.log", "device-system"),
        ("run/event/event_20250304050607008.log", "device-system"),
        ("host/messages", "host-system"),
        ("var/log/dmesg.log", "host-system"),
        ("dmesg", "host-system"),
        ("syslog.1", "host-system"),
        (f"{RUN}/npugraph_ex/debug.log", "npugraph-debug"),
        (f"{RUN}/torchdynamo/debug.log", "artefact"),
        (f"{RUN}/npugraph_ex/model__0/forward/000_aot_forward_graph.txt", "artefact"),
        (f"{RUN}/npugraph_ex/model__0/forward/output_code.py", "artefact"),
        ("step5-npugraph_ex/torch_compile_debug/tlparse/dedicated_log_torch_trace_x.log", "artefact"),
        ("env.txt", "artefact"),
        ("first_failure.txt", "artefact"),
        ("warnings.txt", "artefact"),
        ("step1-eager/SUCCESS", "artefact"),
        ("scripts/step1-eager.py", "artefact"),
        ("rank_table_16p.json", "artefact"),
        ("version.cfg", "artefact"),
        ("stdout_stderr.log", "stdout"),
        ("train_3.log", "stdout"),
        ("job.out", "stdout"),
        ("nohup.out", "stdout"),
        ("rank-5.txt", "stdout"),
        ("stdout", "stdout"),
    ],
)
def test_kind_by_path(tmp_path: Path, path: str, kind: str) -> None:
    assert decide(tmp_path, path) == (kind, None)


@pytest.mark.parametrize("name", ["a.gz", "a.tar", "a.tgz", "a.zip", "a.tar.zst", "a.7z", "plogs.tar.gz"])
def test_archive_by_name(tmp_path: Path, name: str) -> None:
    assert decide(tmp_path, name) == (None, "archive: unpack it first")


@pytest.mark.parametrize("data", [b"\x1f\x8b\x08rest", b"BZh91AY", b"\x28\xb5\x2f\xfd", b"n" * 257 + b"ustar\0"])
def test_archive_by_content(tmp_path: Path, data: bytes) -> None:
    assert decide(tmp_path, "logs.log", data) == (None, "archive: unpack it first")


@pytest.mark.parametrize("name", ["w.pt", "w.safetensors", "k.o", "lib.so.1", "i.png", "m.om", "c.pyc"])
def test_binary_by_name(tmp_path: Path, name: str) -> None:
    assert decide(tmp_path, name) == (None, "binary")


@pytest.mark.parametrize(
    "data",
    [b"\x7fELF" + LOG, b"PK\x03\x04" + LOG, b"\x80\x04\x95abc", b"\x89PNG\r\n", bytes(4000), bytes(range(1, 7)) * 99],
)
def test_binary_by_content(tmp_path: Path, data: bytes) -> None:
    assert decide(tmp_path, "core.log", data) == (None, "binary")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe" + "text\n".encode("utf-16-le") * 50,
        "错误：算子失败\n".encode("gbk") * 20,
        b"\x1b[31mERROR\x1b[0m red\r\n",
        bytes(9000) + LOG * 900,
        b"50%|#####     | 5/10\r60%|######    | 6/10\r",
    ],
)
def test_torn_and_odd_text_is_still_text(tmp_path: Path, data: bytes) -> None:
    assert decide(tmp_path, "train.log", data) == ("stdout", None)


def test_text_file_counts_as_log_only_if_it_looks_like_one(tmp_path: Path) -> None:
    assert decide(tmp_path, "notes.txt", b"shopping: milk, bread\n") == ("artefact", None)
    assert decide(tmp_path, "console.txt", b"x\nTraceback (most recent call last):\n") == ("stdout", None)
    assert decide(tmp_path, "worker", b"EE9999: Inner Error!\n") == ("stdout", None)
    assert decide(tmp_path, "run.txt", b"run.sh: line 2: $'\\r': command not found\n") == ("stdout", None)
    assert decide(tmp_path, "job.txt", b"srun: Terminating StepId=7.0\n") == ("stdout", None)


@pytest.mark.parametrize(
    "row",
    [
        b"LAST SEEN   TYPE     REASON      OBJECT            MESSAGE\n",
        b"7m          Normal   Preempted   pod/train-3-ab    Preempted by another pod\n",
        b"2m3s (x4 over 9m)   Warning   OOMKilling   node/n4   Memory cgroup out of memory\n",
        b"jobs        7m          Normal   Killing     pod/train-3-ab    Stopping container main\n",
    ],
)
def test_events_of_kubernetes_are_a_log(tmp_path: Path, row: bytes) -> None:
    assert decide(tmp_path, "events.txt", row) == ("stdout", None)
    assert decide(tmp_path, "notes.txt", b"5 mins Normal walk\n") == ("artefact", None)


def test_file_that_the_user_named_is_a_log_whatever_it_is_called(tmp_path: Path) -> None:
    assert decide(tmp_path, "notes.txt", b"shopping: milk, bread\n", alone=True) == ("stdout", None)
    assert decide(tmp_path, "run.py", LOG, alone=True) == ("stdout", None)
    assert decide(tmp_path, "w.pt", b"PK\x03\x04", alone=True) == (None, "binary")


def test_file_that_vanished_is_skipped(tmp_path: Path) -> None:
    kind = kind_of(File("x.log", str(tmp_path / "gone"), 3, 0))
    assert (kind.kind, kind.skipped) == (None, "no such file or directory")


@pytest.mark.parametrize("data", [b"\0" * 4096 + LOG * 9, LOG * 9 + b"\0" * 4096, LOG * 9 + b"\0" * 4096 + LOG * 9])
def test_a_log_with_a_block_of_nul_bytes_is_read(tmp_path: Path, data: bytes) -> None:
    assert decide(tmp_path, "stdout.log", data) == ("stdout", None)


def test_a_file_that_is_nul_here_and_there_all_over_is_no_text(tmp_path: Path) -> None:
    assert decide(tmp_path, "weights.dat", b"\0\x01\0\0\x7f\0\x02\0" * 500)[0] is None
