from __future__ import annotations

import importlib.util
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.model.report import Report
from plogscope.redact import redact_report, redact_secrets

# Put together at run time, so that no scanner takes this file for a leak.
LONG = "Zx9" * 14
SECRETS = [
    ("Authorization: Bearer " + LONG, LONG),
    ('"authorization": "Basic ' + LONG + '"', LONG),
    ("curl -H 'X-Auth-Token: " + LONG + "' http://10.9.8.7/", LONG),
    ("curl -H 'Bearer " + LONG + "'", LONG),
    ("login with hf_" + LONG, "hf_" + LONG),
    ("HF_TOKEN=hf_" + LONG, "hf_" + LONG),
    ("HUGGING_FACE_HUB_TOKEN=" + LONG, LONG),
    ("MODELSCOPE_API_TOKEN=" + LONG, LONG),
    ("OPENAI_API_KEY='sk-" + LONG + "'", "sk-" + LONG),
    ("Namespace(model='m', api_key='" + LONG + "', port=8)", LONG),
    ("remote: ghp_" + LONG, "ghp_" + LONG),
    ("remote: github_pat_" + LONG, "github_pat_" + LONG),
    ("key AKIA" + "QWERTYUIOPASDFGH used", "AKIA" + "QWERTYUIOPASDFGH"),
    ("AWS_SECRET_ACCESS_KEY=" + LONG, LONG),
    ("export ACCESS_KEY_ID=" + LONG, LONG),
    ("ak=" + LONG + " sk=" + LONG + "/+a", LONG),
    ("OBS client: ak: " + LONG, LONG),
    ("git clone https://me:" + LONG + "@code.example/x.git", LONG),
    ("redis://:" + LONG + "@10.0.0.1:6379/0", LONG),
    ("password=" + "hunter2hunter2", "hunter2hunter2"),
    ("dbPassword: 'correct horse'", "correct horse"),
    ('{"passwd": "p4ss word"}', "p4ss word"),
    ("mysql --password s3cretvalue -h db", "s3cretvalue"),
    ("GET /b/o?AccessKeyId=" + LONG + "&Expires=17&Signature=" + LONG + "%3D", LONG),
    ("https://b.example/o?X-Amz-Credential=" + LONG + "&X-Amz-Signature=" + LONG, LONG),
    ("jwt " + "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0In0"),
    ("token=" + LONG, LONG),
    ("-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\n" + LONG + "\\n-----END RSA PRIVATE KEY-----", LONG),
    (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n" + LONG + "\n-----END OPENSSH PRIVATE KEY-----",
        "b3BlbnNzaC1r",
    ),
]
HARMLESS = [
    "[ERROR] RUNTIME(9,python3):2026-03-01-10:11:12.123.456 [task_info.cc:9]17 PrintErrorInfo:task_id=17, token=3",
    "prompt_tokens=812 max_tokens=4096 token: 31, num_tokens: 77",
    "identifier[10.61.2.7%enp67s0f5_60000_0_1760000000000000], key=17, tag[AllReduce_10.61.2.7]",
    "password=None api_key=None secret=*** HF_TOKEN=$HF_TOKEN password=${PASS}",
    "the password is wrong, the secret of it all, authorization failed, keyword: value",
    "kernel: sk=00000000dead task=9 mask=0xff ak=1",
    "https://code.example/x.git http://10.0.0.1:8080/path file:///tmp/a@b",
    "torch/csrc/passes/sk-learn.cc TOKENIZERS_PARALLELISM=false",
    "task-based risk-adjusted-weights-for-everything-else",
    "hash=1170341, addr=0x12c0c0013000, md5 9e107d9d372bb6826bd81d3542a419d6",
]


@pytest.mark.parametrize(("text", "secret"), SECRETS, ids=range(len(SECRETS)))
def test_a_secret_goes_and_its_place_is_told(text: str, secret: str) -> None:
    shown = redact_secrets(text)
    assert secret not in shown
    assert re.search(r"<secret:[a-z-]+#\d+>", shown)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_a_diagnosis_needs_stays(text: str) -> None:
    assert redact_secrets(text) == text


@pytest.mark.parametrize(("text", "_secret"), SECRETS, ids=range(len(SECRETS)))
def test_redacting_twice_changes_nothing_more(text: str, _secret: str) -> None:
    once = redact_secrets(text)
    assert redact_secrets(once) == once


@given(
    st.lists(st.sampled_from([text for text, _ in SECRETS] + HARMLESS), max_size=4),
    st.sampled_from([" ", "\n", ", ", ""]),
)
def test_redacting_any_mixture_twice_changes_nothing_more(parts: list[str], joint: str) -> None:
    once = redact_secrets(joint.join(parts))
    assert redact_secrets(once) == once


def test_the_words_around_a_secret_stay() -> None:
    assert redact_secrets("curl -u me --password s3cretvalue -h db") == "curl -u me --password <secret:secret#1> -h db"
    assert redact_secrets("git clone https://me:pw1234@h/x.git") == "git clone https://<secret:url#1>@h/x.git"


def test_equal_secrets_have_equal_names() -> None:
    shown = redact_secrets("password=abcd1 password=abcd2 password=abcd1")
    assert shown == "password=<secret:secret#1> password=<secret:secret#2> password=<secret:secret#1>"


@pytest.mark.parametrize(
    "unit",
    ["a", "token=", "-----BEGIN ", "eyJ", "bearer ", "a_", "://", "sk-", "x:@", "password", "=", "PRIVATE KEY-----a"],
)
def test_a_long_line_takes_no_long_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    start = time.perf_counter()
    redact_secrets(text)
    assert time.perf_counter() - start < 5


def _reports() -> Any:
    path = Path(__file__).parent / "render" / "reports.py"
    spec = importlib.util.spec_from_file_location("redact_reports", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REPORTS = _reports()


def _with_secrets() -> Report:
    report: Report = REPORTS.explained()
    line = "password=" + LONG
    entry = msgspec.structs.replace(report.chain[0], quote=line, file=f"run?Signature={LONG}.log")
    key = ["-----BEGIN RSA PRIVATE KEY-----", LONG, LONG + "/w"]
    evidence = msgspec.structs.replace(
        report.evidence[0], context_before=key, quote=LONG, context_after=[LONG, "-----END RSA PRIVATE KEY-----", line]
    )
    root = report.verdict.root_cause
    assert root
    verdict = msgspec.structs.replace(
        report.verdict, root_cause=msgspec.structs.replace(root, quote=line, fields={"token": LONG, "task": "5"})
    )
    action = msgspec.structs.replace(
        report.next_actions[0], command=f"run --api-key {LONG}", env={"HF_TOKEN": LONG, "MAX_TOKENS": "4096"}
    )
    environment = msgspec.structs.replace(
        report.environment, env={"S3_SECRET_ACCESS_KEY": LONG, "HCCL_EXEC_TIMEOUT": "600", "MY_SK": LONG}
    )
    return msgspec.structs.replace(
        report, chain=[entry], evidence=[evidence], verdict=verdict, next_actions=[action], environment=environment
    )  # fmt: skip


def test_no_part_of_a_report_keeps_a_secret() -> None:
    report = _with_secrets()
    assert LONG.encode() in msgspec.json.encode(report)
    shown = redact_report(report)
    assert LONG.encode() not in msgspec.json.encode(shown)
    assert shown.next_actions[0].env["MAX_TOKENS"] == "4096"
    assert shown.environment.env["HCCL_EXEC_TIMEOUT"] == "600"
    assert shown.evidence[0].context_before[0] == "-----BEGIN RSA PRIVATE KEY-----"
    assert redact_report(shown) == shown


def test_a_key_that_starts_before_the_context_goes_as_well() -> None:
    report: Report = REPORTS.explained()
    evidence = msgspec.structs.replace(
        report.evidence[0],
        context_before=["text", LONG, LONG],
        quote="-----END EC PRIVATE KEY-----",
        context_after=["text"],
    )
    shown = redact_report(msgspec.structs.replace(report, evidence=[evidence]))
    assert LONG.encode() not in msgspec.json.encode(shown)
    assert shown.evidence[0].context_before[0] == "text"


@pytest.mark.parametrize("name", ["explained", "insufficient", "no_failure", "hostile"])
def test_a_report_without_secrets_is_not_changed(name: str) -> None:
    report: Report = getattr(REPORTS, name)()
    assert redact_report(report) == report
