"""Packets of one flow against time, around a loss."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from earlybird.plots.chart import SYMBOLS, Chart, Trace, chart, numbers
from earlybird.plots.style import INK, LOOKS, MUTED, panelled

TIME = "Time after the loss (ms)"
NUMBER = "Packet number"

MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "snd": ("sent", {"marker": "o", "markersize": 3.2, "color": LOOKS["pert"].colour}),
    "rtx": ("sent again", {"marker": "^", "markersize": 6.5, "color": LOOKS["sack"].colour}),
    "drp": ("lost", {"marker": "x", "markersize": 6.5, "markeredgewidth": 1.6, "color": INK}),
    "dlv": ("arrived", {"marker": "_", "markersize": 5.5, "color": LOOKS["pert-er"].colour}),
    "ack": ("acknowledged up to", {"marker": ".", "markersize": 4, "color": MUTED}),
}
"""Events of a trace: what they are called and how they are marked."""


def packets_figure(trace: pl.DataFrame) -> Figure:
    """
    Draw what happened to each packet.

    Parameters
    ----------
    trace
        One row per event: ``panel``, ``time_ms``, ``event``, ``seq``.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(trace, _draw_events, NUMBER, height=3.0)


def packets_chart(trace: pl.DataFrame) -> Chart:
    """Make the interactive form of `packets_figure`."""
    return chart(trace, _event_traces, {"title": TIME}, {"title": NUMBER, "tickformat": "d"}, hovermode="closest")


def _event_traces(trace: pl.DataFrame) -> list[Trace]:
    return [_event_trace(trace.filter(pl.col("event") == event), *mark) for event, mark in MARKS.items()]


def _event_trace(rows: pl.DataFrame, text: str, keywords: dict[str, Any]) -> Trace:
    symbol = SYMBOLS[keywords["marker"]] + ("-open" if keywords["marker"] in "x_" else "")
    edge = {"color": keywords["color"], "width": 1.6}
    return {
        "name": text,
        "legendgroup": text,
        "x": numbers(rows["time_ms"]),
        "y": rows["seq"].to_list(),
        "mode": "markers",
        "marker": {"symbol": symbol, "color": keywords["color"], "size": 1.5 * keywords["markersize"], "line": edge},
        "hovertemplate": "packet %{y} at %{x:.1f} ms",
    }


def _draw_events(axes: Axes, trace: pl.DataFrame) -> None:
    for event, (text, keywords) in MARKS.items():
        rows = trace.filter(pl.col("event") == event)
        axes.plot(rows["time_ms"].to_numpy(), rows["seq"].to_numpy(), linestyle="none", label=text, **keywords)
    axes.set_xlabel(TIME)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
