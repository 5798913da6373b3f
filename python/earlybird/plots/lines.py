"""Lines in panels: a quantity against an axis, one line per transport, with intervals and the paper's numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.plots.chart import Axis, Better, Chart, Curve, Mark, Panel, log_axis
from earlybird.plots.style import PLAIN, STAR, Style, transport_styles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike

PAPER_LABEL: Final = "as the paper states"
ALL_LABEL: Final = "from the smallest to the largest of all"
MANY: Final = 12  # with more points than this, a line gets few markers and its interval is a band
TOGETHER: Final = 5  # lines of a panel that can be told apart

KEY: Final = Curve(PAPER_LABEL, STAR, (), (), "dots", size=9)
"""The legend's star, in a colour of no line, because it represents the stars of all lines."""


@dataclass(frozen=True, slots=True)
class Wording:
    """Titles and ticks of the axes of a plot of lines or dots."""

    x: str
    y: str
    ticks: Mapping[float, str] = field(default_factory=dict)
    """Places along x that have a name; without any, x is a plain scale from 0."""
    is_wide: bool = False  # whether x is logarithmic
    share_y: bool = True
    log_y: bool = False  # whether y is logarithmic
    top: float | None = None  # upper end of y where it is known, such as 100 %
    better: Better = ""  # which values of the quantity are better


def plain_line(line: str, name: str, x: ArrayLike, values: ArrayLike) -> pl.DataFrame:
    """Make the points of a line without intervals and without numbers of a paper, but for the panel."""
    places, heights = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    nothing = pl.lit(None, dtype=pl.Float64)
    return pl.DataFrame({"x": places, "value": heights}).select(
        pl.lit(line).alias("line"),
        pl.lit(name).alias("name"),
        "x",
        "value",
        low=nothing,
        high=nothing,
        paper=nothing,
    )


def lines_chart(points: pl.DataFrame, wording: Wording) -> Chart:
    """Show lines in panels (null: no interval, no number of a paper); too many for one get a panel each."""
    styles = transport_styles(points["line"].unique(maintain_order=True).to_list())
    panels = [*(_small_multiples(points, styles) if len(styles) > TOGETHER else _panels(points, styles))]
    if points["name"].n_unique() < len(styles):
        panels = [replace(panel, marks=tuple(map(_unnamed, panel.marks))) for panel in panels]
    y = Axis(wording.y, low=0, high=wording.top, better=wording.better)
    x = Axis(wording.x, low=None if wording.ticks else 0, ticks=wording.ticks)
    if wording.is_wide:
        x = log_axis(x, points["x"])
    if wording.log_y:
        y = log_axis(replace(y, low=None), [*points["value"], *points["high"], *points["paper"]])
    return Chart(tuple(panels), x, y, share_y=wording.share_y)


def _panels(points: pl.DataFrame, styles: Mapping[str, Style]) -> Iterator[Panel]:
    for (title,), rows in points.group_by("panel", maintain_order=True):
        yield Panel(str(title), tuple(_marks(rows, styles)))


def _small_multiples(points: pl.DataFrame, styles: Mapping[str, Style]) -> Iterator[Panel]:
    """Make a panel of each line: with the range of all behind it, or with the former panels as its lines."""
    panels = points["panel"].unique(maintain_order=True).to_list()
    if len(panels) > 1:
        named = points.select("panel", "line", "name")
        turned = points.with_columns(panel=named["name"], line=named["panel"], name=named["panel"])
        yield from _panels(turned, transport_styles(panels))
        return
    value = pl.col("value")
    ends = points.group_by("x").agg(low=value.min(), high=value.max()).sort("x")
    behind = Curve(ALL_LABEL, PLAIN, ends["x"], ends["low"], "band", ends["low"], ends["high"])
    for line, style in styles.items():
        own = points.filter(pl.col("line") == line)
        yield Panel(own["name"][0], (behind, *(_unnamed(mark) for mark in _marks(own, {line: style}))))


def _unnamed(mark: Mark) -> Mark:
    """Remove a line from the legend, because its panel has its name."""
    if isinstance(mark, Curve) and mark.name not in (PAPER_LABEL, ALL_LABEL):
        return replace(mark, is_named=False)
    return mark


def _marks(points: pl.DataFrame, styles: Mapping[str, Style]) -> Iterator[Mark]:
    lines = {line: points.filter(pl.col("line") == line) for line in styles}
    for line, rows in lines.items():
        if rows.height:
            yield line_curve(rows.filter(pl.col("value").is_not_null()), rows["name"][0], styles[line])
    if points["paper"].is_not_null().any():
        yield KEY
    for line, rows in lines.items():
        yield from _stars(rows.filter(pl.col("paper").is_not_null()), styles[line])


def line_curve(rows: pl.DataFrame, name: str, style: Style) -> Curve:
    """Draw a line with its intervals: bars at few points, a band along many."""
    is_long = rows.height > MANY
    low, high = (rows["low"], rows["high"]) if rows["low"].is_not_null().any() else (None, None)
    every = max(4, rows.height // 12) if is_long else 1
    is_banded = is_long and low is not None
    return Curve(name, style, rows["x"], rows["value"], low=low, high=high, is_banded=is_banded, every=every)


def _stars(rows: pl.DataFrame, style: Style) -> Iterator[Curve]:
    """Mark the paper's numbers with stars in their line's colour, hollow where its markers are."""
    if rows.height:
        star = replace(style, marker="*")
        yield Curve(PAPER_LABEL, star, rows["x"], rows["paper"], "dots", size=9, texts=[rows["name"][0]] * rows.height)
