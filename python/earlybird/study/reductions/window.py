"""Metrics of the steadiness of a congestion window."""

import numpy as np
import polars as pl

from earlybird.plots.lines import plain_line

SPAN = 90.0  # seconds at the end of a run that are looked at (PERT-video paper, figure 11) …
SHARE = 3 / 7
"""… and of a shorter run the share that they are of the paper's film of 210 s: it shall not begin in slow start."""
FALL = 0.8  # a sample below this share of the one before is a fall


def window_values(series: pl.DataFrame, flow: str) -> dict[str, float]:
    """Return variation, mean change per second, and falls by a fifth of a window at a run's end, if it has one."""
    samples = _at_the_end(series, flow)
    if samples.height < 2:
        return {}
    windows, times = samples["value"].to_numpy(), samples["time_s"].to_numpy()
    return {
        "cwnd_variation": float(windows.std() / windows.mean()),
        "cwnd_change_per_s": float(np.abs(np.diff(windows)).sum() / (times[-1] - times[0])),
        "cwnd_falls": float((windows[1:] < FALL * windows[:-1]).sum()),
    }


def window_line(series: pl.DataFrame, flow: str, transport: str) -> pl.DataFrame:
    """Make a line of a flow's window in segments over the end of a run, two points per second."""
    samples = _at_the_end(series, flow)
    times = pl.col("time_s") - pl.col("time_s").min()
    points = (
        samples.select(((2 * times).floor() / 2).alias("time_s"), "value")
        .group_by("time_s", maintain_order=True)
        .last()
    )
    return plain_line(transport, "window", points["time_s"], points["value"])


def _at_the_end(series: pl.DataFrame, flow: str) -> pl.DataFrame:
    samples = series.filter(subject=flow, quantity="cwnd")
    end = pl.col("time_s").max()
    return samples.filter(pl.col("time_s") > end - pl.min_horizontal(SPAN, SHARE * end))
