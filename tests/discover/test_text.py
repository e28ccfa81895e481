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
