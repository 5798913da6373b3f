"""The sizes of an effect under several settings: a row per setting, a dot per cell, coloured by the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, numbers
from earlybird.plots.style import INK, LOOKS, MUTED, styled

VERDICTS: Mapping[str, tuple[str, str, str]] = {
    "yes": ("holds", LOOKS["pert-er"].colour, "o"),
    "no": ("does not hold", LOOKS["sack"].colour, "X"),
    "not testable": ("not testable", MUTED, "D"),
}
"""What a setting's verdict is called, its colour, and its marker."""

SYMBOLS = {"o": "circle", "X": "x", "D": "diamond"}
BOUND = "bound of the statement"
ROW = 0.27
"""Inches of a setting."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What stands along x."""

    title: str
    bounds: Sequence[float]
    """Where holding ends."""
    stated: Sequence[float]
    """The sizes that the paper gives."""


def sensitivity_figure(sizes: pl.DataFrame, scale: Scale) -> Figure:
    """
    Draw a panel.

    Parameters
    ----------
    sizes
        One row per cell: ``place`` of the setting from the top, ``setting``, ``cell``, ``size``, ``holds``.
    scale
        The axis.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    names = _names(sizes)
    with styled():
        figure = Figure(figsize=(7.0, ROW * len(names) + 1.1), layout="constrained")
        axes = figure.subplots()
        for number, bound in enumerate(scale.bounds):
            axes.axvline(bound, color=INK, linewidth=1.0, label="_" * number + BOUND)  # matplotlib hides names with _
        for holds, (text, colour, mark) in VERDICTS.items():
            rows = sizes.filter(pl.col("holds") == holds)
            if rows.height:
                axes.plot(rows["size"], rows["place"], linestyle="none", marker=mark, color=colour, label=text)
        if scale.stated:
            at = [-1] * len(scale.stated)
            axes.plot(scale.stated, at, linestyle="none", marker="*", markersize=9, color=MUTED, label="in the paper")
        places = [-1, *range(len(names))] if scale.stated else list(range(len(names)))
        axes.set_yticks(places, ["the paper", *names] if scale.stated else names)
        axes.set_ylim(len(names) - 0.4, places[0] - 0.6)
        axes.set_xlabel(scale.title)
        axes.grid(visible=True, axis="y")
        figure.legend(loc="outside lower left", ncols=4)
    return figure


def sensitivity_chart(sizes: pl.DataFrame, scale: Scale) -> Chart:
    """Make the interactive form of `sensitivity_figure`."""
    names = _names(sizes)
    places = [-1, *range(len(names))] if scale.stated else list(range(len(names)))
    texts = ["the paper", *names] if scale.stated else names
    y = {"title": "", "tickvals": places, "ticktext": texts, "range": [len(names) - 0.4, places[0] - 0.6]}
    panel = sizes.with_columns(panel=pl.lit(""))
    x = {"title": scale.title, "zeroline": False}
    return chart(panel, lambda rows: _traces(rows, scale, len(names)), x, y, hovermode="closest") | {
        "rows": len(places)
    }


def _traces(sizes: pl.DataFrame, scale: Scale, count: int) -> list[Trace]:
    bounds: list[Trace] = [
        {
            "name": BOUND,
            "legendgroup": BOUND,
            "mode": "lines",
            "x": numbers([bound, bound]),
            "y": [-2, count],
            "line": {"color": INK, "width": 1},
            "hovertemplate": f"{BOUND}: %{{x:.4~g}}<extra></extra>",
        }
        for bound in scale.bounds
    ]
    stars: Trace = {
        "name": "in the paper",
        "legendgroup": "paper",
        "mode": "markers",
        "x": numbers(scale.stated),
        "y": [-1] * len(scale.stated),
        "marker": {"symbol": "star", "size": 11, "color": MUTED},
        "hovertemplate": "%{x:.4~g}",
    }
    cells = [_cells(sizes.filter(pl.col("holds") == holds), *look) for holds, look in VERDICTS.items()]
    return [*bounds, *(trace for trace in cells if trace["x"]), *([stars] if scale.stated else [])]


def _cells(rows: pl.DataFrame, text: str, colour: str, mark: str) -> Trace:
    return {
        "name": text,
        "legendgroup": text,
        "mode": "markers",
        "x": numbers(rows["size"]),
        "y": rows["place"].to_list(),
        "text": rows["cell"].to_list(),
        "marker": {"symbol": SYMBOLS[mark], "size": 9, "color": colour},
        "hovertemplate": "%{text}: %{x:.4~g}",
    }


def _names(sizes: pl.DataFrame) -> list[str]:
    return sizes.unique("place", maintain_order=True).sort("place")["setting"].to_list()
