"""Delay of each packet around a burst of losses, against the time at which it was written."""

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earlybird.plots.chart import Chart, Trace, chart, marker_style, numbers
from earlybird.plots.style import LOOKS, panelled

TIME = "Time of writing (s)"
DELAY = "Delay (ms)"
LOOK = LOOKS["sack"]


def delays_figure(packets: pl.DataFrame) -> Figure:
    """
    Draw the delay of each packet.

    Parameters
    ----------
    packets
        One row per packet: ``panel``, ``time_s`` of writing, ``delay_ms``.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    return panelled(packets, _draw_delays, DELAY, share_y=False)


def delays_chart(packets: pl.DataFrame) -> Chart:
    """Make the interactive form of `delays_figure`."""
    y = {"title": DELAY, "rangemode": "tozero"}
    return chart(packets, _delay_traces, {"title": TIME}, y, share_y=False, hovermode="closest")


def _delay_traces(packets: pl.DataFrame) -> list[Trace]:
    trace: Trace = {
        "name": "packet",
        "showlegend": False,
        "x": numbers(packets["time_s"]),
        "y": numbers(packets["delay_ms"]),
        "mode": "markers",
        "marker": marker_style(LOOK, size=5),
        "hovertemplate": "%{y:.1f} ms, written at %{x:.3f} s",
    }
    return [trace]


def _draw_delays(axes: Axes, packets: pl.DataFrame) -> None:
    times, values = packets["time_s"].to_numpy(), packets["delay_ms"].to_numpy()
    axes.plot(times, values, linestyle="none", marker=".", markersize=4, color=LOOK.colour, label="packet")
    axes.set_xlabel(TIME)
    axes.set_ylim(bottom=0)
