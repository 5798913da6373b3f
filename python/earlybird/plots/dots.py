"""Dots by rows: a quantity of many senders, a row for each and in it a dot with its interval per line."""

from collections.abc import Iterator

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, marker_style, numbers
from earlybird.plots.lines import Wording
from earlybird.plots.style import OTHERS, Look, panelled

ROW = 0.31
"""Inches of a row."""
SPREAD = 0.5
"""Share of a row over which its dots are spread, so that their intervals can be told apart."""


def dots_figure(points: pl.DataFrame, wording: Wording) -> Figure:
    """
    Draw dots by rows in panels.

    Parameters
    ----------
    points
        As for `lines_figure`; its ``x`` is the number of the row from the top.
    wording
        Its `ticks` name the rows, its `y` is the quantity.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(points, lambda axes, rows: _draw(axes, rows, wording), "", height=ROW * len(wording.ticks) + 0.5)


def dots_chart(points: pl.DataFrame, wording: Wording) -> Chart:
    """Make the interactive form of `dots_figure`."""
    x = {"title": wording.y, "rangemode": "tozero"} | ({"type": "log"} if wording.log_y else {})
    ticks = {"tickvals": list(wording.ticks), "ticktext": list(wording.ticks.values())}
    y = {"title": "", "range": _ends(wording)} | ticks
    return chart(points, _traces, x, y, hovermode="closest") | {"rows": len(wording.ticks)}


def _draw(axes: Axes, points: pl.DataFrame, wording: Wording) -> None:
    for look, rows in _lines(points):
        style = look.line() | {"linestyle": "none"}
        axes.plot(rows["value"], rows["place"], **style, label=rows["name"][0])
        axes.hlines(rows["place"], rows["low"], rows["high"], color=look.colour, linewidth=1.1, alpha=0.75)
    axes.set_yticks(list(wording.ticks), list(wording.ticks.values()))
    axes.set_ylim(*_ends(wording))
    axes.set_xlabel(wording.y)
    if wording.log_y:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, None)


def _traces(points: pl.DataFrame) -> list[Trace]:
    return [_trace(rows, look) for look, rows in _lines(points)]


def _trace(rows: pl.DataFrame, look: Look) -> Trace:
    bars = {"array": numbers(rows["high"] - rows["value"]), "arrayminus": numbers(rows["value"] - rows["low"])}
    error = {"type": "data", "symmetric": False, "width": 0, "thickness": 1.2, "color": look.colour}
    name = rows["name"][0]
    return {
        "name": name,
        "legendgroup": name,
        "mode": "markers",
        "x": numbers(rows["value"]),
        "y": numbers(rows["place"]),
        "marker": marker_style(look),
        "error_x": error | bars,
        "hovertemplate": "%{x:.4~g}",
    }


def _lines(points: pl.DataFrame) -> Iterator[tuple[Look, pl.DataFrame]]:
    """Go through the lines, with the place of each dot beside the middle of its row."""
    names = points["line"].unique(maintain_order=True).to_list()
    for position, name in enumerate(names):
        beside = SPREAD * ((position + 0.5) / len(names) - 0.5)
        rows = points.filter((pl.col("line") == name) & pl.col("value").is_not_null())
        yield OTHERS[position % len(OTHERS)], rows.with_columns(place=pl.col("x") + beside)


def _ends(wording: Wording) -> list[float]:
    """Return the lower and upper end of the axis of rows, the first of which is on top."""
    return [len(wording.ticks) - 0.4, -0.6]
