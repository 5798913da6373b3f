"""Ages of missing packets when duplicate ACKs arrive, beside the threshold of early retransmission."""

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earlybird.plots.style import INK, MUTED, Look, look, panelled

COUNTS = {"first": "first duplicate", "second": "second", "later": "third and later"}
"""Columns of a histogram and what they count."""
THRESHOLD = ("threshold_ms", "threshold_low_ms", "threshold_high_ms")


def histogram_figure(bins: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """
    Draw histograms of ages.

    Parameters
    ----------
    bins
        One row per bin: ``panel``, ``age_ms`` (centre), ``first``, ``second``, ``later`` (shares in per cent), and
        ``threshold_ms``, ``threshold_low_ms``, ``threshold_high_ms``, the same in all rows of a panel.
    narrow
        Whether the panels stand one below the other.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(bins, _draw_bins, "Share of all duplicates (%)", narrow=narrow)


def _draw_bins(axes: Axes, bins: pl.DataFrame) -> None:
    """Stack the bars of a panel and mark the threshold."""
    ages, below = bins["age_ms"].to_numpy(), 0 * bins["age_ms"].to_numpy()
    width = float(ages[1] - ages[0])
    for column, style in zip(COUNTS, _looks(), strict=True):
        shares = bins[column].to_numpy()
        axes.bar(ages, shares, width * 0.86, bottom=below, color=style.colour, label=COUNTS[column])
        below = below + shares
    _draw_threshold(axes, *(bins[column][0] for column in THRESHOLD))
    axes.set_xlabel("Age of the missing packet (ms)")
    axes.set_xlim(0, None)


def _draw_threshold(axes: Axes, middle: float | None, low: float, high: float) -> None:
    """Mark the threshold and where most of its values lie, if there is one."""
    if middle is not None and math.isfinite(middle):
        axes.axvspan(low, high, color=MUTED, alpha=0.22, linewidth=0)
        axes.axvline(middle, color=INK, linewidth=1.2, label="threshold")


def history_figure(duplicates: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """
    Draw ages against time, for one flow in each panel.

    Parameters
    ----------
    duplicates
        One row per duplicate ACK: ``panel``, ``time_s``, ``number`` (1, 2, 3: and later), ``age_ms``,
        ``threshold_ms``.
    narrow
        Whether the panels stand one below the other.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    figure = panelled(duplicates, _draw_history, "Age of the missing packet (ms)", narrow=narrow)
    for axes in figure.axes:
        axes.set_ylim(0, None)
    return figure


def _draw_history(axes: Axes, duplicates: pl.DataFrame) -> None:
    for number, (text, style) in enumerate(zip(COUNTS.values(), _looks(), strict=True), start=1):
        rows = duplicates.filter(pl.col("number") == number)
        keywords = style.line() | {"linestyle": "none", "markersize": 2.6, "markeredgewidth": 0.5}
        axes.plot(rows["time_s"].to_numpy(), rows["age_ms"].to_numpy(), **keywords, label=text)
    times, threshold = duplicates["time_s"].to_numpy(), duplicates["threshold_ms"].to_numpy()
    axes.plot(times, threshold, color=INK, linewidth=1.0, label="threshold")
    axes.set_xlabel("Time (s)")


def _looks() -> list[Look]:
    return [look(name, 0) for name in ("pert", "sack-er", "sack")]
