from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.pseudonyms import Pseudonyms, pseudonymise
from plogscope.render.html import render_html
from plogscope.render.json import render_json
from plogscope.render.markdown import render_markdown
from tests.render import reports

ROOT = Path(__file__).resolve().parents[1]
TWO_NODES = ROOT / "fixtures" / "two-rank-hccl" / "run"
Run = Callable[..., "subprocess.CompletedProcess[str]"]

CHANGED = [
    ("identifier[10.61.2.7%enp67s0f5_60000_0_1760000000]", "identifier[198.18.0.1%enp67s0f5_60000_0_1760000000]"),
    ("tag[AllReduce_10.61.2.7] to 10.61.2.9, 10.61.3.9", "tag[AllReduce_198.18.0.1] to 198.18.0.2, 198.18.1.1"),
    ("hccl_8p_01234567_10.44.1.2.json", "hccl_8p_01234567_198.18.0.1.json"),
    ("server[10.1.1.9] discoverer:[10.1.1.8]", "server[198.18.0.1] discoverer:[198.18.0.2]"),
    ("from fd00:44:1::7 port 60000", "from 2001:db8:0::1 port 60000"),
    ("lladdr 5a:11:22:33:44:55", "lladdr 02:00:00:00:00:01"),
    ("load obs://team-weights/llm/v3/model.bin", "load obs://bucket1/…/model.bin"),
    ("https://team-weights.obs.cn-north-4.myhuaweicloud.com/x", "https://bucket1.obs.cn-north-4.myhuaweicloud.com/x"),
    ("req: prompt: 'who am I?', params: n=1", "req: prompt: <prompt 9 chars>, params: n=1"),
    ("prompt_token_ids: [12, 7, 9], lora", "prompt_token_ids: <3 token ids>, lora"),
    ("in modelarts-job-0a1b2c3d-9f", "in job-01"),
    ("serial number: AB12CD34EF", "serial number: sn-01"),
]
KEPT = [
    "firmware version 6.4.12.1, package 6.4.12.1.241, torch==2.6.0.3, libfoo-1.2.3.4.so",
    "127.0.0.1 0.0.0.0 255.255.255.0 169.254.3.4 fe80::1 ::1",
    "2026-03-01-10:11:12.123.456 08:47:31 c10::add std::abs at::native::add",
    "the serial number is 40, rank 3, device 5, port 60000, HCCL_SOCKET_IFNAME=enp67s0f5",
    "/usr/local/Ascend/ascend-toolkit/latest /home/HwHiAiUser/log superPodId 4",
]


@pytest.mark.parametrize(("text", "wanted"), CHANGED, ids=range(len(CHANGED)))
def test_a_private_name_gets_a_pseudonym_of_its_kind(text: str, wanted: str) -> None:
    assert Pseudonyms().text(text) == wanted


@pytest.mark.parametrize("text", KEPT)
def test_what_a_diagnosis_needs_stays(text: str) -> None:
    assert Pseudonyms().text(text) == text


@pytest.mark.parametrize("text", [text for text, _ in CHANGED] + KEPT)
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = Pseudonyms().text(text)
    assert Pseudonyms().text(once) == once


@given(st.lists(st.ip_addresses(v=4).map(str), min_size=1, max_size=30))
def test_addresses_keep_who_is_equal_and_who_shares_a_subnet(addresses: list[str]) -> None:
    names = Pseudonyms()
    shown = [names.text(f"[{address}]")[1:-1] for address in addresses]
    changed = [(a, b) for a, b in zip(addresses, shown) if a != b]
    assert len({a for a, _ in changed}) == len({b for _, b in changed})
    assert len({a.rpartition(".")[0] for a, _ in changed}) == len({b.rpartition(".")[0] for _, b in changed})
    assert [names.text(f"[{address}]")[1:-1] for address in addresses] == shown


def test_one_report_uses_one_name_everywhere_and_no_view_holds_the_original() -> None:
    report, names = pseudonymise(reports.explained())
    assert names.map["host"] == {"node-a": "host-01", "node-b": "host-02"}
    assert report.verdict.root_cause is not None
    assert report.verdict.root_cause.node == "host-02"
    assert report.verdict.root_cause.file.startswith("host-02/")
    for text in (render_json(report).decode(), render_html(report), render_markdown(report)):
        assert names.leaks(text) == []
        assert "node-b" not in text
        assert "172.20.8.11" not in text
        assert "ScatterNdUpdate_7c1" in text


def test_the_check_notices_an_original_that_is_left() -> None:
    _, names = pseudonymise(reports.explained())
    assert names.leaks("see node-b and 172.20.8.11.") == ["172.20.8.11", "node-b"]
    assert names.leaks("see node-bc and 172.20.8.111") == []


def test_a_host_called_like_a_word_of_every_log_changes_paths_only() -> None:
    names = Pseudonyms()
    names._learn("host", "worker")  # noqa: SLF001 - what a report with such a node would teach
    assert names.text("worker/rank_0/a.log: a worker exited") == "host-01/rank_0/a.log: a worker exited"
    assert names.leaks("a worker exited") == []


def test_users_hosts_and_pods_are_learned_where_a_line_says_what_they_are() -> None:
    base = reports.explained()
    lines = [
        "train@gpu-head7: ~$ ls /home/lena/job",
        "hostname: cn-4711 pod_name=llm-job-0-abc12",
        "by lena on cn-4711",
    ]
    evidence = [type(base.evidence[0])(
        id="e-1", file="a.log", line=1, quote=lines[0], why=base.evidence[0].why,
        context_before=[], context_after=lines[1:],
    )]  # fmt: skip
    report, _ = pseudonymise(
        type(base)(**{**{f: getattr(base, f) for f in base.__struct_fields__}, "evidence": evidence})
    )
    shown = report.evidence[0]
    text = "\n".join([shown.quote, *shown.context_after])
    assert "lena" not in text
    assert "cn-4711" not in text
    assert "llm-job-0-abc12" not in text
    assert "gpu-head7" not in text


def test_redact_writes_no_private_name_and_keeps_the_names_for_the_owner(
    plogscope_command: Run, tmp_path: Path
) -> None:
    done = plogscope_command(
        "analyze", TWO_NODES, "--redact", "-o", "out", "-f", "html", "-f", "md", "-f", "json", "-f", "text",
        XDG_STATE_HOME=str(tmp_path / "state"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (kept,) = (tmp_path / "state" / "plogscope" / "maps").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    originals = [name for names in json.loads(kept.read_text(encoding="utf-8")).values() for name in names]
    assert "node-b" in originals
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8")
        assert [name for name in originals if name in text] == [], path.name
    assert str(kept) in done.stderr


def test_the_summary_on_the_terminal_has_pseudonyms_too(plogscope_command: Run, tmp_path: Path) -> None:
    state = tmp_path / "state"
    done = plogscope_command("analyze", TWO_NODES, "--redact", XDG_STATE_HOME=str(state))
    assert done.returncode == 0, done.stderr
    (kept,) = (state / "plogscope" / "maps").iterdir()
    originals = [name for names in json.loads(kept.read_text(encoding="utf-8")).values() for name in names]
    summary = done.stdout.rpartition("\n/")[0]

    assert "First failure" in summary
    assert [name for name in originals if name in summary] == []


def test_the_names_never_lie_in_the_folder_that_is_handed_on(plogscope_command: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = plogscope_command("analyze", TWO_NODES, "--redact", "-o", "out", XDG_STATE_HOME=str(tmp_path / "out" / "s"))
    assert done.returncode == 3
    assert list((tmp_path / "out").iterdir()) == []


def test_a_further_word_is_replaced_too(plogscope_command: Run, tmp_path: Path) -> None:
    done = plogscope_command(
        "analyze", TWO_NODES, "--redact-word", "captioner", "-f", "md", XDG_STATE_HOME=str(tmp_path / "state")
    )
    assert done.returncode == 0, done.stderr
    assert "captioner" not in done.stdout
    assert "word-01" in done.stdout
