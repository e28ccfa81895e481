from __future__ import annotations

import base64
import struct
import zlib
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from plogscope.model.report import TimelineRank
from plogscope.render.pictures import draw_matrix, draw_tree, write_png
from tests.render import reports


def _read_png(data: bytes) -> tuple[int, int, list[bytes]]:
    """Width, height and rows of an indexed PNG without filters; checks every checksum."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(kind + body),)
        chunks[kind] = body
        at += 12 + length
    assert list(chunks) == [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"]
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[start : start + width + 1] for start in range(0, len(raw), width + 1)]
    assert {row[0] for row in rows} <= {0}
    return width, height, [row[1:] for row in rows]


@given(st.integers(1, 40), st.lists(st.binary(min_size=40, max_size=40), min_size=1, max_size=12))
def test_a_picture_can_be_read_back(width: int, rows: list[bytes]) -> None:
    pixels = [row[:width] for row in rows]
    assert _read_png(write_png(pixels, [(1, 2, 3, 255)] * 256)) == (width, len(rows), pixels)


def test_findings_have_colours_of_their_own_and_silence_has_none() -> None:
    matrix = draw_matrix(reports.explained())
    assert matrix
    width, height, rows = _read_png(base64.b64decode(matrix.png_base64))
    assert (width, height) == (180, 16)
    assert rows[13][108:110] == b"\x06\x07"
    assert set(rows[13][110:]) == {0}
    assert rows[2][3] == 10
    assert all(rows[rank][171] == 7 for rank in range(16) if rank != 13)
    assert max(max(row[:100]) for row in rows if row is not rows[2]) <= 5


def test_the_row_of_the_first_cause_is_marked_and_its_mark_lies_on_top() -> None:
    matrix = draw_matrix(reports.explained())
    assert matrix
    assert [label.text for label in matrix.labels if label.strong] == ["rank 13 node-b"]
    assert matrix.marks[-1].role == "root"
    assert matrix.roles == ["root", "cascade", "recovered"]


def test_without_an_explanation_the_suspect_is_marked() -> None:
    matrix = draw_matrix(reports.insufficient())
    assert matrix
    assert [label.text for label in matrix.labels if label.strong] == ["rank 13 node-b"]
    assert matrix.roles == ["witness"]


def test_no_times_give_no_picture() -> None:
    assert draw_matrix(reports.no_failure()) is None
    assert draw_tree([]) is None


def test_a_thousand_ranks_make_a_small_picture_with_readable_labels() -> None:
    matrix = draw_matrix(reports.huge(100))
    assert matrix
    assert len(matrix.png_base64) < 400_000
    heights = sorted(label.y for label in matrix.labels)
    assert min(after - before for before, after in pairwise(heights)) >= 12
    assert any(label.strong for label in matrix.labels)
    assert {mark.role for mark in matrix.marks} == {"root"}
    assert matrix.roles == ["root", "cascade", "teardown"]
    assert matrix.marks_left_out > 1_000
    _, _, rows = _read_png(base64.b64decode(matrix.png_base64))
    assert rows[13][720] == 6
    assert rows[14][1_191:1_194] == b"\x07\x07\x07"


def test_too_many_rows_keep_those_with_findings() -> None:
    report = reports.explained()
    quiet = [TimelineRank(label=f"r{rank}", rank=rank, counts=[[1] * 8], marks=[]) for rank in range(2_000)]
    quiet[1_999] = TimelineRank(label="r1999", rank=1_999, counts=[[1] * 8], marks=[(3, "c-1")])
    timeline = msgspec.structs.replace(report.timeline, ranks=quiet)
    matrix = draw_matrix(msgspec.structs.replace(report, timeline=timeline))
    assert matrix
    assert (matrix.rows, matrix.rows_left_out) == (1_024, 976)
    assert [label.text for label in matrix.labels if label.strong] == ["r1999"]


def test_marks_outside_the_time_or_of_unknown_entries_are_not_drawn() -> None:
    report = reports.explained()
    odd = TimelineRank(
        label="odd", rank=0, counts=[[1, 2], [0]], marks=[(-1, "c-1"), (2, "c-1"), (0, "nobody"), (1, "c-2")]
    )
    matrix = draw_matrix(
        msgspec.structs.replace(report, timeline=msgspec.structs.replace(report.timeline, ranks=[odd]))
    )
    assert matrix
    assert [mark.entry for mark in matrix.marks] == ["c-2"]
    _, _, rows = _read_png(base64.b64decode(matrix.png_base64))
    assert rows[0][1] == 7


def test_each_box_stands_below_what_explains_it() -> None:
    chain = reports.explained().chain
    tree = draw_tree([chain[2], chain[1], chain[0]])
    assert tree
    places = {node.entry.id: node for node in tree.nodes}
    assert tree.nodes[0].entry.id == "c-1"
    for name in ("c-2", "c-3"):
        assert places[name].y > places["c-1"].y
        assert places[name].x > places["c-1"].x
        assert places[name].parent_y is not None
    assert places["c-1"].parent_y is None


def test_a_circle_in_the_chain_is_drawn_once_each() -> None:
    first, second = reports.explained().chain[:2]
    circle = [
        msgspec.structs.replace(first, explained_by=["c-2"]),
        second,
        msgspec.structs.replace(second, id="c-9", explained_by=["c-9"]),
    ]
    tree = draw_tree(circle)
    assert tree
    assert sorted(node.entry.id for node in tree.nodes) == ["c-1", "c-2", "c-9"]


def test_a_long_chain_keeps_the_cause_and_counts_the_rest() -> None:
    chain = reports.huge(200).chain
    tree = draw_tree([*chain[1:], chain[0]])
    assert tree
    assert len(tree.nodes) == 12
    assert tree.left_out == 188
    assert "c-1" in {node.entry.id for node in tree.nodes}
