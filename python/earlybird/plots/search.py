"""The distance to a paper, setting by setting, as an optimiser tries them."""

import polars as pl
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, numbers
from earlybird.plots.style import INK, LOOKS, MUTED, styled

TRIAL = "Setting"
DISTANCE = "Distance (tolerances)"
COLOUR = LOOKS["pert"].colour


def search_table(trials: pl.DataFrame) -> pl.DataFrame:
    """
    Gather what the plot shows.

    Parameters
    ----------
    trials
        The trials of a search in order, the study's own setting first: ``trial``, ``distance``, ``met``.

    Returns
    -------
    polars.DataFrame
        The same, with the smallest distance so far as ``best`` and that of the study's own setting as ``own``.
    """
    return trials.select(
        "trial", "distance", "met", best=pl.col("distance").cum_min(), own=pl.col("distance").first(), panel=pl.lit("")
    )


def search_figure(table: pl.DataFrame) -> Figure:
    """
    Draw the distances.

    Parameters
    ----------
    table
        As `search_table` returns it.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    with styled():
        figure = Figure(figsize=(7.0, 2.8), layout="constrained")
        axes = figure.subplots()
        axes.plot(table["trial"], table["distance"], linestyle="none", marker="o", color=COLOUR, label="a setting")
        axes.step(table["trial"], table["best"], where="post", color=INK, label="best so far")
        axes.axhline(table["own"][0], color=MUTED, linestyle="--", label="the study's own setting")
        axes.set_xlabel(TRIAL)
        axes.set_ylabel(DISTANCE)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside lower left", ncols=3)
    return figure


def search_chart(table: pl.DataFrame) -> Chart:
    """Make the interactive form of `search_figure`."""
    y = {"title": DISTANCE, "rangemode": "tozero"}
    return chart(table, _traces, {"title": TRIAL}, y, hovermode="closest")


def _traces(table: pl.DataFrame) -> list[Trace]:
    settings: Trace = {
        "name": "a setting",
        "legendgroup": "setting",
        "mode": "markers",
        "x": table["trial"].to_list(),
        "y": numbers(table["distance"]),
        "text": table["met"].to_list(),
        "marker": {"color": COLOUR, "size": 7},
        "hovertemplate": "setting %{x}: %{y:.2f}, %{text} statements met",
    }
    best = _line(table, "best", "best so far", {"color": INK, "width": 2, "shape": "hv"})
    return [
        settings,
        best,
        _line(table, "own", "the study's own setting", {"color": MUTED, "width": 1.5, "dash": "dash"}),
    ]


def _line(table: pl.DataFrame, column: str, name: str, line: dict[str, object]) -> Trace:
    return {
        "name": name,
        "legendgroup": column,
        "mode": "lines",
        "x": table["trial"].to_list(),
        "y": numbers(table[column]),
        "line": line,
        "hovertemplate": "%{y:.2f}",
    }
