"""Dots by rows: a quantity in many places, a row for each with its name in full, and in it a dot per line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from earlybird.plots.chart import Axis, Chart, Curve, by_panel, log_axis
from earlybird.plots.style import transport_styles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from earlybird.plots.lines import Wording

ROW, DOT = 0.31, 0.085  # inches of a row at least, and of each dot in it
SPREAD: Final = 0.6  # share of a row over which its dots are spread, so that their intervals can be told apart


def dots_chart(points: pl.DataFrame, wording: Wording) -> Chart:
    """Show dots by rows in panels: points as for `lines_chart`, ``x`` the place of a row from the top."""
    shown = points.filter(pl.col("value").is_not_null())
    names = [wording.ticks[place] for place in shown["x"].unique().sort()]
    shown = shown.with_columns(row=pl.col("x").rank("dense") - 1.0)
    x = Axis(wording.y, low=0, better=wording.better)
    x = log_axis(x, [*shown["value"], *shown["high"]]) if wording.log_y else x
    room = max(ROW, DOT * shown["line"].n_unique())
    return Chart(by_panel(shown, _curves), x, row_axis(names), row=room)


def row_axis(names: list[str], first: int = 0) -> Axis:
    """Make the axis of rows with these names, the first of which is on top."""
    ticks = {float(place): name for place, name in enumerate(names, first)}
    return Axis(ticks=ticks, low=first + len(names) - 0.4, high=first - 0.6, is_rows=True)


def _curves(points: pl.DataFrame) -> Iterator[Curve]:
    """Make the dots of each line, beside the middle of their rows."""
    styles = transport_styles(points["line"].unique(maintain_order=True).to_list())
    for position, (line, style) in enumerate(styles.items()):
        beside = SPREAD * ((position + 0.5) / len(styles) - 0.5)
        rows = points.filter(pl.col("line") == line)
        places = rows["row"] + beside
        ends = {"low": rows["low"], "high": rows["high"], "is_across": True}
        yield Curve(rows["name"][0], style, rows["value"], places, "dots", **ends)  # type: ignore[arg-type]
