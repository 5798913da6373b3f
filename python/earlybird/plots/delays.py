"""Delay of each packet around a burst of losses, against the time at which it was written."""

import polars as pl

from earlybird.plots.chart import Axis, Chart, Curve, by_panel
from earlybird.plots.style import TRANSPORT_STYLES


def delays_chart(packets: pl.DataFrame) -> Chart:
    """Show the delay of each packet: its ``panel``, ``time_s`` of writing and ``delay_ms``."""
    y = Axis("Delay of a packet (ms)", low=0, better="smaller")
    x = Axis("Time of writing after the first late packet (s)")
    return Chart(by_panel(packets, _dots), x, y, share_y=False)


def _dots(packets: pl.DataFrame) -> list[Curve]:
    x, y = packets["time_s"], packets["delay_ms"]
    return [Curve("", TRANSPORT_STYLES["sack"], x, y, "dots", size=2.6)]
