"""Ages of missing packets when duplicate ACKs arrive, beside the threshold of early retransmission."""

import math
from collections.abc import Iterator
from typing import Final

import polars as pl

from earlybird.plots.chart import Axis, Bars, Bound, Chart, Curve, Mark, Region, by_panel
from earlybird.plots.style import DARK, INK, MUTED, SOLID, TRANSPORT_STYLES, Style

KINDS: Final = {
    "first": ("first duplicate", TRANSPORT_STYLES["pert"]),
    "second": ("second", TRANSPORT_STYLES["sack-er"]),
    "later": ("third and later", TRANSPORT_STYLES["sack"]),
}
"""Columns of a histogram, what they count, and how they are drawn."""
AGE: Final = "Age of the missing packet (ms)"
THRESHOLD: Final = "threshold of early retransmission"
MOST_VALUES: Final = "where most of its values lie"
LINE, AREA = Style(INK, DARK[INK], SOLID, "."), Style(MUTED, DARK[MUTED], SOLID, ".")


def histogram_chart(bins: pl.DataFrame) -> Chart:
    """Show histograms of ages: a row per bin, with shares in per cent, and the panel's thresholds in each."""
    return Chart(by_panel(bins, _bins), Axis(AGE, low=0), Axis("Share of all duplicates (%)", low=0))


def _bins(bins: pl.DataFrame) -> Iterator[Mark]:
    """Stack the bars of a panel and mark the threshold, if there is one."""
    ages, below = bins["age_ms"], pl.zeros(bins.height, eager=True)
    for column, (text, style) in KINDS.items():
        above = below + bins[column]
        yield Bars(text, style, ages, below, above, 0.86 * float(ages[1] - ages[0]))
        below = above
    middle = bins["threshold_ms"][0]
    if middle is not None and math.isfinite(middle):
        yield Region(MOST_VALUES, AREA, bins["threshold_low_ms"][0], bins["threshold_high_ms"][0])
        yield Bound(THRESHOLD, middle, "x", LINE)


def history_chart(duplicates: pl.DataFrame) -> Chart:
    """Show ages against time, a flow in each panel: a row per duplicate ACK, `number` 3 for those after it too."""
    return Chart(by_panel(duplicates, _history), Axis("Time (s)"), Axis(AGE, low=0))


def _history(duplicates: pl.DataFrame) -> Iterator[Curve]:
    for number, (text, style) in enumerate(KINDS.values(), start=1):
        rows = duplicates.filter(pl.col("number") == number)
        yield Curve(text, style, rows["time_s"], rows["age_ms"], "dots", size=2.6)
    times, threshold = duplicates["time_s"], duplicates["threshold_ms"]
    yield Curve(THRESHOLD, LINE, times, threshold, "line", width=1.0)
