"""Ages of the missing packet when its duplicate ACKs arrive: shares above the threshold, and clusters."""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import signal

from earlybird.study.reductions.whole_runs import number

YOUNG = 0.020  # seconds above the longest round trip up to which an age says nothing of a packet sent later
BIN = 0.005  # width in seconds of a bin of the histogram
LONGEST = 0.6  # seconds; the histogram ends here
HISTORY = 100.0  # seconds that are shown of one flow's history
PROMINENCE = 0.1  # a cluster stands out from its surroundings by this share of the tallest bin


def age_values(duplicates: pl.DataFrame, longest_round_trip: float) -> dict[str, float]:
    """Reduce the duplicate ACKs of a run; `longest_round_trip` in seconds is propagation and a full queue."""
    is_late = pl.col("age_s") > pl.col("er_threshold_s")
    young = duplicates.filter(pl.col("age_s") < longest_round_trip + YOUNG)
    second = duplicates.filter(pl.col("dupacks") == 2)
    peaks = clusters(duplicates["age_s"].to_numpy())
    return {
        "false_dupack_share": _share(young, is_late),
        "first_dupack_above_threshold_share": _share(duplicates.filter(pl.col("dupacks") == 1), is_late),
        "second_dupack_above_threshold_share": _share(second, is_late),
        "second_dupack_excess_s": number(second.select((pl.col("age_s") - pl.col("er_threshold_s")).max()).item()),
        "er_threshold_excess_s": number(duplicates["er_threshold_s"].median()) - longest_round_trip,
        "dupack_age_clusters": float(len(peaks)),
        "dupack_age_cluster_spacing_s": abs(peaks[1] - peaks[0]) if len(peaks) > 1 else math.nan,
    }


def histogram(ages: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count ages in bins; return the bins' centres in seconds and the counts."""
    counts, edges = np.histogram(ages, np.arange(0, LONGEST + BIN, BIN))
    return (edges[:-1] + edges[1:]) / 2, counts.astype(float)


def duplicate_bins(duplicates: pl.DataFrame) -> pl.DataFrame:
    """Count ages in bins by the duplicate's number, in per cent, beside the threshold's quantiles in ms."""
    place = pl.col("dupacks")
    parts = {"first": place == 1, "second": place == 2, "later": place >= 3}
    counts = {name: histogram(duplicates.filter(rows)["age_s"].to_numpy())[1] for name, rows in parts.items()}
    shares = {name: 100 * values / max(duplicates.height, 1) for name, values in counts.items()}
    centres = 1000 * histogram(duplicates["age_s"].to_numpy())[0]
    quantiles = {"threshold_ms": 0.5, "threshold_low_ms": 0.1, "threshold_high_ms": 0.9}
    threshold = [
        (pl.lit(duplicates["er_threshold_s"].quantile(part)) * 1000).alias(name) for name, part in quantiles.items()
    ]
    table = pl.DataFrame({"age_ms": centres, **shares}).with_columns(threshold)
    return table.filter(pl.col("age_ms") <= _last_crowded(table))


def duplicate_history(duplicates: pl.DataFrame) -> pl.DataFrame:
    """Take the last duplicate ACKs of a flow: ``time_s``, ``number`` (3: or later), ``age_ms``, ``threshold_ms``."""
    one = duplicates.filter(pl.col("flow") == pl.col("flow").first()).sort("time_s")
    return one.filter(pl.col("time_s") > pl.col("time_s").last() - HISTORY).select(
        "time_s",
        number=pl.col("dupacks").clip(upper_bound=3),
        age_ms=pl.col("age_s") * 1000,
        threshold_ms=pl.col("er_threshold_s") * 1000,
    )


def _last_crowded(bins: pl.DataFrame) -> float:
    """Return the age up to which 99.5 % of the duplicates lie, so that a few old ones do not stretch the plot."""
    total = bins.select(pl.sum_horizontal("first", "second", "later").cum_sum()).to_series()
    return float(bins["age_ms"][int((total < 0.995 * total[-1]).sum())])


def clusters(ages: NDArray[np.float64]) -> list[float]:
    """Find where ages crowd: the peaks of their histogram in seconds, the tallest first."""
    centres, counts = histogram(ages)
    if not counts.any():
        return []
    peaks, _ = signal.find_peaks(np.concatenate(([0], counts, [0])), prominence=PROMINENCE * counts.max())
    tallest_first = sorted(peaks - 1, key=lambda peak: -counts[peak])
    return [float(centres[peak]) for peak in tallest_first]


def _share(rows: pl.DataFrame, condition: pl.Expr) -> float:
    return number(rows.select(condition.mean()).item())
