"""How old the missing packet is when its duplicate ACKs arrive: shares above the threshold, and clusters."""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import signal

YOUNG = 0.020
"""Seconds above the longest round trip up to which an age says nothing of a packet sent later."""
BIN = 0.005
"""Width in seconds of a bin of the histogram."""
LONGEST = 0.6
"""Seconds; the histogram ends here."""
PROMINENCE = 0.1
"""A cluster stands out from its surroundings by this share of the tallest bin."""


def age_values(duplicates: pl.DataFrame, longest_round_trip: float) -> dict[str, float]:
    """
    Reduce the duplicate ACKs of a run.

    Parameters
    ----------
    duplicates
        One row per duplicate ACK: ``count``, ``age_s``, ``threshold_s``.
    longest_round_trip
        Seconds, propagation and a full queue.

    Returns
    -------
    dict
        Shares of the ages above the threshold, the threshold above the longest round trip, and the clusters.
    """
    is_late = pl.col("age_s") > pl.col("threshold_s")
    young = duplicates.filter(pl.col("age_s") < longest_round_trip + YOUNG)
    second = duplicates.filter(pl.col("count") == 2)
    peaks = clusters(duplicates["age_s"].to_numpy())
    return {
        "false-share": _share(young, is_late),
        "first-share": _share(duplicates.filter(pl.col("count") == 1), is_late),
        "second-share": _share(second, is_late),
        "second-excess": _number(second.select((pl.col("age_s") - pl.col("threshold_s")).max()).item()),
        "threshold-excess": _median(duplicates, "threshold_s") - longest_round_trip,
        "clusters": float(len(peaks)),
        "cluster-spacing": abs(peaks[1] - peaks[0]) if len(peaks) > 1 else math.nan,
    }


def histogram(ages: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count ages in bins; return the bins' centres in seconds and the counts."""
    counts, edges = np.histogram(ages, np.arange(0, LONGEST + BIN, BIN))
    return (edges[:-1] + edges[1:]) / 2, counts.astype(float)


def clusters(ages: NDArray[np.float64]) -> list[float]:
    """Find where ages crowd: the peaks of their histogram in seconds, the tallest first."""
    centres, counts = histogram(ages)
    if not counts.any():
        return []
    peaks, _ = signal.find_peaks(np.concatenate(([0], counts, [0])), prominence=PROMINENCE * counts.max())
    tallest_first = sorted(peaks - 1, key=lambda peak: -counts[peak])
    return [float(centres[peak]) for peak in tallest_first]


def _share(rows: pl.DataFrame, condition: pl.Expr) -> float:
    return _number(rows.select(condition.mean()).item())


def _median(rows: pl.DataFrame, column: str) -> float:
    return _number(rows[column].median())


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
