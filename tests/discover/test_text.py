"""Text in UTF-16: what is one, and that its lines keep their numbers."""

from __future__ import annotations

import codecs
import io
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.discover import Scratch, discover
from plogscope.discover.text import as_utf8, wide_encoding

LINES = "2025-03-04 05:06:07,008 ERROR 训练失败 ਊ rank 3\r\nTraceback (most recent call last):\r\n  x\r\n" * 9


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-16-le", ""), ("utf-16-be", "")]
    + [(name, "\ufeff") for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")],
)
def test_a_log_in_wide_characters_is_read_with_its_lines(tmp_path: Path, encoding: str, mark: str) -> None:
    (tmp_path / "train.log").write_bytes((mark + LINES).encode(encoding))
    with closing(Scratch()) as scratch:
        bundle = discover([tmp_path], scratch=scratch)
        assert [(source.path, source.kind, source.copied) for source in bundle.sources] == [
            ("train.log", "stdout", True)
        ]
        assert Path(bundle.sources[0].location).read_bytes() == LINES.encode()
        assert bundle.sources[0].size == len(LINES.encode())


def test_a_plog_in_wide_characters_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "plog-1_20250304050607008.log").write_bytes(LINES.encode("utf-16"))
    with closing(Scratch()) as scratch:
        bundle = discover([tmp_path], scratch=scratch)
        assert (bundle.sources[0].kind, bundle.sources[0].pid) == ("plog", 1)
        assert Path(bundle.sources[0].location).read_bytes() == LINES.encode()


@pytest.mark.parametrize(
    "data",
    [
        b"plain text\n" * 99,
        LINES.encode(),
        LINES.encode("gb18030"),
        b"\0" * 4096,
        bytes(512) + b"torn log line\n" * 300,
        bytes(range(256)) * 30,
        b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03." * 99,
        b"\1\0\0\0\2\0\0\0\3\0\0\0" * 300,
        b"",
    ],
)
def test_other_bytes_are_not_taken_for_wide_characters(data: bytes) -> None:
    assert wide_encoding(data) is None


@given(text=st.text(max_size=200), size=st.integers(1, 50), cut=st.integers(0, 3))
def test_the_copy_is_the_same_text_however_it_is_cut(text: str, size: int, cut: int) -> None:
    data = codecs.BOM_UTF16_LE + text.encode("utf-16-le", "surrogatepass")
    whole = data[: len(data) - cut]
    read = as_utf8(io.BytesIO(whole), "utf-16-le")
    parts = list(iter(lambda: read(size), b""))
    assert b"".join(parts).decode() == whole.decode("utf-16-le", "replace").removeprefix("\ufeff")


SHORT = ("内存不足", "没有那个文件或目录", "已杀死", "失败", "一", "bash: 启动.sh: 权限不够", "错误: 无", "段错误")


@pytest.mark.parametrize("encoding", ["gbk", "gb18030"])
@pytest.mark.parametrize("phrase", SHORT)
def test_a_file_in_gb18030_is_read_as_one_however_short_a_line_is(tmp_path: Path, phrase: str, encoding: str) -> None:
    lines = ["[2025-03-04 05:06:07] 作业已经提交到节点", "第 3 步", phrase, "plain", "退出"]
    (tmp_path / "out.log").write_bytes("\n".join(lines).encode(encoding))
    with closing(Scratch()) as scratch:
        bundle = discover([tmp_path], scratch=scratch)
        assert Path(bundle.sources[0].location).read_bytes().decode().split("\n") == lines


def test_a_torn_end_and_lines_in_utf_8_do_no_harm(tmp_path: Path) -> None:
    torn = "退出".encode("gbk")[:-1]
    lines = ["开始训练，共 8 卡".encode(), "内存不足".encode("gbk"), "结束".encode(), b"plain", torn]
    (tmp_path / "out.log").write_bytes(b"\r\n".join(lines))
    with closing(Scratch()) as scratch:
        bundle = discover([tmp_path], scratch=scratch)
        assert Path(bundle.sources[0].location).read_bytes().decode().split("\r\n") == [
            "开始训练，共 8 卡", "内存不足", "结束", "plain", "退\ufffd",
        ]  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        "训练开始\n".encode() * 9 + "训练".encode()[:-1], "训练".encode()[1:] + b"\n" + "训练开始\n".encode() * 9,
        "café résumé naïve\n".encode("latin-1") * 20, bytes(range(128, 256)) * 40, b"plain\n" * 99,
    ],
)  # fmt: skip
def test_other_text_is_not_taken_for_gb18030(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "out.log").write_bytes(data)
    with closing(Scratch()) as scratch:
        assert not discover([tmp_path], scratch=scratch).sources[0].copied


@given(text=st.text(max_size=200), size=st.integers(1, 50))
def test_the_copy_of_gb18030_is_the_same_however_it_is_cut(text: str, size: int) -> None:
    data = text.encode("gb18030", "replace")
    parts, whole = (as_utf8(io.BytesIO(data), "gb18030") for _ in range(2))
    once = whole(1 << 20)
    assert b"".join(iter(lambda: parts(size), b"")) == once
    assert once.count(b"\n") == data.count(b"\n")
