"""A sweep at a glance: one measure along the first key of the grid, a line for each combination of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from earlybird.columns import sweep_columns
from earlybird.errors import InputError
from earlybird.metrics import Direction, Entry, sections, tables
from earlybird.plots.chart import Axis, Chart, Curve, Panel
from earlybird.plots.style import is_transport, transport_styles
from earlybird.statistics import student_interval
from earlybird.tables import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.plots.style import Style
    from earlybird.sweeps import SweepResult

WITHOUT_GRID: Final = "seed"  # the x axis of a sweep that has no grid


def chart(sweep: SweepResult, measure: str | None = None, table: str | None = None, group: str | None = None) -> Chart:
    """Show a measure, by default the first that the sweep's table shows: means, with 90 % intervals over the seeds."""
    if not sweep.planned:
        raise InputError("there is nothing to draw: the sweep has no runs.")
    if group and not table:
        raise InputError(f'group = {group}: runs have no groups. hint: table="flows" has.')
    runs = means(sweep, table, group) if table else sweep.runs
    shown = chosen(runs, measure)
    along, *others = [*sweep.planned[0].parameters] or [WITHOUT_GRID]
    groups = [*runs.group_by(others, maintain_order=True)] if others else [((), runs)]
    lines = dict(groups)
    places = runs[along].unique(maintain_order=True).to_list()
    styles = _styles([*lines])
    curves = (_curve(_name(others, key), styles[key], rows, along, shown, places) for key, rows in lines.items())
    ticks = {float(at): str(place) for at, place in enumerate(places)} if not runs[along].dtype.is_numeric() else {}
    x = Axis(words(along), ticks=ticks, is_whole=runs[along].dtype.is_integer())
    low = min(0.0, float(runs[shown].min() or 0.0))  # type: ignore[arg-type]
    y = Axis(with_unit(shown, table), low=low, better=direction(shown, table))
    title = sweep.planned[0].spec.title or ""
    return Chart((Panel("", tuple(curves)),), x, y, title=title, height=3.2)


def _styles(lines: Sequence[tuple[object, ...]]) -> dict[tuple[object, ...], Style]:
    """Choose the look of each line's transport, if no two lines share one."""
    senders = [next((str(value) for value in values if is_transport(str(value))), str(values)) for values in lines]
    names = senders if len({*senders}) == len(senders) else [str(values) for values in lines]
    return dict(zip(lines, transport_styles(names).values(), strict=True))


def chosen(runs: pl.DataFrame, measure: str | None) -> str:
    """Return the measure if the runs have numbers of that name; raise InputError otherwise."""
    numbers = [name for name in runs.columns if runs[name].dtype.is_numeric()]
    if measure is None:
        return next((column.key for column in sweep_columns(numbers)), numbers[-1])
    if measure not in numbers:
        raise InputError(f"measure = {measure}: the runs have no such number. They have {', '.join(numbers)}.")
    return measure


def means(sweep: SweepResult, table: str, group: str | None) -> pl.DataFrame:
    """Average the numbers of a table over the rows of each run, of all or of one group of flows."""
    rows = sweep.table(table).collect()
    if group:
        if "group" not in rows.columns:
            raise InputError(f"group = {group}: the table {table!r} has no groups; it has {', '.join(rows.columns)}.")
        one_of(group, rows["group"], "group", "group of flows")
        rows = rows.filter(pl.col("group") == group)
    # A key of the grid that is a column of the table too has `run_` in front; it is the key that is drawn.
    keys = {
        key: f"run_{key}" if f"run_{key}" in rows.columns else key for key in (*sweep.planned[0].parameters, "seed")
    }
    numbers = pl.selectors.numeric() - pl.selectors.by_name(*keys, *keys.values(), require_all=False)
    return (
        rows.group_by(list(keys.values()), maintain_order=True)
        .agg(numbers.fill_nan(None).mean())
        .rename({own: key for key, own in keys.items()})
    )


def with_unit(measure: str, table: str | None = None) -> str:
    """Return the title of a measure with its unit, if it has one."""
    entry = entry_of(measure, table)
    title = (entry and entry.title) or words(measure)
    return f"{title} ({entry.unit})" if entry and entry.unit else title


def direction(measure: str, table: str | None = None) -> Direction:
    """Return which values of a measure are better."""
    entry = entry_of(measure, table)
    return entry.direction if entry else ""


def entry_of(measure: str, table: str | None = None) -> Entry | None:
    """Return a measure of the summary, or a column of a table; None for a key of the scenario."""
    return (tables()[table] if table in tables() else sections()["summary"]).entries.get(measure)


def words(key: str) -> str:
    """Write a key of a scenario or of results as words: what it is, and of what."""
    return " ".join(key.split(".")[-2:]).replace("-", " ").replace("_", " ")


def _name(keys: Sequence[str], values: Sequence[object]) -> str:
    return ", ".join(f"{words(key)} {value}" for key, value in zip(keys, values, strict=True))


def _curve(name: str, style: Style, rows: pl.DataFrame, along: str, measure: str, places: list[object]) -> Curve:
    """Show the means of a line, each with its interval if there are several runs."""
    points = [
        (place, student_interval(group[measure].drop_nulls().to_list()))
        for (place,), group in rows.group_by(along, maintain_order=True)
    ]
    halves = [one.half_width if one.is_bounded else 0.0 for _, one in points]
    means = [one.mean for _, one in points]
    x = [float(place) if isinstance(place, int | float) else float(places.index(place)) for place, _ in points]
    low = [mean - half for mean, half in zip(means, halves, strict=True)]
    high = [mean + half for mean, half in zip(means, halves, strict=True)]
    return Curve(name, style, x, means, low=low, high=high)
