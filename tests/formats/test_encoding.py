"""UTF-8 or GB18030, line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plogscope.formats.encoding import decode_line, is_gb18030

SENTENCES = (
    "错误：设备内存不足，请检查显存占用",
    "2025-03-04 05:06:07,008 ERROR 训练失败（rank 3）",
    "[ERROR] 数据集“训练集”不存在……",
    "[INFO] 加载完成",
    "RuntimeError: 内部错误",
    "内存不足",
    "bash: run.sh: 没有那个文件或目录",
    "已杀死",
)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "gbk"])
def test_chinese_is_read_in_each_of_its_encodings(sentence: str, encoding: str) -> None:
    assert decode_line(sentence.encode(encoding)) == sentence


@given(
    text=st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=2, max_size=40),
    cut=st.integers(1, 2),
    left=st.booleans(),
)
def test_a_torn_line_in_utf_8_stays_utf_8(text: str, cut: int, left: bool) -> None:  # noqa: FBT001 - drawn
    raw = text.encode()
    torn = raw[cut:] if left else raw[:-cut]
    assert decode_line(torn) == torn.decode("utf-8", "replace")


@given(raw=st.binary(max_size=300), most=st.integers(0, 300))
def test_any_bytes_are_text_and_the_beginning_is_decoded_like_the_whole(raw: bytes, most: int) -> None:
    whole, part = decode_line(raw), decode_line(raw, most)
    assert isinstance(whole, str)
    if len(part) > 4:
        assert whole.startswith(part[:-4])


@pytest.mark.parametrize(
    "raw", [b"", b"ascii", "caf\u00e9 r\u00e9sum\u00e9".encode("latin-1"), b"\xff\xfe\xfd", b"\xb4"]
)
def test_other_bytes_are_not_taken_for_chinese(raw: bytes) -> None:
    assert not is_gb18030(raw)
