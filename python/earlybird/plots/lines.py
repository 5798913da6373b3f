"""Lines in panels: a quantity against an axis, one line per transport, with intervals and the paper's numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from earlybird.plots.chart import Chart, Trace, chart, line_style, marker_style, numbers
from earlybird.plots.style import MUTED, PAPER, Look, look, panelled

PAPER_LABEL = "as the paper states"
PAPER_KEY: Trace = {
    "name": PAPER_LABEL,
    "legendgroup": PAPER_LABEL,
    "x": [None],
    "y": [None],
    "mode": "markers",
    "marker": {"symbol": "star", "size": 11, "color": MUTED},
}
"""The legend's star, in no line's colour as it stands for those of all lines."""
LETTERS_PER_INCH = 13.0
"""Of tick labels."""
MANY = 12
"""With more points than this, a line gets few markers and its interval is a band."""


@dataclass(frozen=True, slots=True)
class Wording:
    """What stands at a figure's axes."""

    x: str
    y: str
    ticks: Mapping[float, str] = field(default_factory=dict)
    """Places along x that have a name; without any, x is a plain scale from 0."""
    is_wide: bool = False
    """Whether x is logarithmic."""
    share_y: bool = True
    log_y: bool = False
    """Whether y is logarithmic."""
    top: float | None = None
    """Upper end of y where it is known, such as 100 %."""


def plain_line(line: str, name: str, x: ArrayLike, values: ArrayLike) -> pl.DataFrame:
    """
    Make the points of a line without intervals and without numbers of a paper.

    Parameters
    ----------
    line, name
        What decides how it looks, and what it is called.
    x, values
        Its points.

    Returns
    -------
    polars.DataFrame
        For `lines_figure`, but for the panel.
    """
    places, heights = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    nothing = pl.lit(None, dtype=pl.Float64)
    return pl.DataFrame({"x": places, "value": heights}).select(
        pl.lit(line).alias("line"),
        pl.lit(name).alias("name"),
        "x",
        "value",
        low=nothing,
        high=nothing,
        paper=nothing,
    )


def lines_figure(points: pl.DataFrame, wording: Wording) -> Figure:
    """
    Draw lines in panels.

    Parameters
    ----------
    points
        One row per point: ``panel``, ``line``, ``name`` (of the line), ``x``, ``value``, ``low`` and ``high`` (null
        where there is no interval), ``paper`` (null where the paper gives no number).
    wording
        The axes.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    figure = panelled(
        points,
        lambda axes, rows: _draw_panel(axes, rows, wording),
        wording.y,
        share_y=wording.share_y,
    )
    for axes in figure.axes:
        if wording.log_y:
            axes.set_yscale("log")
        else:
            axes.set_ylim(0, wording.top)
    return figure


def lines_chart(points: pl.DataFrame, wording: Wording) -> Chart:
    """
    Make the interactive form of `lines_figure`.

    Parameters
    ----------
    points, wording
        As there.

    Returns
    -------
    dict
        See `earlybird.plots.chart`.
    """
    x: dict[str, Any] = {"title": wording.x, "type": "log" if wording.is_wide else "linear"}
    if wording.ticks:
        x |= {"tickvals": list(wording.ticks), "ticktext": list(wording.ticks.values())}
    y: dict[str, Any] = {"title": wording.y}
    y |= {"type": "log"} if wording.log_y else {"range": [0, wording.top]}
    return chart(points, _traces, x, y, share_y=wording.share_y, hovermode="x unified")


def _traces(points: pl.DataFrame) -> list[Trace]:
    lines = [(look(name, position), rows) for position, (name, rows) in enumerate(_lines(points))]
    shown = [trace for style, rows in lines for trace in _line_traces(rows, style)]
    stars = [_paper_trace(rows, style) for style, rows in lines if rows["paper"].is_not_null().any()]
    return [*shown, *stars, *([PAPER_KEY] if stars else [])]


def _line_traces(rows: pl.DataFrame, style: Look) -> list[Trace]:
    """Describe a line with its intervals: bars at few points, a band along many."""
    name = rows["name"][0]
    rows = rows.filter(pl.col("value").is_not_null())
    value = rows["value"]
    shared: Trace = {"name": name, "legendgroup": name, "x": numbers(rows["x"])}
    drawn = shared | {
        "y": numbers(value),
        "mode": "lines" if rows.height > MANY else "lines+markers",
        "line": line_style(style),
        "marker": marker_style(style),
        "hovertemplate": "%{y:.4~g}",
    }
    if rows.height > MANY:
        edge = shared | {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
        band = {"fill": "tonexty", "fillcolor": f"{style.colour}24"}
        return [edge | {"y": numbers(rows["low"])}, edge | band | {"y": numbers(rows["high"])}, drawn]
    bars = {"array": numbers(rows["high"] - value), "arrayminus": numbers(value - rows["low"])}
    error = {"type": "data", "symmetric": False, "width": 0, "thickness": 1.2, "color": style.colour}
    return [drawn | {"error_y": error | bars}]


def _paper_trace(rows: pl.DataFrame, style: Look) -> Trace:
    rows = rows.filter(pl.col("paper").is_not_null())
    return {
        "name": PAPER_LABEL,
        "legendgroup": PAPER_LABEL,
        "showlegend": False,
        "x": numbers(rows["x"]),
        "y": numbers(rows["paper"]),
        "mode": "markers",
        "marker": {"symbol": "star-open" if style.is_hollow else "star", "size": 11, "color": style.colour},
        "hovertemplate": f"%{{y:.4~g}} ({rows['name'][0]})",
    }


def _draw_panel(axes: Axes, points: pl.DataFrame, wording: Wording) -> None:
    _name_lines(axes, points)
    for position, (line, rows) in enumerate(_lines(points)):
        _draw_line(axes, rows.filter(pl.col("value").is_not_null()), look(line, position))
        _draw_paper(axes, rows.filter(pl.col("paper").is_not_null()), look(line, position))
    axes.set_xlabel(wording.x)
    if wording.ticks and wording.is_wide:
        axes.set_xscale("log")
        axes.set_xticks(list(wording.ticks), list(wording.ticks.values()))
        axes.minorticks_off()
        axes.set_xlim(min(wording.ticks) / 1.3, max(wording.ticks) * 1.3)
    elif wording.ticks:
        axes.set_xticks(list(wording.ticks), list(wording.ticks.values()))
        if _room(axes) < sum(len(name) + 2 for name in wording.ticks.values()):
            axes.tick_params(axis="x", labelrotation=90)
        room = (max(wording.ticks) - min(wording.ticks)) * 0.1 or 0.5
        axes.set_xlim(min(wording.ticks) - room, max(wording.ticks) + room)
    else:
        axes.set_xlim(0, None)
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def _room(axes: Axes) -> float:
    """Return how many letters of tick labels fit along x of a panel."""
    grid, figure = axes.get_gridspec(), axes.get_figure(root=True)
    return figure.get_figwidth() / grid.ncols * LETTERS_PER_INCH if grid and figure else math.inf


def _draw_line(axes: Axes, rows: pl.DataFrame, style: Look) -> None:
    """Draw a line with its intervals: bars at few points, a band along many."""
    x, value = rows["x"].to_numpy(), rows["value"].to_numpy()
    bounded = rows.filter(pl.col("low").is_not_null())
    low, high = bounded["low"].to_numpy(), bounded["high"].to_numpy()
    if rows.height > MANY:
        axes.plot(x, value, **style.line(), markevery=4)
        axes.fill_between(bounded["x"].to_numpy(), low, high, color=style.colour, alpha=0.14, linewidth=0)
        return
    axes.plot(x, value, **style.line())
    axes.vlines(bounded["x"].to_numpy(), low, high, color=style.colour, linewidth=1.1, alpha=0.75)


def _draw_paper(axes: Axes, rows: pl.DataFrame, style: Look) -> None:
    axes.plot(rows["x"].to_numpy(), rows["paper"].to_numpy(), **_star(style.colour, is_hollow=style.is_hollow))


def _star(colour: str, *, is_hollow: bool) -> dict[str, Any]:
    """Mark the paper's numbers with stars, hollow where the line's markers are."""
    return {
        "linestyle": "none",
        "marker": "*",
        "markersize": 9,
        "markerfacecolor": PAPER if is_hollow else colour,
        "markeredgecolor": colour,
        "zorder": 5,
    }


def _name_lines(axes: Axes, points: pl.DataFrame) -> None:
    """Add what the legend names, apart from the points, which may be missing."""
    for position, (line, rows) in enumerate(_lines(points)):
        axes.plot([], [], **look(line, position).line(), label=rows["name"][0])
    if points["paper"].is_not_null().any():
        axes.plot([], [], **_star(MUTED, is_hollow=False), label=PAPER_LABEL)


def _lines(points: pl.DataFrame) -> Sequence[tuple[str, pl.DataFrame]]:
    names = points["line"].unique(maintain_order=True)
    return [(name, points.filter(pl.col("line") == name)) for name in names]
