"""Figures from the results of runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from earlybird.assessment.register import Quantity
    from earlybird.result import Result


def measured(result: Result, quantity: Quantity) -> float:
    """Return a quantity of a run in the unit of its figure; NaN if the run does not have it."""
    values = _values(result, quantity)
    return math.nan if not values.size else float(_reduced(values, quantity.take) * quantity.scale)


def combined(values: Sequence[float], figure: str) -> float:
    """Return the figure of several cases: their mean, or their geometric mean."""
    return math.exp(np.mean(np.log(values))) if figure == "geometric" else float(np.mean(values))


def _values(result: Result, quantity: Quantity) -> NDArray[np.float64]:
    if quantity.table == "summary":
        value = result.summary.get(quantity.column)
        return np.array([] if value is None else [value], dtype=float)
    rows = result.table(quantity.table)
    if quantity.table == "links":
        rows = rows.filter(pl.col("link") == result.summary["bottleneck"])
    elif quantity.group is not None:
        rows = rows.filter(pl.col("group") == quantity.group)
    if quantity.column == "completion_time_s":
        # A transfer that did not end took what was left of the run at least.
        rows = rows.with_columns(pl.col(quantity.column).fill_nan(result.summary["duration_s"] - pl.col("start_s")))
    return rows[quantity.column].to_numpy()


def _reduced(values: NDArray[np.float64], take: str) -> float:
    if take == "least-of-mean":
        return float(values.min() / values.mean()) if values.mean() else math.nan
    if take == "p95":
        return float(np.quantile(values, 0.95, method="inverted_cdf"))
    if take == "sum":
        return float(values.sum())
    return float(values.max() if take == "max" else values.mean())
