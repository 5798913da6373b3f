"""
Interactive charts: the data of a figure as plotly.js takes it; `report/assets/plots.js` lays them out.

A chart is a document of panels, each with its traces, and the two axes that they share. Colours are those of a light
page; the script puts those of a dark one in their place.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from earlybird.plots.style import Look

Chart: TypeAlias = dict[str, Any]
Trace: TypeAlias = dict[str, Any]

DASHES = {"-": "solid", "5": "dash", "1": "dot", "6": "dashdot"}
"""plotly's names of our dashes, by how they begin."""

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "x": "x-thin",
    "+": "cross-thin",
    "*": "star",
    ".": "circle",
    "_": "line-ew",
}
"""plotly's names of our markers."""


def chart(
    table: pl.DataFrame,
    traces: Callable[[pl.DataFrame], list[Trace]],
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    *,
    share_y: bool = True,
    **layout: object,
) -> Chart:
    """
    Make a chart with one panel for each value of a table's column ``panel``.

    Parameters
    ----------
    table
        What it shows.
    traces
        Makes the traces of one panel from its rows.
    x, y
        The axes, as plotly describes them.
    share_y
        Whether all panels have the same y axis.
    **layout
        Other settings of plotly's layout.

    Returns
    -------
    dict
        To be written as JSON.
    """
    titles = table["panel"].unique(maintain_order=True).to_list()
    panels = [{"title": title, "traces": traces(table.filter(pl.col("panel") == title))} for title in titles]
    return {"panels": panels, "x": dict(x), "y": dict(y), "shareY": share_y, "layout": layout}


def numbers(values: Sequence[float | None] | pl.Series, digits: int = 5) -> list[float | None]:
    """Write numbers with so many significant digits; null where there is none."""
    return [
        None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}") for value in list(values)
    ]


def line_style(look: Look) -> dict[str, Any]:
    """Describe a line."""
    first = look.dashes if isinstance(look.dashes, str) else f"{look.dashes[1][0]:g}"
    return {"color": look.colour, "dash": DASHES[first], "width": 2}


def marker_style(look: Look, size: float = 7) -> dict[str, Any]:
    """Describe a marker."""
    symbol = SYMBOLS[look.marker] + ("-open" if look.is_hollow or look.marker in "x+_" else "")
    return {"symbol": symbol, "color": look.colour, "size": size, "line": {"color": look.colour, "width": 1.2}}
