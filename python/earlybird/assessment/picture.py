"""The picture of a criterion: its figure by case, a line for each congestion control."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from earlybird.plots.chart import Axis, Chart, Curve, Panel, log_axis
from earlybird.plots.style import transport_styles

if TYPE_CHECKING:
    from earlybird.assessment.outcome import Row
    from earlybird.plots.style import Style

WIDE: Final = 20.0
"""Largest ÷ smallest value from which on an axis is logarithmic."""


def chart(row: Row) -> Chart:
    """Draw the cases of a criterion, with 90 % intervals over the seeds."""
    one = row.criterion
    styles = transport_styles([name for name in (row.control, *row.others) if name in row.samples])
    curves = tuple(_curve(row, name, style) for name, style in styles.items())
    values = [value for curve in curves for value in curve.y if value is not None]
    y = Axis(_title(row), better=one.better)
    is_wide = bool(values) and min(values) > 0 and max(values) > WIDE * min(values)
    y = log_axis(y, values) if is_wide else Axis(y.title, low=min(0.0, *values), better=one.better)
    title = f"{one.section} {one.title}"
    return Chart((Panel("", curves),), _x(row), y, title=title, height=2.6, width=7.0)


def _title(row: Row) -> str:
    return row.criterion.unit or row.criterion.name.replace("_", " ")


def _x(row: Row) -> Axis:
    one = row.criterion
    numbers = [place for place in one.places if not isinstance(place, str)]
    if len(numbers) < len(one.places):
        last = len(one.places) - 0.7
        return Axis(one.axis, low=-0.3, high=last, ticks={n: str(at) for n, at in enumerate(one.places)})
    ticks = {float(place): f"{place:g}" for place in numbers}
    is_wide = max(numbers) > 4 * min(numbers)
    margin = 0.05 * (max(numbers) - min(numbers))
    if is_wide:
        return log_axis(Axis(one.axis, ticks=ticks), numbers)
    return Axis(one.axis, low=min(numbers) - margin, high=max(numbers) + margin, ticks=ticks)


def _curve(row: Row, name: str, style: Style) -> Curve:
    places = [n if isinstance(place, str) else float(place) for n, place in enumerate(row.criterion.places)]
    found = row.places(name)
    means = [one.mean if math.isfinite(one.mean) else None for one in found]
    low = [one.low if one.is_bounded else one.mean for one in found]
    high = [one.high if one.is_bounded else one.mean for one in found]
    return Curve(name, style, places, means, "both", low, high, width=3.0 if name == row.control else 1.5)
