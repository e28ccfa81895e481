"""Jobs of which the script, a tool beside the training or a test session speaks: shells, other languages, unittest."""

from __future__ import annotations

from pathlib import Path

import pytest

from plogscope import analyze
from plogscope.model.report import Report

OOM = "RuntimeError: NPU out of memory. Tried to allocate 1.50 GiB (NPU 0; 60.97 GiB total capacity) [injected]"


def _report(folder: Path, *lines: str, name: str = "job.log", encoding: str = "utf-8") -> Report:
    (folder / name).write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return analyze(folder, jobs=1)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("./run.sh: line 3: $'\\r': command not found", "python3: can't open file '/r/t.py': [Errno 2] No such"),
        ("run.sh: line 12: NNODES: unbound variable", "srun: error: n1: task 0: Exited with exit code 1"),
        ("run.sh: 第 12 行: NNODES: 未绑定的变量", "exit code 1"),
        ('run.sh: 7: Syntax error: "(" unexpected', "exit code 2"),
        ("bash: /data/作业/启动.sh: 没有那个文件或目录", "作业已退出, 退出码 127"),
        ("panic: runtime error: slice bounds out of range [:9] with capacity 8", "exit status 2"),
        ("thread 'main' panicked at src/bpe.rs:41:7:", "index out of bounds"),
        (
            'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space',
            "subprocess.CalledProcessError: Command '['java']' returned non-zero exit status 1.",
        ),
    ],
)  # fmt: skip
def test_what_stops_a_script_or_a_tool_is_the_cause(tmp_path: Path, line: str, after: str) -> None:
    report = _report(tmp_path, "2025/03/01 08:00:00 tool.go:61: started", line, after)
    assert report.verdict.root_cause is not None
    assert (report.verdict.root_cause.line, report.verdict.category) == (2, "host")


@pytest.mark.parametrize(
    ("end", "status"), [("OK (skipped=1)", "no-failure"), ("OK", "no-failure"), ("FAILED (errors=1)", "explained")]
)
def test_a_session_of_unittest_ends_well_only_with_its_word(tmp_path: Path, end: str, status: str) -> None:
    lines = [f"test_message (test_map.MapTest) ... {OOM}", "ok", "-" * 70, "Ran 12 tests in 3.204s", "", end]
    assert _report(tmp_path, *lines).verdict.status == status


def test_refused_requests_are_no_failure_of_a_server(tmp_path: Path) -> None:
    head = "[2025-03-01 08:00:{:02d}.120+08:00] [51] [{}] [server] [{}] [http_wrapper.cpp:190] : {}"
    refused = "Parse request failed, error: Request param contains not top_k or top_k invalid, http code 422"
    lines = [head.format(second, 700 + second, "ERROR", refused) for second in range(4)]
    assert _report(tmp_path, *lines, head.format(9, 709, "INFO", "health check ok")).verdict.status == "no-failure"


def test_an_error_of_which_hardly_anything_is_left_explains_nothing(tmp_path: Path) -> None:
    text = "[2025-03-01 08:00:00] 开始运行训练任务\n[2025-03-01 08:00:01] 错误: 无法".encode("gbk")
    (tmp_path / "job.log").write_bytes(text[:-1])
    assert analyze(tmp_path, jobs=1).verdict.status == "insufficient"


def test_workers_that_are_killed_for_a_reason_that_is_not_in_the_log(tmp_path: Path) -> None:
    head = "W0301 08:00:{} 881 torch/distributed/elastic/multiprocessing/api.py:{}] "
    asked = [head.format("03.000000", 897) + f"Sending process {pid} closing signal SIGTERM" for pid in (902, 903)]
    killed = "Unable to shutdown process 902 via Signals.SIGTERM, forcefully exiting via Signals.SIGKILL"
    assert _report(tmp_path, *asked, head.format("33.000000", 916) + killed).verdict.status == "insufficient"
