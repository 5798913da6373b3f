"""The distance to a paper, setting by setting, as an optimiser tries them."""

import polars as pl

from earlybird.plots.chart import Axis, Bound, Chart, Curve, Panel
from earlybird.plots.style import DARK, DASHED, INK, MUTED, SOLID, TRANSPORT_STYLES, Style


def search_table(trials: pl.DataFrame) -> pl.DataFrame:
    """Add the smallest distance so far as ``best``, and that of the first trial, the study's own, as ``own``."""
    return trials.select(
        "trial", "distance", "met", best=pl.col("distance").cum_min(), own=pl.col("distance").first(), panel=pl.lit("")
    )


def search_chart(table: pl.DataFrame) -> Chart:
    """Show the distances of a `search_table`."""
    x, met = table["trial"], [f"{met} statements met" for met in table["met"]]
    ink, muted = Style(INK, DARK[INK], SOLID, "."), Style(MUTED, DARK[MUTED], DASHED, ".")
    dot = Style(TRANSPORT_STYLES["pert"].colour, TRANSPORT_STYLES["pert"].dark, SOLID, "o")
    marks = (
        Curve("a setting", dot, x, table["distance"], "dots", texts=met),
        Curve("best so far", ink, x, table["best"], "steps"),
        Bound("the study's own setting", table["own"][0], "y", muted),
    )
    y = Axis("Distance (tolerances)", low=0, better="smaller")
    return Chart((Panel("", marks),), Axis("Setting", is_whole=True), y)
