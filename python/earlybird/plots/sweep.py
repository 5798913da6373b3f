"""A sweep at a glance: one measure along the first key of the grid, a line for each combination of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from matplotlib.figure import Figure

from earlybird.columns import sweep_columns
from earlybird.dictionary import sections
from earlybird.errors import InputError
from earlybird.plots.style import OTHERS, styled
from earlybird.statistics import student_interval

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from earlybird.sweeps import SweepResult

WITHOUT_GRID: Final = "seed"
"""What is along the axis of a sweep that has no grid."""


def draw(sweep: SweepResult, measure: str | None = None) -> Figure:
    """Draw a measure, by default the first that the sweep's table shows: means, with 90 % intervals over the seeds."""
    if not sweep.planned:
        raise InputError("there is nothing to draw: the sweep has no runs.")
    runs = sweep.runs
    shown = chosen(runs, measure)
    along, *others = [*sweep.planned[0].parameters] or [WITHOUT_GRID]
    with styled():
        figure = Figure(figsize=(7.0, 4.2), layout="constrained")
        axes = figure.subplots()
        lines = runs.group_by(others, maintain_order=True) if others else [((), runs)]
        for place, (values, rows) in enumerate(lines):
            name = ", ".join(f"{key} {value}" for key, value in zip(others, values, strict=True))
            _draw_line(axes, rows, along, shown, {**OTHERS[place % len(OTHERS)].line(), "label": name})
        axes.set_xlabel(along)
        axes.set_ylabel(with_unit(shown))
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
        if others:
            figure.legend(loc="outside lower left", ncols=3)
    return figure


def chosen(runs: pl.DataFrame, measure: str | None) -> str:
    """Return the measure if the runs have numbers of that name; raise InputError otherwise."""
    numbers = [name for name in runs.columns if runs[name].dtype.is_numeric()]
    if measure is None:
        return next((column.key for column in sweep_columns(numbers)), numbers[-1])
    if measure not in numbers:
        raise InputError(f"measure = {measure}: the runs have no such number. They have {', '.join(numbers)}.")
    return measure


def with_unit(measure: str) -> str:
    """Name a measure with its unit, if it has one."""
    entry = sections()["summary"].entries.get(measure)
    return f"{measure} ({entry.unit})" if entry and entry.unit else measure


def _draw_line(axes: Axes, rows: pl.DataFrame, along: str, measure: str, style: dict[str, Any]) -> None:
    """Draw the means of a line, each with its interval if there are several runs."""
    points = [
        (place, student_interval(group[measure].drop_nulls().to_list()))
        for (place,), group in rows.group_by(along, maintain_order=True)
    ]
    halves = [one.half_width if one.is_bounded else 0.0 for _, one in points]
    axes.errorbar([place for place, _ in points], [one.mean for _, one in points], halves, capsize=3, **style)
