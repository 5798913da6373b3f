"""The sizes of an effect under several settings: a row per setting, a dot per cell, marked by what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from earlybird.plots.chart import Axis, Bound, Chart, Curve, Label, Mark, Panel, Region, log_axis
from earlybird.plots.dots import row_axis
from earlybird.plots.style import DARK, FAILS, HOLDS, INK, OPEN, SOLID, STAR, Style

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERDICTS: Final = {"yes": ("holds", HOLDS), "no": ("does not hold", FAILS), "undecided": ("undecided", OPEN)}
"""Outcomes of a cell: their names and their looks."""
BOUND: Final = "bound of the statement"
LINE: Final = Style(INK, DARK[INK], SOLID, ".")
ROW: Final = 0.29  # inches of a setting
MANY: Final = 10  # cells of a setting from which on they are spread over the height of its row
SPREAD: Final = 0.62  # share of a row over which many are spread
LAST: Final = 0.25  # part of the axis, at its end, in which words have no room right of a bound
GOLDEN: Final = 0.618034  # multiples of the golden ratio fall evenly between whole numbers


@dataclass(frozen=True, slots=True)
class Scale:
    """The x axis of a sensitivity panel."""

    title: str
    least: float | None
    most: float | None  # the sizes from which on and up to which the statement holds
    stated: Sequence[float]  # the sizes that the paper gives
    is_ratio: bool = False  # whether sizes are factors, which a logarithmic axis shows alike in both directions

    @property
    def bounds(self) -> list[float]:
        """The limit up to which the statement holds."""
        return [bound for bound in (self.least, self.most) if bound is not None]


def sensitivity_chart(sizes: pl.DataFrame, scale: Scale) -> Chart:
    """Show a panel: a row per cell with ``place`` from the top, ``setting``, ``size`` and ``holds``."""
    names = sizes.unique("place", maintain_order=True).sort("place")["setting"].to_list()
    rows = row_axis(["the paper", *names], -1) if scale.stated else row_axis(names)
    marks = (*_bounds(scale, sizes["size"]), *_cells(sizes), *_paper(scale))
    return Chart((Panel("", marks),), _axis(sizes, scale), rows, row=ROW)


def _axis(sizes: pl.DataFrame, scale: Scale) -> Axis:
    """Make the axis, with room beyond its bounds for the side on which the statement holds."""
    shown = [*sizes["size"], *scale.bounds, *scale.stated]
    low, high = min(shown), max(shown)
    if scale.is_ratio and low > 0:
        return log_axis(Axis(scale.title), shown)
    room = 0.06 * ((high - low) or abs(high) or 1.0)
    return Axis(scale.title, low=low - room, high=high + room)


def _bounds(scale: Scale, sizes: pl.Series) -> Iterator[Mark]:
    """Mark the bound, and the side on which the statement holds."""
    smallest, largest = min(*sizes, *scale.bounds), max(*sizes, *scale.bounds)
    yield Region("where the statement holds", HOLDS, scale.least, scale.most)
    for bound in scale.bounds:
        yield Bound(BOUND, bound, "x", LINE)
    if scale.least is not None and scale.most is not None:
        yield Label("holds between", scale.most, 0, "left", is_above=True)
    elif scale.most is not None:
        yield Label("← holds", scale.most, 0, "left", is_above=True)
    elif scale.least is not None:
        is_far = scale.least > largest - LAST * (largest - smallest)
        yield Label("holds →", scale.least, 0, "left" if is_far else "right", is_above=True)


def _cells(sizes: pl.DataFrame) -> Iterator[Curve]:
    spread = (pl.int_range(pl.len()) * GOLDEN % 1 - 0.5) * SPREAD
    rows = sizes.with_columns(pl.col("place") + pl.when(pl.len() > MANY).then(spread).otherwise(0.0).over("place"))
    for holds, (text, style) in VERDICTS.items():
        shown = rows.filter(pl.col("holds") == holds)
        if shown.height:
            yield Curve(text, style, shown["size"], shown["place"], "dots", texts=shown["cell"].to_list())


def _paper(scale: Scale) -> Iterator[Curve]:
    if scale.stated:
        places = [-1.0] * len(scale.stated)
        yield Curve("in the paper", STAR, scale.stated, places, "dots", size=9)
