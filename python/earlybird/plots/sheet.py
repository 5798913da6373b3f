"""How large a picture of a chart is, and where its words are broken so that all of them have room."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.plots.chart import LEFT_RIGHT, Axis, Chart, Label, Panel, columns, named, titled
from earlybird.plots.style import RULES
from earlybird.plots.text import folded, lines, side_by_side, width

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTHS: Final = {1: 6.6, 2: 8.0}
"""Inches of a picture of so many panels side by side."""
WIDE: Final = 9.6
"""Inches of any other."""
POINTS: Final = 72.0
"""In an inch."""
LEFT: Final = 58.0
"""Points that numbers and title take beside a panel."""
BESIDE: Final = 14.0
"""Points between panels."""
LINE: Final = 1.25
"""Height of a line of text in letter sizes."""
ROW_NAMES: Final = 0.36
"""Share of the width that names of rows may take."""
BETWEEN_ENTRIES: Final = 56.0
"""Points that an entry of the legend takes beside its words."""
TICK, TITLE = float(RULES["xtick.labelsize"]), float(RULES["axes.labelsize"])
PANEL_TITLE, HEADING, CAPTION = 9.0, 10.0, 8.0
"""Sizes of letters."""
ROOM_AT_ENDS: Final = 0.1
"""Of an axis of named places, at each end, in parts of its length."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A chart with its words broken to fit, and how large it is, in points."""

    chart: Chart
    width: float
    panel_width: float
    panel_height: float
    legend_columns: int
    is_turned: bool
    """Whether the names of places along x stand upright."""

    @property
    def height(self) -> float:
        """The panels with all that stands around them."""
        chart, across = self.chart, columns(self.chart)
        down = math.ceil(len(chart.panels) / across)
        below = 1 if chart.is_stack else down
        titles = max(lines(panel.title) for panel in chart.panels) or any(map(has_labels_above, chart.panels))
        entries = len(named(chart))
        rows = math.ceil(entries / self.legend_columns) if entries else 0
        around = lines(chart.title) * HEADING + lines(chart.caption) * CAPTION + rows * 1.35 * TITLE
        letters = down * titles * PANEL_TITLE + below * lines(x_title(chart, self.panel_width)) * TITLE + around
        return down * (self.panel_height + 12) + below * self._ticks_height() + LINE * letters + 14

    def _ticks_height(self) -> float:
        texts = [*self.chart.x.ticks.values()] or ["0"]
        if self.is_turned:
            return max(width(text, TICK) for text in texts) + 10
        return max(map(lines, texts)) * TICK * LINE + 10


def sheet_of(chart: Chart) -> Sheet:
    """Break words where they have no room, and find out how much room all takes."""
    across = columns(chart)
    wide = POINTS * (chart.width or (WIDE if chart.is_stack else WIDTHS.get(across, WIDE)))
    chart = replace(
        chart,
        title=folded(chart.title, wide - 12, HEADING, is_bold=True),
        caption=folded(chart.caption, wide - 12, CAPTION),
        panels=tuple(_with_row_names(panel, wide) for panel in chart.panels),
        y=_row_names(chart.y, wide),
    )
    beside = max(_left(panel.y or chart.y) for panel in chart.panels)
    is_apart = not chart.share_y or any(panel.y for panel in chart.panels)
    between = beside if is_apart else BESIDE
    panel_width = (wide - beside - (across - 1) * between) / across - 8
    ticks = _x_ticks(chart.x, panel_width)
    titles = (folded(panel.title, panel_width, PANEL_TITLE, is_bold=True) for panel in chart.panels)
    panels = tuple(replace(panel, title=title) for panel, title in zip(chart.panels, titles, strict=True))
    fitted = replace(chart, panels=panels, x=replace(chart.x, ticks=ticks or chart.x.ticks))
    return Sheet(
        fitted,
        wide,
        panel_width,
        _panel_height(chart),
        _legend_columns([*named(chart)], wide),
        is_turned=ticks is None,
    )


def _left(axis: Axis) -> float:
    """Return how much room the names and the title of a y axis take."""
    if not axis.ticks:
        return LEFT
    texts = (line for text in axis.ticks.values() for line in text.split("\n"))
    return max(width(line, TICK) for line in texts) + 12 + LINE * TITLE * len(titled(axis, LEFT_RIGHT))


def _with_row_names(panel: Panel, wide: float) -> Panel:
    return replace(panel, y=_row_names(panel.y, wide)) if panel.y else panel


def _row_names(axis: Axis, wide: float) -> Axis:
    """Break the names of rows."""
    if not axis.is_rows:
        return axis
    return replace(axis, ticks={at: folded(text, ROW_NAMES * wide, TICK) for at, text in axis.ticks.items()})


def _panel_height(chart: Chart) -> float:
    axes = [axis for axis in (chart.y, *(panel.y for panel in chart.panels)) if axis and axis.is_rows]
    heights = [len(axis.ticks) * max(POINTS * chart.row, TICK * LINE * _most_lines(axis) + 4) for axis in axes]
    return max(heights) if chart.y.is_rows else max(POINTS * chart.height, *heights, 0.0)


def _most_lines(axis: Axis) -> int:
    return max(map(lines, axis.ticks.values()), default=1)


def _x_ticks(axis: Axis, panel_width: float) -> dict[float, str] | None:
    """Break the names of places along x; None where they have to be turned."""
    if not axis.ticks:
        return {}
    scale = math.log if axis.is_log else float
    low, high = map(scale, ends(axis))
    labels = {(scale(at) - low) / (high - low) * panel_width: text for at, text in axis.ticks.items()}
    broken = side_by_side(labels, panel_width, TICK)
    return dict(zip(sorted(axis.ticks), broken.values(), strict=True)) if broken else None


def ends(axis: Axis) -> tuple[float, float]:
    """Return the ends of an axis of named places."""
    first, last = min(axis.ticks), max(axis.ticks)
    room = ROOM_AT_ENDS * (last - first) or 0.5
    return (first - room if axis.low is None else axis.low, last + room if axis.high is None else axis.high)


def _legend_columns(entries: Sequence[str], wide: float) -> int:
    """Return how many entries of a legend fit side by side; matplotlib fills column by column."""
    widths = np.array([width(name, TITLE) + BETWEEN_ENTRIES for name in entries])
    for count in range(len(entries), 1, -1):
        if sum(part.max() for part in np.array_split(widths, count)) <= wide:
            return count
    return 1


def has_labels_above(panel: Panel) -> bool:
    """Return whether words stand on top of a panel."""
    return any(isinstance(mark, Label) and mark.is_above for mark in panel.marks)


def x_title(chart: Chart, panel_width: float) -> str:
    """Return the title along x, broken to fit."""
    return "\n".join(folded(line, panel_width, TITLE) for line in titled(chart.x, LEFT_RIGHT))
