"""Packets of one flow against time, around a loss."""

from collections.abc import Iterator
from typing import Final

import polars as pl

from earlybird.plots.chart import Axis, Chart, Curve, by_panel
from earlybird.plots.style import DARK, INK, MUTED, SOLID, TRANSPORT_STYLES, Style

MARKS: Final = {
    "snd": ("sent", Style(TRANSPORT_STYLES["pert"].colour, TRANSPORT_STYLES["pert"].dark, SOLID, "o"), 3.2),
    "rtx": ("retransmitted", Style(TRANSPORT_STYLES["sack"].colour, TRANSPORT_STYLES["sack"].dark, SOLID, "^"), 6.5),
    "drp": ("lost", Style(INK, DARK[INK], SOLID, "x"), 6.5),
    "dlv": ("arrived", Style(TRANSPORT_STYLES["pert-er"].colour, TRANSPORT_STYLES["pert-er"].dark, SOLID, "_"), 5.5),
    "ack": ("acknowledged up to", Style(MUTED, DARK[MUTED], SOLID, "."), 4.0),
}
"""Events of a trace: what they are called, how they are marked, and the size of the marks."""


def packets_chart(trace: pl.DataFrame) -> Chart:
    """Show what happened to each packet: a row per event with ``panel``, ``time_ms``, ``event`` and ``seq``."""
    x, y = Axis("Time after the loss (ms)"), Axis("Packet number", is_whole=True)
    return Chart(by_panel(trace, _events), x, y, height=2.8)


def _events(trace: pl.DataFrame) -> Iterator[Curve]:
    for event, (text, style, size) in MARKS.items():
        rows = trace.filter(pl.col("event") == event)
        yield Curve(text, style, rows["time_ms"], rows["seq"], "dots", size=size)
