"""Archives and packed logs: what is read, what is refused and noted, and where unpacking stops."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plogscope.discover import Scratch, discover
from plogscope.discover.scratch import Limits
from plogscope.errors import InputError
from plogscope.model.source import Bundle

PLOG = b"[ERROR] HCCL(6161,python3):2025-03-04-05:06:07.008.009 [a.cc:1]6161 [x][y]no\n"
NAME = "plog-6161_20250304050607008.log"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scratch]:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    one = Scratch()
    yield one
    one.close()
    assert list((tmp_path / "tmp").iterdir()) == []


def tar(path: Path, members: list[tuple[tarfile.TarInfo | str, bytes]], mode: str = "w:gz") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for given_info, data in members:
            info = tarfile.TarInfo(given_info) if isinstance(given_info, str) else given_info
            if info.isreg():
                info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def paths(bundle: Bundle) -> list[str]:
    return [source.path for source in bundle.sources]


def reasons(bundle: Bundle) -> dict[str, str]:
    return {entry.path: entry.reason for entry in bundle.skipped}


def text(bundle: Bundle) -> list[bytes]:
    return [Path(source.location).read_bytes() for source in bundle.sources]


def test_the_archive_of_a_node_in_a_folder_names_the_node(tmp_path: Path, scratch: Scratch) -> None:
    for node in ("node-1", "node-2"):
        tar(tmp_path / f"logs/{node}.tar.gz", [(f"ascend/log/debug/plog/{NAME}", PLOG)])
    bundle = discover([tmp_path / "logs"], scratch=scratch)
    assert paths(bundle) == [f"{node}.tar.gz!ascend/log/debug/plog/{NAME}" for node in ("node-1", "node-2")]
    assert [(source.node, source.pid, source.kind) for source in bundle.sources] == [
        ("node-1", 6161, "plog"),
        ("node-2", 6161, "plog"),
    ]
    assert text(bundle) == [PLOG, PLOG]


def test_several_archives_are_told_apart_by_their_names(tmp_path: Path, scratch: Scratch) -> None:
    given_ = [tar(tmp_path / f"host{c}.tgz", [(f"debug/plog/{NAME}", PLOG)]) for c in "ab"]
    bundle = discover(given_, scratch=scratch)
    assert [(s.path, s.node, s.folder) for s in bundle.sources] == [
        (f"1:hosta.tgz!debug/plog/{NAME}", "hosta", "debug"),
        (f"2:hostb.tgz!debug/plog/{NAME}", "hostb", "debug"),
    ]


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lambda d: lzma.compress(d) * 2)]
)
def test_a_rotated_log_that_is_packed_is_the_log(
    tmp_path: Path, scratch: Scratch, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "plog").mkdir()
    (tmp_path / f"plog/{NAME}.{suffix}").write_bytes(pack(PLOG))
    bundle = discover([tmp_path / "plog"], scratch=scratch)
    assert [(source.path, source.kind, source.pid) for source in bundle.sources] == [(f"{NAME}.{suffix}", "plog", 6161)]
    assert text(bundle) == [PLOG * (2 if suffix == "xz" else 1)]


def test_members_keep_their_time(tmp_path: Path, scratch: Scratch) -> None:
    info = tarfile.TarInfo("messages")
    info.mtime = 1_600_000_000
    bundle = discover([tar(tmp_path / "a.tar", [(info, PLOG)], "w")], scratch=scratch)
    assert bundle.sources[0].mtime_ns == 1_600_000_000 * 10**9


def test_what_could_leave_the_folder_is_refused_and_noted(tmp_path: Path, scratch: Scratch) -> None:
    outside = tmp_path / "outside.log"
    members: list[tuple[tarfile.TarInfo | str, bytes]] = [
        ("good.log", PLOG),
        ("../outside.log", PLOG),
        ("a/../../outside.log", PLOG),
        (str(outside), PLOG),
        (special("link", tarfile.SYMTYPE, str(tmp_path)), b""),
        ("link/outside.log", PLOG),
        (special("hard.log", tarfile.LNKTYPE, "good.log"), b""),
        (special("pipe", tarfile.FIFOTYPE), b""),
        (special("disk", tarfile.BLKTYPE), b""),
        ("/".join("d" * 60) + "/deep.log", PLOG),
        ("good.log", b"second\n"),
        ("good.log/child.log", PLOG),
        ("x" * 300 + ".log", PLOG),
        ("weights.pt", b"\x80\x02" * 100),
        (".git/config", b"x"),
        ("last.log", PLOG),
    ]
    bundle = discover([tar(tmp_path / "a.tgz", members)], scratch=scratch)
    found = {path.removeprefix("a.tgz!"): reason for path, reason in reasons(bundle).items()}
    assert sorted(paths(bundle)) == ["a.tgz!good.log", "a.tgz!last.log", "a.tgz!link/outside.log"]
    assert text(bundle)[0] == PLOG
    assert not outside.exists()
    assert found["../outside.log"] == found["a/../../outside.log"] == "refused: a path that leads out of the archive"
    assert found[str(outside)] == "refused: an absolute path"
    assert found["link"] == found["hard.log"] == "refused: a link"
    assert found["pipe"] == found["disk"] == "refused: a device or pipe"
    assert found["good.log"] == "refused: a second member of that name"
    assert found["weights.pt"] == "binary"
    assert found[".git"] == "not a log folder"
    assert len(found) == 13


def test_a_zip_from_windows_keeps_its_names_and_refuses_the_same(tmp_path: Path, scratch: Scratch) -> None:
    link = zipfile.ZipInfo("link.log")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("plog\\" + NAME, PLOG)
        archive.writestr("../out.log", PLOG)
        archive.writestr(link, "/etc/passwd")
        archive.writestr("empty/", "")
    data = (tmp_path / "a.zip").read_bytes().replace(b"out.log", "训练".encode("gb18030") + b"log")
    (tmp_path / "a.zip").write_bytes(data.replace(b"../", b"xx/"))
    bundle = discover([tmp_path / "a.zip"], scratch=scratch)
    assert sorted(paths(bundle)) == [f"a.zip!plog/{NAME}", "a.zip!xx/训练log"]
    assert reasons(bundle) == {"a.zip!link.log": "refused: a link"}
    assert bundle.empty_dirs == ("a.zip!empty",)


@pytest.mark.parametrize("name", ["a.tar.gz", "a.tar.xz", "a.zip", "a.log.gz"])
def test_an_archive_that_is_cut_is_read_as_far_as_it_goes(tmp_path: Path, scratch: Scratch, name: str) -> None:
    lines = b"".join(PLOG.replace(b"no", b"%d" % hash_) for hash_ in range(0, 10**9, 10**4))
    (tmp_path / "logs").mkdir()
    target = tmp_path / "logs" / name
    if name == "a.zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("first.log", lines)
        damaged = bytearray(target.read_bytes())
        damaged[len(damaged) // 2] ^= 0xFF
        target.write_bytes(damaged)
    elif name == "a.log.gz":
        target.write_bytes(gzip.compress(lines)[:-3000])
    else:
        tar(target, [("first.log", lines), ("second.log", lines)], "w:" + name.rpartition(".")[2])
        target.write_bytes(target.read_bytes()[: target.stat().st_size * 3 // 4])
    bundle = discover([tmp_path / "logs"], scratch=scratch)
    assert [entry.path for entry in bundle.partial] == [name]
    assert "damaged" in bundle.partial[0].reason
    assert text(bundle)[0].startswith(PLOG[:60])
    assert name == "a.zip" or lines.startswith(text(bundle)[0])


@pytest.mark.parametrize(
    "limits",
    [
        Limits(total_bytes=1 << 20),
        Limits(ratio=10, ratio_from_bytes=1 << 20),
        Limits(passed_bytes=1 << 20),
        Limits(entries=1),
    ],
)
@pytest.mark.parametrize("form", ["tar.gz", "zip"])
def test_a_bomb_stops_at_each_limit_and_what_came_before_is_read(tmp_path: Path, limits: Limits, form: str) -> None:
    (tmp_path / "logs").mkdir()
    target = tmp_path / "logs" / f"a.{form}"
    zeros = b"a\n" * (8 << 20)
    if form == "zip":
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("first.log", PLOG)
            archive.writestr("bomb.log", zeros)
    else:
        tar(target, [("first.log", PLOG), ("bomb.log", zeros)])
    with closing(Scratch(limits)) as scratch:
        bundle = discover([tmp_path / "logs"], scratch=scratch)
        assert text(bundle)[-1] == PLOG
        assert len(bundle.partial) == 1
        assert sum(len(one) for one in text(bundle)) <= 2 << 20


def test_a_header_that_would_fill_the_memory_is_damage(tmp_path: Path, scratch: Scratch) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 40
    raw = tarfile.TarInfo("a.log")
    raw.size = len(PLOG)
    data = raw.tobuf() + PLOG.ljust(512, b"\0") + info.tobuf(tarfile.GNU_FORMAT) + b"x" * 4096
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(data))
    bundle = discover([tmp_path / "a.tar.gz"], scratch=scratch)
    assert text(bundle) == [PLOG]
    assert "header" in bundle.partial[0].reason


def test_archives_in_archives_are_opened_to_a_depth(tmp_path: Path, scratch: Scratch) -> None:
    data, name = PLOG, "train.log"
    for level in range(5):
        inner = tar(tmp_path / f"{level}.tar", [(name, data)], "w")
        data, name = inner.read_bytes(), inner.name
        inner.unlink()
    (tmp_path / "4.tar").write_bytes(data)
    with pytest.raises(InputError, match="archive"):
        discover([tmp_path / "4.tar"], scratch=scratch)
    with tarfile.open(tmp_path / "4.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    with tarfile.open(tmp_path / "3.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    assert paths(discover([tmp_path / "2.tar"], scratch=scratch)) == ["2.tar!1.tar!0.tar!train.log"]


def test_a_member_that_cannot_be_read_leaves_the_others(tmp_path: Path, scratch: Scratch) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.log", PLOG)
        archive.writestr("b.log", PLOG)
    data = (tmp_path / "a.zip").read_bytes()
    at = data.index(b"PK\x01\x02")
    (tmp_path / "a.zip").write_bytes(data[: at + 8] + b"\x01" + data[at + 9 :])
    bundle = discover([tmp_path / "a.zip"], scratch=scratch)
    assert (paths(bundle), reasons(bundle)) == (["a.zip!b.log"], {"a.zip!a.log": "refused: encrypted"})


@pytest.mark.parametrize("name", ["trace.json.gz", "core.dump.gz", "model.pt.zip", "x.7z", "notes.gz"])
def test_what_is_packed_and_no_log_is_not_unpacked(tmp_path: Path, scratch: Scratch, name: str) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/train.log").write_bytes(PLOG)
    data = b"plain words\n" if name == "notes.gz" else gzip.compress(b"{}" * 100)
    (tmp_path / "logs" / name).write_bytes(data)
    bundle = discover([tmp_path / "logs"], scratch=scratch)
    assert paths(bundle) == ["train.log"]
    assert set(reasons(bundle)) == {name}


def test_no_room_is_noted_and_the_rest_is_read(
    tmp_path: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    tar(tmp_path / "logs/a.tar.gz", [("a.log", PLOG)])
    (tmp_path / "logs/train.log").write_bytes(PLOG)
    monkeypatch.setattr("tempfile.mkdtemp", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    bundle = discover([tmp_path / "logs"], scratch=scratch)
    assert paths(bundle) == ["train.log"]
    assert reasons(bundle) == {"a.tar.gz": "no space left on device"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_archive_never_raises_and_stays_in_its_folder(tmp_path: Path, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(["a.tar", "a.tar.gz", "a.zip", "a.tar.xz", "a.tar.bz2"]))
    members: list[tuple[tarfile.TarInfo | str, bytes]] = [("d/a.log", PLOG * 9), ("d/b.log", PLOG), ("c.log", b"")]
    logs = tmp_path / "logs"
    logs.mkdir(exist_ok=True)
    for old in logs.iterdir():
        old.unlink()
    (logs / "train.log").write_bytes(PLOG)
    if form == "a.zip":
        with zipfile.ZipFile(logs / form, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members:
                archive.writestr(str(name), content)
    else:
        tar(logs / form, members, {"a.tar": "w"}.get(form, "w:" + form.rpartition(".")[2]))
    raw = bytearray((logs / form).read_bytes())
    for _ in range(data.draw(st.integers(0, 6))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    (logs / form).write_bytes(raw[: data.draw(st.integers(1, len(raw)))])
    before = set(tmp_path.iterdir())
    scratch = Scratch()
    try:
        bundle = discover([logs], scratch=scratch)
        assert "train.log" in paths(bundle)
        assert all(os.access(source.location, os.R_OK) for source in bundle.sources)
    finally:
        scratch.close()
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("tail", ["garbage", "checksum"])
def test_a_small_packed_log_with_a_bad_end_keeps_its_text(tmp_path: Path, scratch: Scratch, tail: str) -> None:
    packed = gzip.compress(PLOG * 3)
    (tmp_path / "logs").mkdir()
    target = tmp_path / "logs" / "train.log.gz"
    target.write_bytes(packed + b"trailing garbage" if tail == "garbage" else packed[:-8] + b"\1" * 8)
    bundle = discover([tmp_path / "logs"], scratch=scratch)
    assert text(bundle) == [PLOG * 3]
    assert "damaged" in bundle.partial[0].reason
