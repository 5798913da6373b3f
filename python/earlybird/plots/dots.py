"""Dots by rows: a quantity in many places, a row for each with its name in full, and in it a dot per line."""

from collections.abc import Iterator, Sequence

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, marker_style, numbers
from earlybird.plots.lines import Wording
from earlybird.plots.style import Look, look, panelled

ROW, DOT = 0.31, 0.085
"""Inches of a row at least, and of each dot in it."""
SPREAD = 0.6
"""Share of a row over which its dots are spread, so that their intervals can be told apart."""


def dots_figure(points: pl.DataFrame, wording: Wording) -> Figure:
    """
    Draw dots by rows in panels.

    Parameters
    ----------
    points
        As for `lines_figure`; its ``x`` is the place of a row from the top. Rows without any dot are left out.
    wording
        Its `ticks` name the rows, its `y` is the quantity.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    shown, names = _rows(points, wording)
    height = ROW * _room(shown) * len(names) + 0.5
    return panelled(shown, lambda axes, rows: _draw(axes, rows, names, wording), "", height=height)


def dots_chart(points: pl.DataFrame, wording: Wording) -> Chart:
    """Make the interactive form of `dots_figure`."""
    shown, names = _rows(points, wording)
    x = {"title": wording.y, "rangemode": "tozero"} | ({"type": "log"} if wording.log_y else {})
    y = {"title": "", "range": _ends(names), "tickvals": list(range(len(names))), "ticktext": list(names)}
    return chart(shown, _traces, x, y, hovermode="closest") | {"rows": _room(shown) * len(names)}


def _rows(points: pl.DataFrame, wording: Wording) -> tuple[pl.DataFrame, Sequence[str]]:
    """Give every dot the number of its row from the top, and the names of the rows that have any."""
    shown = points.filter(pl.col("value").is_not_null())
    names = [wording.ticks[place] for place in shown["x"].unique().sort()]
    return shown.with_columns(row=pl.col("x").rank("dense") - 1.0), names


def _room(shown: pl.DataFrame) -> float:
    """Return the height of a row, in rows of few dots."""
    return max(1.0, DOT / ROW * shown["line"].n_unique())


def _draw(axes: Axes, points: pl.DataFrame, names: Sequence[str], wording: Wording) -> None:
    for style, rows in _lines(points):
        marks = style.line() | {"linestyle": "none"}
        axes.plot(rows["value"], rows["row"], **marks, label=rows["name"][0])
        axes.hlines(rows["row"], rows["low"], rows["high"], color=style.colour, linewidth=1.1, alpha=0.75)
    axes.set_yticks(range(len(names)), list(names))
    axes.set_ylim(*_ends(names))
    axes.set_xlabel(wording.y)
    if wording.log_y:
        axes.set_xscale("log")
    else:
        axes.set_xlim(0, None)


def _traces(points: pl.DataFrame) -> list[Trace]:
    return [_trace(rows, style) for style, rows in _lines(points)]


def _trace(rows: pl.DataFrame, style: Look) -> Trace:
    bars = {"array": numbers(rows["high"] - rows["value"]), "arrayminus": numbers(rows["value"] - rows["low"])}
    error = {"type": "data", "symmetric": False, "width": 0, "thickness": 1.2, "color": style.colour}
    name = rows["name"][0]
    return {
        "name": name,
        "legendgroup": name,
        "mode": "markers",
        "x": numbers(rows["value"]),
        "y": numbers(rows["row"]),
        "marker": marker_style(style),
        "error_x": error | bars,
        "hovertemplate": "%{x:.4~g}",
    }


def _lines(points: pl.DataFrame) -> Iterator[tuple[Look, pl.DataFrame]]:
    """Go through the lines, with each dot beside the middle of its row."""
    names = points["line"].unique(maintain_order=True).to_list()
    for position, name in enumerate(names):
        beside = SPREAD * ((position + 0.5) / len(names) - 0.5)
        yield look(name, position), points.filter(pl.col("line") == name).with_columns(pl.col("row") + beside)


def _ends(names: Sequence[str]) -> list[float]:
    """Return the lower and upper end of the axis of rows, the first of which is on top."""
    return [len(names) - 0.4, -0.6]
