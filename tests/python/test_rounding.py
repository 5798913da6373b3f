"""Rounding of published tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from earlybird.report.rounding import round_tables, rounded

if TYPE_CHECKING:
    from pathlib import Path


def test_numbers_end_where_their_interval_makes_them_meaningless() -> None:
    table = pl.DataFrame({"value": [8.031685340035297], "low": [7.8819169958178], "high": [8.181453684252796]})
    assert rounded(table).row(0) == (8.03, 7.88, 8.18)


def test_numbers_without_an_interval_keep_six_digits() -> None:
    table = pl.DataFrame(
        {"value": [1234567.8, 0.123456789, None], "low": [None, 0.1, None], "high": [None, 0.1, None], "n": [1, 2, 3]}
    )
    assert rounded(table)["value"].to_list() == [1234570.0, 0.123457, None]
    assert rounded(table)["n"].to_list() == [1, 2, 3]


@given(
    value=st.floats(min_value=-1e6, max_value=1e6),
    half=st.floats(min_value=1e-3, max_value=1e4),
)
def test_rounding_moves_a_number_by_less_than_a_tenth_of_its_interval(value: float, half: float) -> None:
    table = pl.DataFrame({"value": [value], "low": [value - half], "high": [value + half]})
    moved = (rounded(table) - table).row(0)
    assert all(abs(number) <= 0.1 * half + 1e-6 * abs(value) + 1e-6 * half for number in moved)


def test_all_tables_of_a_folder_are_rounded_in_place(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "plot.csv").write_text("value,low,high,paper\n1.23456,1.1,1.3,\n")
    (tmp_path / "deep" / "nothing.csv").write_text("\n")
    round_tables(tmp_path)
    assert (tmp_path / "deep" / "plot.csv").read_text() == "value,low,high,paper\n1.23,1.1,1.3,\n"
    assert (tmp_path / "deep" / "nothing.csv").read_text() == "\n"
