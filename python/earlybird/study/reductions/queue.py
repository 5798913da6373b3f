"""Queue lengths at the bottleneck when the packets of a group of flows arrive."""

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earlybird.plots.lines import plain_line
from earlybird.quantities import parse_duration
from earlybird.result import Result


def position_shares(positions: pl.DataFrame) -> NDArray[np.float64]:
    """Return the shares of packets by the number that they found waiting, from 0; empty without packets."""
    if not positions.height:
        return np.zeros(0)
    counts = np.bincount(positions["packets_waiting"], weights=positions["packets_in"]).astype(float)
    shares: NDArray[np.float64] = counts / counts.sum()
    return shares


def position_values(result: Result, group: str, buffer: float) -> dict[str, float]:
    """Reduce the queue lengths that a group's packets found, and with samples how much they differ from the mean."""
    own = result.queue_positions.filter(group=group)
    shares = position_shares(own)
    places = np.arange(len(shares))
    counted = int(own["packets_in"].sum())
    offered = int(result.link_groups.filter(group=group)["measured_packets_in"].sum())
    values = {
        "mean_queue_position": float(places @ shares),
        "lower_half_queue_share": float(shares[places < buffer / 2].sum()),
        "upper_quarter_queue_share": float(shares[places >= 0.75 * buffer].sum()),
        "queue_positions_counted_share": counted / offered if offered else math.nan,
        "drops_per_full_queue": _dropped_per_full(result, buffer),
    }
    if "series" in result.tables:
        found = in_tenths(position_shares(result.queue_positions), buffer)
        values["queue_position_difference"] = float(np.abs(found - in_tenths(_length_shares(result), buffer)).sum() / 2)
    return values


def _dropped_per_full(result: Result, buffer: float) -> float:
    """Divide the packets that were dropped by those that found no room; a limit of L packets lets L − 1 wait."""
    full = int(result.queue_positions.filter(pl.col("packets_waiting") >= buffer - 1)["packets_in"].sum())
    return int(result.link_groups["measured_packets_dropped"].sum()) / full if full else math.nan


def in_tenths(shares: NDArray[np.float64], buffer: float) -> NDArray[np.float64]:
    """Add up shares over ten equal parts of a queue."""
    tenths = np.minimum(9, 10 * np.arange(len(shares)) // buffer).astype(int)
    return np.bincount(tenths, weights=shares, minlength=10).astype(float)


def _length_shares(result: Result) -> NDArray[np.float64]:
    """Return the shares of the samples after the warm-up by number of waiting packets."""
    warm_up = parse_duration(result.scenario["measure"]["warm-up"]) or 0.0
    samples = result.series.filter(subject=result.summary["bottleneck"], quantity="queue_packets")
    lengths = samples.filter(pl.col("time_s") >= warm_up)["value"].cast(pl.Int64)
    return np.bincount(lengths).astype(float) / len(lengths)


def position_lines(positions: pl.DataFrame, buffer: float) -> pl.DataFrame:
    """Make a line per group: the percentage of its packets that found each tenth of the queue waiting."""
    middles = (np.arange(10) + 0.5) * buffer / 10
    groups = positions["group"].unique(maintain_order=True)
    shares = {group: in_tenths(position_shares(positions.filter(group=group)), buffer) for group in groups}
    return pl.concat(plain_line(group, group.upper(), middles, 100 * share) for group, share in shares.items())
