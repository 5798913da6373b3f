"""
Contents of pictures, apart from any library that draws: panels with marks, and their axes.

Every kind of plot is a function from a table to a `Chart`, which `earlybird.plots.vega` draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from earlybird.plots.style import PLAIN, Style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

Values: TypeAlias = "Sequence[float] | Sequence[float | None] | pl.Series | NDArray[Any]"
Better: TypeAlias = Literal["", "smaller", "larger"]

LEFT_RIGHT, UP_DOWN = ("←", "→"), ("↓", "↑")  # arrows to small and to large values of an axis
FEW_TICKS: Final = 3
STEPS: Final = ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0))
"""Places of ticks in each decade of a logarithmic axis: the first that come to a few ticks are taken."""
MARGIN: Final = 1.25  # by which a logarithmic axis goes beyond what it shows


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis."""

    title: str = ""
    is_log: bool = False
    low: float | None = None  # begin of the axis (default: the lowest value); may be above `high`
    high: float | None = None
    ticks: Mapping[float, str] = field(default_factory=dict)
    """Places that have a name; without any, they are numbers."""
    better: Better = ""  # which values are better, where that has a meaning
    is_rows: bool = False  # whether its ticks name rows from top to bottom, so that it grows with them
    is_whole: bool = False  # whether only whole numbers are ticks


@dataclass(frozen=True, slots=True)
class Curve:
    """Points that belong together."""

    name: str
    style: Style
    x: Values
    y: Values
    form: Literal["both", "line", "dots", "steps", "band"] = "both"
    """Of a band only the intervals are drawn, as an area."""
    low: Values | None = None
    high: Values | None = None  # ends of the points' intervals
    is_banded: bool = False  # whether intervals are an area around the line instead of bars
    is_across: bool = False  # whether intervals lie along x
    size: float = 4.5  # of its markers, in points
    width: float = 1.5  # of its line, in points
    every: int = 1  # which of its points have a marker
    texts: Sequence[str] = ()  # words that a page shows beside a point's numbers, by point
    is_named: bool = True  # whether the legend names it


@dataclass(frozen=True, slots=True)
class Bars:
    """Upright bars."""

    name: str
    style: Style
    x: Values  # their middles
    low: Values
    high: Values
    width: float


@dataclass(frozen=True, slots=True)
class Bound:
    """A line across a panel; one along y may have words at its right end."""

    name: str
    at: float
    along: Literal["x", "y"] = "x"  # the axis on which it has its place
    style: Style = PLAIN
    text: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """A shaded part of a panel, on an axis from one place to another or to its end."""

    name: str
    style: Style
    low: float | None
    high: float | None
    along: Literal["x", "y"] = "x"


@dataclass(frozen=True, slots=True)
class Label:
    """Words at a place: right of it, left of it or around it."""

    text: str
    x: float
    y: float
    side: Literal["left", "right", "middle"] = "middle"
    is_above: bool = False  # whether it stands on top of the panel instead of at `y`


Mark: TypeAlias = Curve | Bars | Bound | Region | Label


@dataclass(frozen=True, slots=True)
class Panel:
    """One coordinate system."""

    title: str
    marks: tuple[Mark, ...]
    y: Axis | None = None  # its own y axis, if not that of the whole chart
    x: Axis | None = None  # its own x axis, if not that of the whole chart


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture."""

    panels: tuple[Panel, ...]
    x: Axis
    y: Axis = field(default_factory=Axis)
    title: str = ""  # the heading of the picture; pages have it beside the chart
    caption: str = ""  # the text below the heading
    share_y: bool = True  # whether all panels have the same y axis
    is_stack: bool = False  # whether panels lie one below the other over the same x
    height: float = 2.3  # of a panel in inches; rows decide themselves
    row: float = 0.27  # inches of a row, where y has any
    width: float = 0.0  # of the picture in inches; as its panels need if that is nothing


def by_panel(table: pl.DataFrame, marks: Callable[[pl.DataFrame], Iterable[Mark]]) -> tuple[Panel, ...]:
    """Make a panel for each value of a table's column ``panel``."""
    titles = table["panel"].unique(maintain_order=True).to_list()
    return tuple(Panel(title, tuple(marks(table.filter(panel=title)))) for title in titles)


def columns(chart: Chart) -> int:
    """Return how many panels stand side by side where there is room: four at most, and rows as full as they can be."""
    count = len(chart.panels)
    return 1 if chart.is_stack else math.ceil(count / math.ceil(count / 4))


def named(chart: Chart) -> dict[str, Bars | Bound | Curve | Region]:
    """Return what a legend names, each as it is drawn first."""
    found: dict[str, Bars | Bound | Curve | Region] = {}
    for mark in (mark for panel in chart.panels for mark in panel.marks):
        if not isinstance(mark, Label) and mark.name and not (isinstance(mark, Curve) and not mark.is_named):
            found.setdefault(mark.name, mark)
    return found


def titled(axis: Axis, arrows: tuple[str, str]) -> list[str]:
    """Return the lines of an axis title: what it is, and which values are better."""
    small, large = arrows
    better = {"smaller": f"{small} smaller is better", "larger": f"larger is better {large}", "": ""}[axis.better]
    return [line for line in (axis.title, better) if line]


def log_axis(axis: Axis, values: Iterable[float | None]) -> Axis:
    """Return a logarithmic axis that covers the values, with plain numbers at its ticks."""
    shown = [value for value in values if value is not None and math.isfinite(value) and value > 0]
    low = axis.low if axis.low else min(shown, default=1.0) / MARGIN
    high = axis.high if axis.high else max(shown, default=10.0) * MARGIN
    ticks = axis.ticks or {tick: plain_number(tick) for tick in log_ticks(low, high)}
    return replace(axis, is_log=True, low=low, high=high, ticks=ticks)


def log_ticks(low: float, high: float) -> list[float]:
    """Choose ticks of a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in STEPS:
        ticks = [float(f"{step:g}e{decade}") for decade in decades for step in steps]
        inside = [tick for tick in ticks if low <= tick <= high]
        if len(inside) >= FEW_TICKS:
            return inside
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    return [round(step * place, 12) for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def plain_number(value: float) -> str:
    """Write a tick without powers of ten."""
    return f"{value:.10f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.6g}"
