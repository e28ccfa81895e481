"""Arrow arrays from buffers, without pandas."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from plogscope.table.arrays import NULL, Words, numbers, optional_texts, texts


@given(values=st.lists(st.none() | st.integers(-(2**62), 2**62)))
def test_numbers_are_what_was_given(values: list[int | None]) -> None:
    given_values = np.array([NULL if value is None else value for value in values], np.int64)

    assert numbers(given_values, pa.int64()).to_pylist() == values


def test_a_number_that_the_type_cannot_hold_is_null() -> None:
    assert numbers(np.array([1, 1 << 40, -1], np.int64), pa.uint32()).to_pylist() == [1, None, None]
    assert numbers(np.array([1, 1 << 40, -1], np.int64), pa.int32()).to_pylist() == [1, None, -1]


@given(values=st.lists(st.none() | st.text(st.characters(codec="utf-8"))))
def test_texts_are_what_was_given(values: list[str | None]) -> None:
    assert optional_texts(values).to_pylist() == values
    assert texts([(value or "").encode() for value in values], pa.large_string()).to_pylist() == [
        v or "" for v in values
    ]


def test_a_dictionary_grows_and_never_beyond_its_limit() -> None:
    words = Words(limit=2)
    codes = np.array([words.code(word) for word in ("a", "b", None, "c", "a")], np.int64)

    assert words.column(codes).to_pylist() == ["a", "b", None, None, "a"]


def test_the_table_does_not_import_pandas() -> None:
    program = (
        "import sys, plogscope.table.write, plogscope.table.sinks, pyarrow.parquet; sys.exit('pandas' in sys.modules)"
    )

    assert (
        subprocess.run([sys.executable, "-c", program], check=False, env={"PYTHONPATH": ":".join(sys.path)}).returncode
        == 0
    )
