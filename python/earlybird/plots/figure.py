"""Draws charts with matplotlib."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from earlybird.plots.chart import UP_DOWN, Bars, Bound, Curve, Label, Region, columns, named, titled
from earlybird.plots.sheet import CAPTION, HEADING, POINTS, TITLE, ends, has_labels_above, sheet_of, x_title
from earlybird.plots.style import DASHES, INK, MUTED, PAPER, styled
from earlybird.plots.text import folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from earlybird.plots.chart import Axis, Chart, Mark, Panel, Values
    from earlybird.plots.sheet import Sheet

METADATA: Final[Mapping[str, dict[str, None]]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
"""What pictures leave out by their ending, as it changes from day to day."""
EDGE: Final = 6.0
"""Points between all and the edge of the picture."""
SMALL: Final = 7.5
BAND: Final = 0.15
"""How much of an area's colour is seen."""


def figure(chart: Chart) -> Figure:
    """
    Draw a chart.

    Parameters
    ----------
    chart
        What it shows.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    with styled():
        sheet = sheet_of(chart)
        drawn = Figure(figsize=(sheet.width / POINTS, sheet.height / POINTS))
        drawn.set_layout_engine("constrained", w_pad=EDGE / POINTS)
        grid = list(zip(_grid(drawn, sheet.chart), sheet.chart.panels, strict=True))
        for draw in (_draw_data, _draw_scales, _draw_words):  # panels may share ends, which depend on the data of all
            for axes, panel in grid:
                draw(axes, panel, sheet)
        _write_around(drawn, sheet)
    return drawn


def _grid(drawn: Figure, chart: Chart) -> list[Axes]:
    """Lay out panels row by row."""
    across = columns(chart)
    down = math.ceil(len(chart.panels) / across)
    share_y = chart.share_y and not any(panel.y for panel in chart.panels)
    grid = drawn.subplots(down, across, sharey=share_y, sharex=chart.is_stack, squeeze=False).flatten()
    for unused in grid[len(chart.panels) :]:
        unused.remove()
    return list(grid[: len(chart.panels)])


def _draw_data(axes: Axes, panel: Panel, _: Sheet) -> None:
    below: list[float] = []
    for mark in panel.marks:
        if isinstance(mark, Bars):
            below = _draw_bars(axes, mark, below)
        elif isinstance(mark, Curve):
            _draw_curve(axes, mark)


def _draw_scales(axes: Axes, panel: Panel, sheet: Sheet) -> None:
    _scale_x(axes, sheet.chart.x, is_turned=sheet.is_turned)
    _scale_y(axes, panel.y or sheet.chart.y)


def _draw_words(axes: Axes, panel: Panel, sheet: Sheet) -> None:
    """Draw what lies across a panel, the ends of which are known now, and its titles."""
    chart, y, place = sheet.chart, panel.y or sheet.chart.y, axes.get_subplotspec()
    for mark in panel.marks:
        _draw_across(mark, axes)
    axes.set_title(panel.title, pad=16 if has_labels_above(panel) else 6)
    if place and (place.is_last_row() or not chart.is_stack):
        axes.set_xlabel(x_title(chart, sheet.panel_width))
    if place and (place.is_first_col() or panel.y):
        axes.set_ylabel("\n".join(folded(line, sheet.panel_height, TITLE) for line in titled(y, UP_DOWN)))


def _scale_x(axes: Axes, axis: Axis, *, is_turned: bool) -> None:
    if axis.is_log:
        axes.set_xscale("log")
        axes.minorticks_off()
    if axis.ticks:
        axes.set_xticks(list(axis.ticks), list(axis.ticks.values()))
        axes.tick_params(axis="x", labelrotation=90 if is_turned else 0)
        axes.set_xlim(*ends(axis))
    else:
        axes.set_xlim(axis.low, axis.high)
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10], integer=axis.is_whole))


def _scale_y(axes: Axes, axis: Axis) -> None:
    if axis.is_log:
        axes.set_yscale("log")
        axes.minorticks_off()
    if axis.ticks:
        axes.set_yticks(list(axis.ticks), list(axis.ticks.values()))
        axes.minorticks_off()
    elif axis.is_whole:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(axis.low, axis.high)


def _array(values: Values) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    x, y = _array(curve.x), _array(curve.y)
    style: dict[str, Any] = {"drawstyle": "steps-post"} if curve.form == "steps" else {}
    if curve.form != "band":
        axes.plot(x, y, **_keywords(curve), **style, markevery=curve.every)
    if curve.low is None or curve.high is None:
        return
    low, high = _array(curve.low), _array(curve.high)
    colour = curve.look.colour
    if curve.is_banded or curve.form == "band":
        axes.fill_between(x, low, high, color=colour, alpha=BAND, linewidth=0)
        return
    seen = high > low
    if curve.is_across:
        axes.hlines(y[seen], low[seen], high[seen], color=colour, linewidth=1.1, alpha=0.75)
    else:
        axes.vlines(x[seen], low[seen], high[seen], color=colour, linewidth=1.1, alpha=0.75)


def _keywords(curve: Curve) -> dict[str, Any]:
    """Write a curve's look as matplotlib does."""
    look = curve.look
    return {
        "color": look.colour,
        "linestyle": "none" if curve.form == "dots" else DASHES[look.dashes],
        "linewidth": curve.width,
        "marker": look.marker if curve.form in ("both", "dots") else "none",
        "markersize": curve.size,
        "markerfacecolor": PAPER if look.is_hollow else look.colour,
        "markeredgecolor": look.colour,
    }


def _draw_bars(axes: Axes, bars: Bars, below: list[float]) -> list[float]:
    """Draw bars on top of earlier ones, and return how high they are together."""
    heights = list(_array(bars.heights))
    below = below or [0.0] * len(heights)
    axes.bar(_array(bars.x), heights, bars.width, bottom=below, color=bars.look.colour)
    return [low + height for low, height in zip(below, heights, strict=True)]


@singledispatch
def _draw_across(mark: Mark, axes: Axes) -> None:
    """Draw what lies across a panel, the ends of which are known now."""


@_draw_across.register(Bound)
def _(mark: Bound, axes: Axes) -> None:
    draw = axes.axvline if mark.along == "x" else axes.axhline
    draw(mark.at, color=mark.look.colour, linewidth=1.0, linestyle=DASHES[mark.look.dashes])
    if mark.text:
        where, place = axes.get_yaxis_transform(), (1.0, mark.at)
        axes.annotate(mark.text, place, xycoords=where, ha="right", va="bottom", fontsize=SMALL, color=MUTED)


@_draw_across.register(Region)
def _(mark: Region, axes: Axes) -> None:
    first, last = sorted(axes.get_xlim() if mark.along == "x" else axes.get_ylim())
    low, high = first if mark.low is None else mark.low, last if mark.high is None else mark.high
    draw = axes.axvspan if mark.along == "x" else axes.axhspan
    draw(low, high, color=mark.look.colour, alpha=BAND, linewidth=0)


@_draw_across.register(Label)
def _(mark: Label, axes: Axes) -> None:
    where: Any = axes.get_xaxis_transform() if mark.is_above else axes.transData
    words = axes.annotate(mark.text, (mark.x, 1.0 if mark.is_above else mark.y), (0, 2), where, "offset points")
    side = {"left": "right", "right": "left", "middle": "center"}[mark.side]
    words.set(ha=side, va="bottom" if mark.is_above else "center", fontsize=SMALL, color=MUTED)


def _write_around(drawn: Figure, sheet: Sheet) -> None:
    """Write what stands above and below all panels."""
    chart = sheet.chart
    if chart.title:
        drawn.suptitle(chart.title, x=4 / sheet.width, ha="left", fontsize=HEADING, fontweight="bold", color=INK)
    entries = named(chart)
    if not entries:
        drawn.supxlabel(chart.caption, x=4 / sheet.width, ha="left", fontsize=CAPTION, color=MUTED)
        return
    drawn.legend(
        [_handle(mark) for mark in entries.values()],
        list(entries),
        loc="outside lower left",
        ncols=sheet.legend_columns,
        borderaxespad=0.2,
        title=chart.caption or None,
        title_fontproperties={"size": CAPTION},
        alignment="left",
    )


def _handle(mark: Bars | Bound | Curve | Region) -> Artist:
    """Draw a mark as the legend shows it."""
    if isinstance(mark, Curve) and mark.form != "band":
        return Line2D([], [], **_keywords(replace(mark, size=max(mark.size, 4.5))))
    if isinstance(mark, Bound):
        return Line2D([], [], color=mark.look.colour, linewidth=1.0, linestyle=DASHES[mark.look.dashes])
    return Patch(color=mark.look.colour, alpha=1.0 if isinstance(mark, Bars) else BAND, linewidth=0)
