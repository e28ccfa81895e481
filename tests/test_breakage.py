"""What broke once and must not break again: crowds of unknown errors, unreadable input, odd clocks, odd outputs."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from plogscope import analyze
from plogscope.errors import EXIT_INPUT, EXIT_INTERRUPTED
from plogscope.scan.engine import POOL_FROM_BYTES, Scanned, scan_bundle

ROOT = Path(__file__).resolve().parents[1]

KNOWN = (
    "[ERROR] RUNTIME(41009,python):2026-04-18-09:40:00.407.382 [davinci_kernel_task.cc:1210]41009 "
    "PrintErrorInfoForDavinciTask:[DFX_INFO]AI Core kernel execution failed, device_id=0, stream_id=9, "
    "report_stream_id=9, task_id=14, flip_num=0, fault kernel_name=SwiGlu_1, program id=12, hash=5."
)


def plog(folder: Path, lines: list[str]) -> Path:
    path = folder / "plog-41009_20260418093254054.log"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def unknown_errors(count: int) -> list[str]:
    letters = random.Random(7)

    def word() -> str:
        return "".join(letters.choices("abcdefghijklmnopq", k=9))

    return [
        f"[ERROR] RUNTIME(41009,python):2026-04-18-09:{n // 60 % 60:02d}:{n % 60:02d}.000.000 [a.cc:{n}]41009 "
        f"{word()}:{word()} failed because {word()}"
        for n in range(count)
    ]


@pytest.mark.parametrize("count", [50, 150, 300, 1000])
def test_a_known_cause_is_never_crowded_out_by_unknown_errors(tmp_path: Path, count: int) -> None:
    plog(tmp_path, [*unknown_errors(count), KNOWN])
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.line == count + 1


RANDOM_BYTES = os.urandom(20_000).replace(b"\0", b"x")


@pytest.mark.parametrize("content", [b"", RANDOM_BYTES, b"\n" * 500, b"\x1b[31m\x1b[0m\n" * 99])
def test_nothing_understood_is_not_called_healthy(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "plog-1_20260418093254054.log").write_bytes(content)
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.status != "no-failure"
    assert report.verdict.confidence.level != "high"


@pytest.mark.parametrize("year", ["0000", "1601", "2101", "2262", "2999", "9999"])
def test_an_impossible_year_is_a_line_without_a_time(tmp_path: Path, year: str) -> None:
    plog(tmp_path, [f"[INFO] RUNTIME(41009,python):{year}-11-18-09:32:54.407.382 [a.cc:1]41009 f:hello", KNOWN])
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.line == 2


def run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "plogscope.cli", *arguments]
    return subprocess.run(command, check=False, timeout=120, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_a_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    plog(tmp_path / "logs", [KNOWN])
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    done = run(["analyze", str(tmp_path / "logs"), "-f", "json", "-o", str(link)])

    assert done.returncode == 0
    assert link.is_symlink()
    assert target.read_text().startswith("{")


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    plog(tmp_path / "logs", [KNOWN])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        done = run(["analyze", str(tmp_path / "logs"), "-f", "text", "-o", str(pipe)])
        text = os.read(reader, 1 << 16)
    finally:
        os.close(reader)

    assert done.returncode == 0
    assert b"SwiGlu_1" in text
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no device that is always full here")
def test_a_full_output_is_one_line_that_says_so(tmp_path: Path) -> None:
    plog(tmp_path, [KNOWN])
    with Path("/dev/full").open("wb") as full:
        done = run(["analyze", str(tmp_path), "-f", "json"], stdout=full)

    assert done.returncode == 3
    assert b"cannot be written" in done.stderr
    assert b"Traceback" not in done.stderr


def test_many_failing_processes_are_compared_with_few(tmp_path: Path) -> None:
    for pid in range(1, 400):
        (tmp_path / f"plog-{pid}_20260418093254054.log").write_text(
            f"[ERROR] RUNTIME({pid},python):2026-04-18-09:40:00.407.382 [a.cc:1]{pid} Foo:strange thing\n"
        )
    plog(tmp_path, [KNOWN])
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.pid == 41009


@pytest.mark.parametrize(("change", "after"), [(b"one more line\n", 14), (None, None)])
def test_a_log_that_changes_while_it_is_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes | None, after: int | None
) -> None:
    log = plog(tmp_path, [KNOWN, KNOWN])
    found = log.stat().st_size

    def changed(*arguments: object, **options: object) -> Scanned:
        log.write_bytes(log.read_bytes() + change if change else log.read_bytes()[: found // 2])
        return scan_bundle(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("plogscope.pipeline.scan_bundle", changed)
    report = analyze(tmp_path, jobs=1)
    size = found + after if after else found // 2

    assert report.verdict.root_cause is not None
    notes = [note.en for note in report.coverage.notes]
    assert [note for note in notes if log.name in note] == [
        f"{log.name} changed while it was read: {found} bytes when it was found, {size} when it was read."
    ]


def test_a_packed_log_that_is_cut_says_so(tmp_path: Path) -> None:
    data = gzip.compress("\n".join([KNOWN, *unknown_errors(2000)]).encode())
    (tmp_path / "train.log.gz").write_bytes(data[: len(data) // 2])
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.file == "train.log.gz"
    assert [note.zh for note in report.coverage.notes if "只读取了一部分" in note.zh]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "fixtures").glob("*/run")))
def test_a_log_that_stays_as_it_is_is_not_called_changed(name: str) -> None:
    report = analyze(ROOT / "fixtures" / name / "run", jobs=1)

    assert not [note for note in report.coverage.notes if "only in part" in note.en or "while it was read" in note.en]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: data.decode().encode("utf-16")])
def test_what_comes_on_the_standard_input_is_one_log(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = pack("\n".join([*unknown_errors(30), KNOWN]).encode())
    done = run(["analyze", "-", "-f", "json"], input=data, stdout=subprocess.PIPE, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    cause = json.loads(done.stdout)["verdict"]["root_cause"]
    assert (cause["file"], cause["line"]) == ("-", 31)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", None])
def test_an_empty_or_closed_standard_input_is_refused(data: bytes | None) -> None:
    start = "import sys; sys.stdin = None; from plogscope.cli import main; sys.argv[0] = 'x'; main()"
    program = ["-m", "plogscope.cli"] if data is not None else ["-c", start]
    command = [sys.executable, *program, "analyze", "-", "-f", "json"]
    done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=120)

    assert done.returncode == EXIT_INPUT, done.stderr
    assert b"standard input" in done.stderr
    assert b"Traceback" not in done.stderr


def test_lines_in_gb18030_among_lines_in_utf_8_are_quoted_as_they_were_written(tmp_path: Path) -> None:
    lines = ["开始训练，共 8 卡", "Traceback (most recent call last):", '  File "训练.py", line 3, in <module>']
    failure = "ValueError: 数据集不存在：训练集"
    data = [line.encode() for line in lines] + [failure.encode("gb18030"), "已退出（错误）".encode("gbk")]
    (tmp_path / "train.log").write_bytes(b"\n".join(data) + b"\n")
    report = analyze(tmp_path, jobs=1)

    assert report.verdict.root_cause is not None
    assert (report.verdict.root_cause.line, report.verdict.root_cause.quote) == (4, failure)
    context = next(one for one in report.evidence if one.line == 4)
    assert context.context_before == lines
    assert context.context_after == ["已退出（错误）"]


WAIT = (
    "import plogscope.__main__ as start; on = start._on\n"
    "start._on = lambda *handler: (on(*handler), print(flush=True)); start.main()"
)


def ended_by(number: signal.Signals, delay: float, folder: Path) -> tuple[int, bytes]:
    """Analyses `logs` of a folder, sends a signal to all its processes once the program runs: exit code and errors."""
    (folder / "tmp").mkdir(exist_ok=True)
    environment = os.environ | {"TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WAIT, "analyze", str(folder / "logs"), "-f", "json", "-o", "out.json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env=environment, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    with contextlib.suppress(ProcessLookupError):  # a fast machine is done by then
        os.killpg(process.pid, number)
    _, said = process.communicate(timeout=60)
    assert list((folder / "tmp").iterdir()) == []
    assert {path.name for path in folder.iterdir()} <= {"logs", "tmp", "out.json"}
    return process.returncode, said


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.3, 0.6])
def test_an_interrupt_at_any_moment_is_one_line_and_leaves_nothing(tmp_path: Path, delay: float) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/a.log.gz").write_bytes(gzip.compress("\n".join([KNOWN, *unknown_errors(200)]).encode()))
    code, said = ended_by(signal.SIGINT, delay, tmp_path)

    assert (code, said) in ((EXIT_INTERRUPTED, b"plogscope: interrupted\n"), (0, b""))


@pytest.mark.parametrize("delay", [0.2, 0.6, 1.0])
def test_an_interrupt_while_workers_scan_is_one_line(tmp_path: Path, delay: float) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"logs/{name}.log").write_text("\n".join([*unknown_errors(1000), ""]) * 200, "utf-8")
    assert sum(path.stat().st_size for path in (tmp_path / "logs").iterdir()) > POOL_FROM_BYTES
    code, said = ended_by(signal.SIGINT, delay, tmp_path)

    assert (code, said) in ((EXIT_INTERRUPTED, b"plogscope: interrupted\n"), (0, b""))


def test_a_terminal_that_is_closed_leaves_no_copy(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/a.log.gz").write_bytes(gzip.compress("\n".join([KNOWN, *unknown_errors(200)]).encode()))
    code, _ = ended_by(signal.SIGHUP, 0.1, tmp_path)

    assert code in (128 + signal.SIGHUP, 0)


@pytest.mark.parametrize(("stamp", "year"), [("05-29", 2026), ("11-30", 2026), ("12-05", 2025), ("12-01", 2026)])
def test_a_stamp_without_a_year_was_before_its_file_was_written(tmp_path: Path, stamp: str, year: int) -> None:
    log = tmp_path / "server.log"
    log.write_text(f"ERROR {stamp} 10:00:00 [core.py:12] ValueError: no seat is left\n", "utf-8")
    written = datetime(2026, 11, 30, 12, tzinfo=timezone.utc).timestamp()
    os.utime(log, (written, written))
    (entry,) = analyze(tmp_path, jobs=1).chain

    assert entry.time is not None
    assert entry.time.startswith(f"{year}-{stamp}")


@pytest.mark.parametrize(
    "entry",
    ['{"ts":99999999999,"level":"ERROR","msg":"x"}', '{"ts":9.3e18,"level":"ERROR","msg":"x"}',
     '{"ts":99999999999999999999,"level":"ERROR","msg":"x"}',
     '{"ts":"2026-03-01T08:00:05","level":"ERROR","logger":"\\ud800x","msg":"m"}'],
)  # fmt: skip
def test_an_odd_value_in_a_structured_log_costs_no_report(tmp_path: Path, entry: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/train.log").write_text(f"{entry}\n", "utf-8")
    for command in (["analyze", "-f", "json"], ["table", "-o", str(tmp_path / "x.csv")]):
        done = run([command[0], str(tmp_path / "logs"), *command[1:]], stdout=subprocess.PIPE)
        assert done.returncode == 0, done.stderr


def test_a_full_disk_behind_an_unbuffered_output_is_an_error(tmp_path: Path) -> None:
    plog(tmp_path, [KNOWN])
    command = f"ulimit -f 1; exec {sys.executable} -m plogscope analyze {tmp_path} -f html > {tmp_path}/page"
    environment = os.environ | {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["/bin/sh", "-c", command], stderr=subprocess.PIPE, env=environment, check=False)

    assert done.returncode == EXIT_INPUT
    assert b"cannot be written" in done.stderr


@pytest.mark.parametrize("name", ["train.log/x.html", f"{'a' * 300}.html"])
def test_an_output_that_cannot_be_is_said_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "train.log").write_text(f"{KNOWN}\n", "utf-8")
    done = run(["analyze", str(tmp_path), "-o", str(tmp_path / name)], stdout=subprocess.PIPE)

    assert done.returncode == EXIT_INPUT
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("filler", ["", "x" * 66_000], ids=["torn", "long"])
def test_an_error_in_a_structured_line_that_is_torn_or_too_long_is_not_lost(tmp_path: Path, filler: str) -> None:
    told = json.dumps({"e": "Traceback (most recent call last):\n  File 'a.py', line 3, in f\nRuntimeError: boom"})[1:]
    entry = '{"ts": "2026-03-01T08:00:55", "level": "ERROR", "msg": "step failed", "ctx": "' + filler + '", ' + told
    lines = [
        f'{{"ts": "2026-03-01T08:00:{second:02d}", "level": "INFO", "msg": "step {second}"}}' for second in range(9)
    ]
    (tmp_path / "train.log").write_text("\n".join([*lines, entry if filler else entry[:-2], ""]), "utf-8")

    assert analyze(tmp_path, jobs=1).verdict.status == "explained"


@pytest.mark.parametrize("made", [True, False])
def test_a_folder_without_signatures_is_refused(tmp_path: Path, made: bool) -> None:  # noqa: FBT001
    plog(tmp_path, [KNOWN])
    folder = tmp_path / "signatures"
    if made:
        folder.mkdir()
    done = run(["analyze", str(tmp_path), "-f", "json", "--grammars", str(folder)], stdout=subprocess.PIPE)

    assert done.returncode == EXIT_INPUT
    assert done.stdout == b""
    assert str(folder).encode() in done.stderr


def test_reports_that_lie_among_the_logs_are_not_read_as_logs(tmp_path: Path) -> None:
    plog(tmp_path, [KNOWN])
    before = analyze(tmp_path, jobs=1)
    formats = [part for name in ("html", "md", "json", "text") for part in ("-f", name)]
    run(["analyze", str(tmp_path), "-o", str(tmp_path / "out"), *formats])
    run(["analyze", str(tmp_path), "-o", str(tmp_path / "summary.log"), "-f", "text"])
    run(["analyze", "."], cwd=tmp_path, stdout=subprocess.DEVNULL)
    after = analyze(tmp_path, jobs=1)

    assert {path.name for path in tmp_path.iterdir()} >= {"out", "summary.log", "plogscope-report.html"}
    assert after.coverage.read == before.coverage.read
    assert {entry["path"] for entry in after.coverage.skipped} == {
        "out/report.txt", "summary.log", "plogscope-report.html",
    }  # fmt: skip


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_the_zone_of_the_machine_changes_nothing(zone: str) -> None:
    logs = ROOT / "fixtures" / "oom-allocator" / "run"
    reports = []
    for name in ("UTC", zone):
        done = run(["analyze", str(logs), "-f", "json"], stdout=subprocess.PIPE, env=os.environ | {"TZ": name})
        reports.append(json.loads(done.stdout) | {"generated": None})
    assert reports[0] == reports[1]


def test_a_folder_given_twice_or_with_a_file_in_it_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    log = plog(tmp_path / "logs", [KNOWN])
    (tmp_path / "link").symlink_to(tmp_path / "logs")
    os.link(log, tmp_path / "logs/train.log")
    once = analyze(tmp_path / "logs", jobs=1)
    for given in (["logs", "logs"], ["logs", "link"], ["logs", f"logs/{log.name}"], [f"link/{log.name}", "logs"]):
        report = analyze([tmp_path / name for name in given], jobs=1)
        assert report.coverage.read == once.coverage.read == 1
        assert any("read" in entry["reason"] for entry in report.coverage.skipped)
        assert report.verdict.root_cause is not None
