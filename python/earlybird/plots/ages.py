"""Ages of missing packets when duplicate ACKs arrive, beside the threshold of early retransmission."""

import math

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, marker_style, numbers
from earlybird.plots.style import INK, MUTED, Look, look, panelled

COUNTS = {"first": "first duplicate", "second": "second", "later": "third and later"}
"""Columns of a histogram and what they count."""
AGE = "Age of the missing packet (ms)"
SHARE = "Share of all duplicates (%)"
THRESHOLD = ("threshold_ms", "threshold_low_ms", "threshold_high_ms")


def histogram_figure(bins: pl.DataFrame) -> Figure:
    """
    Draw histograms of ages.

    Parameters
    ----------
    bins
        One row per bin: ``panel``, ``age_ms`` (centre), ``first``, ``second``, ``later`` (shares in per cent), and
        ``threshold_ms``, ``threshold_low_ms``, ``threshold_high_ms``, the same in all rows of a panel.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(bins, _draw_bins, SHARE)


def histogram_chart(bins: pl.DataFrame) -> Chart:
    """Make the interactive form of `histogram_figure`."""
    x, y = {"title": AGE, "range": [0, None]}, {"title": SHARE}
    return chart(bins, _bin_traces, x, y, barmode="stack", hovermode="x unified")


def _bin_traces(bins: pl.DataFrame) -> list[Trace]:
    """Stack the bars of a panel and mark the threshold."""
    ages = numbers(bins["age_ms"])
    width = bins["age_ms"][1] - bins["age_ms"][0]
    bars = [
        {
            "type": "bar",
            "name": text,
            "legendgroup": text,
            "x": ages,
            "y": numbers(bins[column]),
            "width": 0.9 * width,
            "marker": {"color": style.colour},
            "hovertemplate": "%{y:.2f} %",
        }
        for (column, text), style in zip(COUNTS.items(), _looks(), strict=True)
    ]
    top = float(bins.select(pl.sum_horizontal(*COUNTS).max()).item())
    middle, low, high = (bins[column][0] for column in THRESHOLD)
    return [*bars, *(_threshold_traces(middle, low, high, top) if middle is not None and math.isfinite(middle) else [])]


def _threshold_traces(middle: float, low: float, high: float, top: float) -> list[Trace]:
    shared: Trace = {"mode": "lines", "legendgroup": "threshold", "hoverinfo": "skip"}
    corners = {"x": numbers([low, low, high, high]), "y": numbers([0, top, top, 0]), "fill": "toself"}
    area = shared | corners | {"fillcolor": f"{MUTED}38", "line": {"width": 0}, "showlegend": False}
    across = {"name": "threshold", "x": numbers([middle, middle]), "y": numbers([0, top])}
    return [area, shared | across | {"line": {"color": INK, "width": 1.5}}]


def _draw_bins(axes: Axes, bins: pl.DataFrame) -> None:
    """Stack the bars of a panel and mark the threshold."""
    ages, below = bins["age_ms"].to_numpy(), 0 * bins["age_ms"].to_numpy()
    width = float(ages[1] - ages[0])
    for column, style in zip(COUNTS, _looks(), strict=True):
        shares = bins[column].to_numpy()
        axes.bar(ages, shares, width * 0.86, bottom=below, color=style.colour, label=COUNTS[column])
        below = below + shares
    _draw_threshold(axes, *(bins[column][0] for column in THRESHOLD))
    axes.set_xlabel(AGE)
    axes.set_xlim(0, None)


def _draw_threshold(axes: Axes, middle: float | None, low: float, high: float) -> None:
    """Mark the threshold and where most of its values lie, if there is one."""
    if middle is not None and math.isfinite(middle):
        axes.axvspan(low, high, color=MUTED, alpha=0.22, linewidth=0)
        axes.axvline(middle, color=INK, linewidth=1.2, label="threshold")


def history_figure(duplicates: pl.DataFrame) -> Figure:
    """
    Draw ages against time, for one flow in each panel.

    Parameters
    ----------
    duplicates
        One row per duplicate ACK: ``panel``, ``time_s``, ``number`` (1, 2, 3: and later), ``age_ms``,
        ``threshold_ms``.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    figure = panelled(duplicates, _draw_history, AGE)
    for axes in figure.axes:
        axes.set_ylim(0, None)
    return figure


def history_chart(duplicates: pl.DataFrame) -> Chart:
    """Make the interactive form of `history_figure`."""
    x, y = {"title": "Time (s)"}, {"title": AGE, "range": [0, None]}
    return chart(duplicates, _history_traces, x, y, hovermode="closest")


def _history_traces(duplicates: pl.DataFrame) -> list[Trace]:
    traces: list[Trace] = []
    for number, (text, style) in enumerate(zip(COUNTS.values(), _looks(), strict=True), start=1):
        rows = duplicates.filter(pl.col("number") == number)
        places = {"x": numbers(rows["time_s"]), "y": numbers(rows["age_ms"])}
        traces.append(
            {"name": text, "legendgroup": text, "mode": "markers", "marker": marker_style(style, size=4)}
            | {"hovertemplate": "%{y:.0f} ms at %{x:.2f} s"}
            | places
        )
    places = {"x": numbers(duplicates["time_s"]), "y": numbers(duplicates["threshold_ms"])}
    across: Trace = {"name": "threshold", "legendgroup": "threshold", "mode": "lines"}
    return [*traces, across | places | {"line": {"color": INK, "width": 1.2}, "hovertemplate": "%{y:.0f} ms"}]


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
