"""Turns a study's plots into tidy tables, and those into figures."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import polars as pl

from earlybird.plots.chart import Chart
from earlybird.plots.dots import dots_chart
from earlybird.plots.lines import Wording, lines_chart
from earlybird.plots.sensitivity import Scale, sensitivity_chart
from earlybird.report.single_runs import SINGLE_RUNS, single_runs_table
from earlybird.store import Store
from earlybird.study.language.definition import Study
from earlybird.study.language.items import Plot
from earlybird.study.language.metrics import metric
from earlybird.study.language.names import picture_name, tick_name, value_name
from earlybird.study.language.points import Point, Scalar, combinations
from earlybird.study.statements.estimation import estimate
from earlybird.study.statements.quantities import Measurements, Quantity
from earlybird.study.statements.sensitivity import Sensitivity

POINT = {
    "panel": pl.String,
    "line": pl.String,
    "name": pl.String,
    "x": pl.Float64,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "paper": pl.Float64,
}
"""Columns of the table behind a plot of lines."""


@dataclass(frozen=True, slots=True)
class PlotData:
    """The data of a plot, and its chart."""

    table: pl.DataFrame
    chart: Chart


MEASURED = re.compile(r"([0-9.]+) (ms|s|packets|%|Mb/s|bytes)")
"""A number with its unit, as the names of places have them."""

WIDE = 20.0  # with a larger ratio between its ends, an axis is logarithmic
MOST_NAMED = 15  # with more numbers along it, an axis is a plain scale


def plot_data(plot: Plot, measurements: Measurements, scale: str, store: Store) -> PlotData | None:
    """Gather what a plot shows of the runs, those of single packets from the store; None without any."""
    is_special = plot.kind in SINGLE_RUNS
    table = single_runs_table(plot, measurements.study, scale, store) if is_special else _lines(plot, measurements)
    if not table.height:
        return None
    return PlotData(_with_names(plot, measurements.study, table), drawn(plot, measurements.study, table))


def _with_names(plot: Plot, study: Study, table: pl.DataFrame) -> pl.DataFrame:
    """Replace places along an axis without numbers of its own by their names."""
    ((name, values),) = plot.x.items() if plot.x else (("", ()),)
    if plot.kind in SINGLE_RUNS or _is_scale(study, name, values):
        return table
    names = {float(place): value_name(study, name, value) for place, value in enumerate(values)}
    return table.with_columns(pl.col("x").replace_strict(names, return_dtype=pl.String))


def drawn(plot: Plot, study: Study, table: pl.DataFrame) -> Chart:
    """Make the chart of a plot from its data."""
    if plot.kind in SINGLE_RUNS:
        _, describe = SINGLE_RUNS[plot.kind]
        return replace(describe(table), title=plot.title)
    wording = _wording(plot, study)
    return replace(dots_chart(table, wording) if plot.kind == "dots" else lines_chart(table, wording), title=plot.title)


def sensitivity_data(sensitivity: Sensitivity) -> PlotData | None:
    """Gather what a sensitivity panel shows; None if no setting but the study's own was run."""
    table = sensitivity.table()
    if len(sensitivity.settings_run) < 2 or not table.height:
        return None
    return PlotData(table, panel_drawn(sensitivity, table))


def panel_drawn(sensitivity: Sensitivity, table: pl.DataFrame) -> Chart:
    """Make the chart of a sensitivity panel from its data."""
    stated, panel = sensitivity.panel.stated, sensitivity.panel
    scale = Scale(sensitivity.axis, sensitivity.least, sensitivity.most, stated, sensitivity.is_ratio)
    caption = f"The statement: {sensitivity.check.statement}."
    return replace(sensitivity_chart(table, scale), title=panel.title, caption=caption)


def _lines(plot: Plot, measurements: Measurements) -> pl.DataFrame:
    table = pl.DataFrame(list(_points(plot, measurements)), schema=POINT, orient="row")
    return table.filter(*(pl.col("value").is_not_null().any().over(name) for name in ("panel", "line")))


def _points(plot: Plot, measurements: Measurements) -> Iterator[tuple[object, ...]]:
    """Measure every point of a plot of lines."""
    unit, study = metric(plot.metric), measurements.study
    for panel in combinations(plot.panels):
        for line in combinations(plot.lines):
            for place, coordinate in _places(plot, {**plot.at, **panel, **line}, measurements):
                point = {**plot.at, **panel, **line, **coordinate}
                found = estimate(plot.metric, measurements.by_seed(Quantity(plot.metric, point)))
                low, high = (clip(found.low), clip(found.high)) if unit.is_share else (found.low, found.high)
                numbers = (found.mean, low, high, measurements.stated(plot.metric, point))
                title, name = picture_name(study, panel), picture_name(study, line)
                yield title, "-".join(map(str, line.values())), name, place, *(_finite(unit.scale * n) for n in numbers)


def clip(share: float) -> float:
    """Keep the end of a share's interval between nothing and all; one that a single seed leaves open stays infinite."""
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else share


def _places(plot: Plot, point: Point, measurements: Measurements) -> list[tuple[float, dict[str, Scalar]]]:
    """List the places along x and their coordinates."""
    ((name, values),) = plot.x.items()
    if name == "delay" and not values:
        runs = measurements.select(point)
        values = (0.0, *map(float, runs[0].delays)) if runs else ()
    is_scale = _is_scale(measurements.study, name, values)
    return [(_place(value, index, is_scale=is_scale), {name: value}) for index, value in enumerate(values)]


def _is_scale(study: Study, name: str, values: Sequence[Scalar]) -> bool:
    """Return whether values along x are numbers of their own; an axis that names its values has places instead."""
    has_names = name in study.axes and bool(study.axes[name].names)
    return not has_names and all(isinstance(value, int | float) for value in values)


def _place(value: Scalar, index: int, *, is_scale: bool) -> float:
    return float(value) if is_scale else float(index)


def _wording(plot: Plot, study: Study) -> Wording:
    ((name, values),) = plot.x.items()
    unit = metric(plot.metric)
    is_scale = _is_scale(study, name, values)
    write = value_name if plot.kind == "dots" else tick_name  # rows of dots have no title beside them
    names = [str(value) if is_scale else write(study, name, value) for value in values]
    places = [_place(value, index, is_scale=is_scale) for index, value in enumerate(values)]
    title = "Startup delay (s)" if name == "delay" else study.axes[name].title if name in study.axes else ""
    title, names = (title, names) if plot.kind == "dots" else _unit_in_title(title, names)
    ticks = dict(zip(places, names, strict=True))
    return Wording(
        x=title,
        y=unit.axis,
        ticks={} if is_scale and len(values) > MOST_NAMED else ticks,
        is_wide=is_scale and _is_wide(values),
        share_y=plot.share_y,
        log_y=plot.log_y,
        top=102.0 if plot.metric == "on_time_share" else None,
        better=unit.better,
    )


def _unit_in_title(title: str, names: list[str]) -> tuple[str, list[str]]:
    """Move a unit that all places share into the title."""
    found = [MEASURED.fullmatch(name) for name in names]
    units = {match[2] if match else "" for match in found}
    if len(units) != 1 or "" in units or not title:
        return title, names
    return f"{title} ({units.pop()})", [match[1] for match in found if match]


def _is_wide(values: Sequence[Scalar]) -> bool:
    """Return whether places along x span so much that they need a logarithmic scale."""
    numbers = [float(value) for value in values]
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
