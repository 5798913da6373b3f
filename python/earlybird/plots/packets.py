"""Packets of one flow against time, around a loss."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from earlybird.plots.style import INK, LOOKS, MUTED, panelled

MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "snd": ("sent", {"marker": "o", "markersize": 3.2, "color": LOOKS["pert"].colour}),
    "rtx": ("sent again", {"marker": "^", "markersize": 6.5, "color": LOOKS["sack"].colour}),
    "drp": ("lost", {"marker": "x", "markersize": 6.5, "markeredgewidth": 1.6, "color": INK}),
    "dlv": ("arrived", {"marker": "_", "markersize": 5.5, "color": LOOKS["pert-er"].colour}),
    "ack": ("acknowledged up to", {"marker": ".", "markersize": 4, "color": MUTED}),
}
"""Events of a trace: what they are called and how they are marked."""


def packets_figure(trace: pl.DataFrame, *, narrow: bool = False) -> Figure:
    """
    Draw what happened to each packet.

    Parameters
    ----------
    trace
        One row per event: ``panel``, ``time_ms``, ``event``, ``seq``.
    narrow
        Whether the panels stand one below the other.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(trace, _draw_events, "Packet number", narrow=narrow, height=3.0)


def _draw_events(axes: Axes, trace: pl.DataFrame) -> None:
    for event, (text, keywords) in MARKS.items():
        rows = trace.filter(pl.col("event") == event)
        axes.plot(rows["time_ms"].to_numpy(), rows["seq"].to_numpy(), linestyle="none", label=text, **keywords)
    axes.set_xlabel("Time after the loss (ms)")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
