from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from plogscope import inputs
from plogscope.inputs import digest_inputs
from plogscope.model.report import BundleEntry, FileEntry, Report
from tests.render import reports


def _report(*files: FileEntry) -> Report:
    return msgspec.structs.replace(reports.explained(), bundle=BundleEntry("x", "flat", list(files)))


def test_a_file_has_its_sha256_and_a_skipped_or_missing_one_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"alpha")
    report = _report(
        FileEntry(path="a.log", kind="stdout", bytes=5),
        FileEntry(path="gone.log", kind="stdout", bytes=5),
        FileEntry(path="core.1", kind="skipped", skipped="not a log"),
    )
    digests = digest_inputs(report, [tmp_path])
    assert set(digests) == {"a.log"}
    assert digests["a.log"].sha256 == hashlib.sha256(b"alpha").hexdigest()
    assert not digests["a.log"].edges


def test_a_large_file_is_known_by_its_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "WHOLE_BYTES", 1 << 20)
    data = b"a" * (1 << 20) + b"middle" * 9 + b"z" * (1 << 20)
    (tmp_path / "big.log").write_bytes(data)
    digest = digest_inputs(_report(FileEntry(path="big.log", kind="plog", bytes=len(data))), [tmp_path])["big.log"]
    assert digest.edges
    assert digest.sha256 == hashlib.sha256(b"a" * (1 << 20) + b"z" * (1 << 20)).hexdigest()


def test_several_paths_are_told_apart_by_their_number(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.log").write_text(name, encoding="utf-8")
    report = _report(FileEntry(path="1:a.log", kind="plog", bytes=3), FileEntry(path="2:a.log", kind="plog", bytes=3))
    digests = digest_inputs(report, [tmp_path / "one", tmp_path / "two"])
    assert digests["1:a.log"].sha256 == hashlib.sha256(b"one").hexdigest()
    assert digests["2:a.log"].sha256 == hashlib.sha256(b"two").hexdigest()
