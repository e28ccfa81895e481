"""The short way of the table against the exact way: lines near its borders, samples, fixtures, and real bundles."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plogscope.discover import discover
from plogscope.errors import PlogscopeError
from plogscope.formats.registry import FORMATS
from plogscope.scan import interned
from plogscope.table import coded, ordinary, runs
from plogscope.table.arrays import is_utf8, slices
from plogscope.table.fields import read_names, read_numbers, trim
from plogscope.table.place import Placement
from plogscope.table.write import table_of

Read = Callable[..., pa.Table]

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = [Path(folder) for folder in os.environ.get("PLOGSCOPE_CASES", "").split(os.pathsep) if folder]
BUNDLES = sorted(path for folder in FOLDERS for path in folder.glob("*") if path.is_dir())

HEADS = (
    "[INFO] GE(5150,trainer):", "[ERROR] HCCL(5150,trainer):", "[TRACE] HCCL(5150,python3.10):", "[EVENT] DRV(0):",
    "[WARNING] TDT(5150,):", "[DEBUG] A(1, b c):", "[INFO] GE(5150,a:b):", "[INFO]GE(5150,trainer):", "[INFO] ge(1,p):",
    "[INFO] TSCH(-1,null):", "[INFO] TORCHAIR(5150,trainer):", "[INFO] IMP(1,p):", "[INFO] GE(5150,\u8bad\u7ec3):",
    "[ERROR] ME(5150,7f01aabbccdd,python):", "[INFO] GE(12345678901,p):", "[OPLOG] GE(1,p):", "[INFO] G(1,p)] :",
    "[INFO] GE(1," + "p" * 70 + "):",
)  # fmt: skip
STAMPS = (
    "2026-05-11-08:00:{s:02d}.100.200 ", "2026-05-11 08:00:{s:02d}.100.201 ", "2026-05-11-08:00:{s:02d}.100.202",
    "2026-05-11-08:00:{s:02d}.100202 ", "2026-05-11-08:00:60.100.202 ", "2026-02-30-08:00:01.100.202 ",
    "1970-01-01-08:00:{s:02d}.100.202 ", "2026-05-11-08:00:{s:02d}.100 ", "2026-05-11-08:00:{s:02d}.100.2023 ",
)  # fmt: skip
PLACES = (
    "[graph.cc:12]", "[a/b/graph_1.cpp:1234567]", "[graph.cc: 12]", "[graph.cc:12345678]", "[graph:12]", "[g.abcde:1]",
    "[\u56fe.cc:1]", "[" + "d/" * 40 + "g.cc:9]", "[a b.cc:1]", "[status:init] [hcom.cc:2]", "[a.cc:1][", "",
)  # fmt: skip
TAILS = (
    "5151 ", " 5151 ", "  5151 ", "[5151]", " [5151]", "[5151][5152]", "[5151][Pop]", "[5151][", "1234567 ",
    "12345678 ", "12345678901 ", "5151", "5151\t", "[5151", "[tid:77] ", ">>> (tid:78) ", "Run:",
    "[12.500000] [ascend] [ERROR] ", "",
)  # fmt: skip
NAMES = (
    "Run:", "a::b:", "~X:", "X::~X:", "Map<int>:", "Run::", ":Run:", "1Run:", "_:", "R" * 51 + ":", "R" * 52 + ":",
    "R" * 70 + ":", "Run:key:", "Run:key=", "R\u00e9:", "Run", "Run ", "",
)  # fmt: skip
MESSAGES = (
    "ready, id=3", " two  blanks ", "      many       ", "\t", "\u4e2d\u6587", "x\u3000", "\u3000x", "x\xa0", "\x85",
    "x\u2003", "\u00e9", "x\r", "x \r", "\r", "\x1c\x1fx\x0b", "a\x0bb", "", "[5152]x", "quoted [ERROR] HCCL(1,",
    "x\x1b[0m", "a\0b",
)  # fmt: skip
NEAR = st.builds(
    lambda parts, s, encoding: "".join(parts).format(s=s).encode(encoding, "replace"),
    # Half of the parts are the usual ones, so that most lines are strange in a few places only.
    st.tuples(
        *(st.sampled_from([some[0]] * len(some) + [*some]) for some in (HEADS, STAMPS, PLACES, TAILS, NAMES, MESSAGES))
    ),
    st.integers(0, 59),
    st.sampled_from(["utf-8", "utf-8", "gb18030"]),
)
ANY_TAIL = st.builds(
    lambda head, tail: head.encode() + tail.replace(b"\n", b""),
    st.sampled_from(
        [HEADS[0] + STAMPS[0].format(s=1) + PLACES[0] + tail for tail in ("", "5151 ", "[5151]", "5151 A:")]
    ),
    st.one_of(st.binary(max_size=80), st.text("aZ09_:~<> []\t\r\u3000.", max_size=80).map(str.encode)),
)
OTHER = st.sampled_from([b"    continuation", b"", b"plain", b"[rank1]: text", b"[rank1]:   more", b"\xff\xfe"])


def _name(path: Path) -> str:
    return "-".join(path.parts[-2:])


@contextmanager
def only_the_exact_way() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordinary, "LEAST_RECORD_BYTES", 1 << 62)
        yield


@given(lines=st.lists(st.one_of(NEAR, ANY_TAIL, OTHER), max_size=12), block_bytes=st.sampled_from([200, 1 << 18]))
def test_lines_near_the_borders_are_read_as_the_exact_way_reads_them(
    rows: Read, lines: list[bytes], block_bytes: int
) -> None:
    data = b"\n".join(lines)
    with only_the_exact_way():
        exact = rows(data).to_pylist()

    assert rows(data, block_bytes=block_bytes).to_pylist() == exact


def test_samples_of_every_format_are_read_alike(rows: Read) -> None:
    samples = [sample.line for found in FORMATS for sample in found.samples]
    data = "\n".join(line for line in samples for _ in range(2)).encode()
    with only_the_exact_way():
        exact = rows(data).to_pylist()

    assert rows(data).to_pylist() == exact


@pytest.mark.parametrize(
    "bundle", [*sorted(FIXTURES.glob("*/run")), *BUNDLES], ids=lambda path: "-".join(path.parts[-2:])
)
def test_every_bundle_is_read_alike(bundle: Path) -> None:
    try:
        placement = Placement(bundle=discover([bundle]))
    except PlogscopeError:
        pytest.skip("nothing to read")
    short = table_of(placement)
    with only_the_exact_way():
        exact = table_of(placement)

    assert short.to_pylist() == exact.to_pylist()


def test_the_usual_lines_take_the_short_way(rows: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = [
        head + stamp.format(s=n % 60) + place + tail + message
        for n, (head, stamp, place, tail, message) in enumerate(
            (head, stamp, place, tail, message)
            for head in HEADS[:5]
            for stamp in STAMPS[:3]
            for place in PLACES[:2]
            for tail in ("5151 ", "[5151]", " [5151]", "5151 Run:", "5151 a::b:", "5151 Run: ")
            for message in ("ready", "key:value", "\u5931\u8d25", "", "ready\r")
        )
    ]
    exact: list[object] = []
    monkeypatch.setattr(runs.Runs, "_take_line", lambda *arguments: exact.append(arguments))

    assert rows("\n".join(usual).encode()).num_rows == len(usual)
    assert exact == []


@pytest.mark.parametrize("places", [3, 300])
def test_texts_beyond_what_is_interned_change_nothing(rows: Read, monkeypatch: pytest.MonkeyPatch, places: int) -> None:
    lines = [
        f"[INFO] GE({n % places % 9},p):2026-05-11-08:00:01.000.{n:03d} [f{n % places}.cc:1]{n + 1} Name{n}:message {n}"
        for n in range(300)
    ]
    data = "\n".join(lines).encode()
    with only_the_exact_way():
        exact = rows(data).to_pylist()
    for module in (interned, coded):
        monkeypatch.setattr(module, "MOST", 7)

    assert rows(data, block_bytes=2000).to_pylist() == exact


def test_interned_texts_are_told_apart_whatever_their_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interned, "_SLOT_BITS", 1)
    texts = [f"text {n};".encode() for n in range(500)]
    rows = np.frombuffer(b"".join(text.ljust(interned.WIDTH, b"?") for text in texts), np.uint8)
    rows = rows.reshape(-1, interned.WIDTH)
    lasts = np.array([len(text) - 1 for text in texts])
    known = interned.Interned(lambda text: text)

    for start in range(0, 500, 50):
        known.find(rows[start : start + 50], lasts[start : start + 50])
    assert [known.entries[index] for index in known.find(rows, lasts).tolist()] == texts


@given(value=st.integers(0, 10**9), tail=st.sampled_from(["", " ", "]", "a", "\xff", "/", ":"]))
def test_numbers_are_read_by_arithmetic(value: int, tail: str) -> None:
    text = f"{value}{tail}".encode("latin-1")
    lengths, values = read_numbers(np.frombuffer(text + bytes(16), np.uint8), np.array([0]))

    assert lengths[0] == (len(str(value)) if value < 10**7 else 0)
    assert value >= 10**7 or values[0] == value


@given(text=st.text("aZ0_:~<> =\u00e9", max_size=70))
@example("a" * 51 + ":" + "b" * 20)
def test_names_end_with_the_last_colon_of_what_can_be_a_name(text: str) -> None:
    raw = text.encode()
    row = np.frombuffer(raw[:64].ljust(64, b"\0"), np.uint8).reshape(1, 64)
    lengths, sure = read_names(row)
    found = re.match(rb"([A-Za-z_~][\w:~<>]{0,200}):", raw)

    assert not sure[0] or lengths[0] == (0 if found is None else found.end())


@given(text=st.text(" \t\x0b\x1c\x1f\r\x85\xa0\u2003\u3000ax\u4e2d", max_size=9))
def test_white_space_at_both_ends_is_taken_off(text: str) -> None:
    raw = text.encode()
    body = np.frombuffer(bytes(8) + raw + bytes(8), np.uint8)
    first, last, sure = trim(body, np.array([8]), np.array([8 + len(raw)]))

    assert not sure[0] or body[first[0] : last[0]].tobytes() == text.strip().encode()
    assert sure[0] or not text.isascii() or len(text) > 4


@given(texts=st.lists(st.tuples(st.text(st.characters(codec="utf-8"), max_size=5), st.binary(max_size=3)), max_size=9))
def test_slices_are_copied_from_between_anything(texts: list[tuple[str, bytes]]) -> None:
    data, starts, ends = b"", [], []
    for text, gap in texts:
        data += gap
        starts.append(len(data))
        data += text.encode()
        ends.append(len(data))

    assert slices(data, np.array(starts, np.int64), np.array(ends, np.int64)).to_pylist() == [text for text, _ in texts]


@given(data=st.one_of(st.binary(max_size=9), st.text(st.characters(codec="utf-8"), max_size=9).map(str.encode)))
def test_utf8_is_told_from_other_bytes(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        assert not is_utf8(data)
    else:
        assert is_utf8(data)
