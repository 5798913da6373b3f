"""Rounds the numbers of published tables to the digits that mean something."""

from collections.abc import Mapping
from math import floor, inf, log10
from pathlib import Path

import polars as pl

DIGITS = 6  # significant digits of numbers without an interval
INTERVAL = ("value", "low", "high")
"""Columns of a number and of its interval, whose half-width decides how many digits mean something."""


def round_tables(folder: Path) -> None:
    """Round the numbers of all CSV files of a folder, and of those in it, in place."""
    for path in sorted(folder.rglob("*.csv")):
        table = pl.read_csv(path, infer_schema_length=None, raise_if_empty=False)
        if table.width:
            rounded(table).write_csv(path)


def rounded(table: pl.DataFrame) -> pl.DataFrame:
    """Round `value` with `low` and `high` to the second digit of the half-width, others to their sixth."""
    numbers = [name for name, kind in table.schema.items() if kind.is_float()]
    if not all(name in numbers for name in INTERVAL):
        return table.with_columns(pl.col(numbers).round_sig_figs(DIGITS))
    interval = pl.struct(INTERVAL).map_elements(_within, return_dtype=pl.Struct(dict.fromkeys(INTERVAL, pl.Float64)))
    others = pl.col([name for name in numbers if name not in INTERVAL]).round_sig_figs(DIGITS)
    return table.with_columns(others, *(interval.struct.field(name).alias(name) for name in INTERVAL))


def _within(interval: Mapping[str, float | None]) -> dict[str, float | None]:
    """Round a number and its interval."""
    low, high = interval["low"], interval["high"]
    half = (high - low) / 2 if low is not None and high is not None else 0.0
    return {name: None if number is None else _shorter(number, half) for name, number in interval.items()}


def _shorter(number: float, half: float) -> float:
    """Round a number whose interval reaches so far to each side, or that has none."""
    return round(number, 1 - floor(log10(half))) if 0.0 < half < inf else float(f"{number:.{DIGITS}g}")
