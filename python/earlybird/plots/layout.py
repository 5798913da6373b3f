"""The size of a chart's panels, and where its words are broken so that they fit."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from earlybird.plots.chart import LEFT_RIGHT, Axis, Chart, columns, named, titled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTHS: Final = {1: 634.0, 2: 768.0}  # pixels of a picture with so many panels side by side
WIDE: Final = 922.0  # pixels of any other
PHONE: Final = 330.0  # pixels of a picture for phones, whose panels stand one below the other
PIXELS: Final = 96.0  # in an inch
TEXT, HEADING = 11.0, 13.0  # pixels of the letters of all text, and of the picture's title
LETTER: Final = 0.57  # mean width of a letter of DejaVu Sans, in letter sizes; capitals and bold letters are wider
LEFT: Final = 76.0  # pixels that the numbers and the title of a y axis take beside a panel
BESIDE: Final = 20.0  # pixels between panels that share their y axis
ROW_NAMES: Final = 0.36  # share of the width that names of rows may take
KEY: Final = 56.0  # pixels that an entry of the legend takes beside its words
LINE: Final = 1.3  # height of a line of text in letter sizes
END_MARGIN: Final = 0.1  # free room at each end of an axis of named places, in parts of its length


@dataclass(frozen=True, slots=True)
class Layout:
    """A chart with its words broken to fit, and the size of its panels in pixels."""

    chart: Chart
    columns: int  # panels side by side
    width: float
    panel_width: float
    panel_height: float
    legend_columns: int
    is_turned: bool  # whether the names of places along x stand upright


def layout_of(chart: Chart, room: float | None = None) -> Layout:
    """Break the words of a chart and compute the size of its panels; with little room they stand in one column."""
    across = 1 if room else columns(chart)
    wide = room or PIXELS * chart.width or (WIDE if chart.is_stack else WIDTHS.get(across, WIDE))
    panels = [replace(panel, y=_row_names(panel.y, wide)) if panel.y else panel for panel in chart.panels]
    y = _row_names(chart.y, wide)
    beside = max(_left(panel.y or y) for panel in panels)
    panel_width = (wide - beside - (across - 1) * (BESIDE if is_shared(chart) else beside)) / across
    titles = [folded(panel.title, panel_width, 1.1 * TEXT) for panel in panels]
    names = _place_names(chart.x, panel_width)
    return Layout(
        replace(
            chart,
            title=folded(chart.title, wide, 1.1 * HEADING),
            caption=folded(chart.caption, wide, TEXT),
            panels=tuple(replace(panel, title=title) for panel, title in zip(panels, titles, strict=True)),
            x=replace(chart.x, ticks=names or chart.x.ticks),
            y=y,
        ),
        across,
        wide,
        panel_width,
        _panel_height(chart, [panel.y or y for panel in panels]),
        _legend_columns([*named(chart)], wide),
        is_turned=names is None,
    )


def is_shared(chart: Chart) -> bool:
    """Return whether all panels have the same y axis."""
    return chart.share_y and not any(panel.y for panel in chart.panels)


def width(text: str, size: float = TEXT) -> float:
    """Estimate the width of the longest line of a text, in pixels."""
    return LETTER * size * max(map(len, text.split("\n")))


def folded(text: str, room: float, size: float = TEXT) -> str:
    """Break lines between words where they are wider than the room in pixels."""
    letters = max(int(room / (LETTER * size)), 1)
    lines = (textwrap.wrap(line, letters, break_long_words=False, break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


def axis_title(axis: Axis, arrows: tuple[str, str], room: float) -> list[str]:
    """Return the lines of an axis title, broken to fit."""
    return [part for line in titled(axis, arrows) for part in folded(line, room).split("\n")]


def ends(axis: Axis) -> tuple[float, float]:
    """Return the ends of an axis of named places."""
    first, last = min(axis.ticks), max(axis.ticks)
    room = END_MARGIN * (last - first) or 0.5
    return (first - room if axis.low is None else axis.low, last + room if axis.high is None else axis.high)


def _left(axis: Axis) -> float:
    if not axis.ticks:
        return LEFT
    return max(map(width, axis.ticks.values())) + 16 + LINE * TEXT * len(titled(axis, LEFT_RIGHT))


def _row_names(axis: Axis, wide: float) -> Axis:
    if not axis.is_rows:
        return axis
    return replace(axis, ticks={at: folded(text, ROW_NAMES * wide) for at, text in axis.ticks.items()})


def _panel_height(chart: Chart, axes: Iterable[Axis]) -> float:
    """Return the height that the rows need, where y has any, and else that of the chart."""
    rows = [len(axis.ticks) * max(PIXELS * chart.row, _tallest(axis) + 5) for axis in axes if axis.is_rows]
    return max(rows) if chart.y.is_rows else max(PIXELS * chart.height, *rows, 0.0)


def _tallest(axis: Axis) -> float:
    return LINE * TEXT * max((text.count("\n") + 1 for text in axis.ticks.values()), default=1)


def _place_names(axis: Axis, panel_width: float) -> dict[float, str] | None:
    """Break the names of places along x; None where they have to be turned. Of numbers, Vega leaves out some."""
    if not axis.ticks or all(text.replace(".", "").isdigit() for text in axis.ticks.values()):
        return dict(axis.ticks)
    scale = math.log if axis.is_log else float
    low, high = map(scale, ends(axis))
    places = sorted((scale(at) - low) / (high - low) * panel_width for at in axis.ticks)
    room = min((right - left for left, right in pairwise(places)), default=panel_width) - 6
    broken = {at: folded(text, room) for at, text in axis.ticks.items()}
    return broken if max(map(width, broken.values())) <= room else None


def _legend_columns(entries: Sequence[str], wide: float) -> int:
    """Return the number of legend entries that fit side by side; columns are as wide as the longest entry."""
    return max(1, int(wide / (max(map(width, entries), default=wide) + KEY)))
