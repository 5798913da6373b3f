"""Turns a study's plots into tidy tables, and those into figures."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import polars as pl
from matplotlib.figure import Figure

from earlybird.plots.ages import histogram_chart, histogram_figure, history_chart, history_figure
from earlybird.plots.chart import Chart
from earlybird.plots.delays import delays_chart, delays_figure
from earlybird.plots.dots import dots_chart, dots_figure
from earlybird.plots.lines import Wording, lines_chart, lines_figure
from earlybird.plots.packets import packets_chart, packets_figure
from earlybird.plots.sensitivity import Scale, sensitivity_chart, sensitivity_figure
from earlybird.store import Store
from earlybird.study.ages import duplicate_bins, duplicate_history
from earlybird.study.bursts import delays
from earlybird.study.checks import combinations
from earlybird.study.definition import Plot, Point, Scalar, Study
from earlybird.study.estimation import estimate
from earlybird.study.execution import results
from earlybird.study.metrics import metric
from earlybird.study.names import picture_name, tick_name, value_name
from earlybird.study.packets import around_the_loss
from earlybird.study.plan import StudyRun, plan
from earlybird.study.quantities import Measurements, Quantity
from earlybird.study.queue import position_lines
from earlybird.study.reading import packets
from earlybird.study.response import response_line
from earlybird.study.sensitivity import Sensitivity
from earlybird.study.window import window_line

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
    """What a plot shows, and how it is drawn: as a picture, and as an interactive chart."""

    table: pl.DataFrame
    figure: Callable[[], Figure]
    chart: Callable[[], Chart]


WIDE = 20.0
"""With a larger ratio between its ends, an axis is logarithmic."""
MOST_NAMED = 15
"""With more numbers along it, an axis is a plain scale."""


def plot_data(plot: Plot, measurements: Measurements, scale: str, store: Store) -> PlotData | None:
    """
    Gather what a plot shows.

    Parameters
    ----------
    plot
        The plot.
    measurements
        The runs, reduced.
    scale
        Their scale.
    store
        Their results, for plots of single packets.

    Returns
    -------
    PlotData or None
        None if no run has anything to show.
    """
    is_special = plot.kind in SPECIAL
    data = _special(plot, measurements.study, scale, store) if is_special else _lines(plot, measurements)
    return data if data.table.height else None


def sensitivity_data(sensitivity: Sensitivity) -> PlotData | None:
    """Gather what a sensitivity panel shows; None if no setting but the study's own was run."""
    table = sensitivity.table()
    scale = Scale(sensitivity.axis, sensitivity.bounds, sensitivity.panel.stated)
    if len(sensitivity.settings_run) < 2 or not table.height:
        return None
    return PlotData(table, lambda: sensitivity_figure(table, scale), lambda: sensitivity_chart(table, scale))


def _lines(plot: Plot, measurements: Measurements) -> PlotData:
    table = pl.DataFrame(list(_points(plot, measurements)), schema=POINT, orient="row")
    table = table.filter(*(pl.col("value").is_not_null().any().over(name) for name in ("panel", "line")))
    wording = _wording(plot, measurements.study)
    draw, describe = (dots_figure, dots_chart) if plot.kind == "dots" else (lines_figure, lines_chart)
    return PlotData(table, lambda: draw(table, wording), lambda: describe(table, wording))


def _points(plot: Plot, measurements: Measurements) -> Iterator[tuple[object, ...]]:
    """Measure every point of a plot of lines."""
    unit, study = metric(plot.metric), measurements.study
    base = {**({"part": plot.part} if plot.part else {}), **plot.at}
    for panel in combinations(plot.panels):
        for line in combinations(plot.lines):
            for place, coordinate in _places(plot, {**base, **panel, **line}, measurements):
                point = {**base, **panel, **line, **coordinate}
                found = estimate(plot.metric, measurements.by_seed(Quantity(plot.metric, point)))
                numbers = (found.mean, found.low, found.high, measurements.stated(plot.metric, point))
                title, name = picture_name(study, panel), picture_name(study, line)
                yield title, "-".join(map(str, line.values())), name, place, *(_finite(unit.scale * n) for n in numbers)


def _places(plot: Plot, point: Point, measurements: Measurements) -> list[tuple[float, dict[str, Scalar]]]:
    """List the places along x and the coordinate that each stands for."""
    ((name, values),) = plot.x.items()
    if name == "delay" and not values:
        runs = measurements.select(point)
        values = (0.0, *map(float, runs[0].delays)) if runs else ()
    is_scale = _is_scale(measurements.study, name, values)
    return [(_place(value, index, is_scale=is_scale), {name: value}) for index, value in enumerate(values)]


def _is_scale(study: Study, name: str, values: Sequence[Scalar]) -> bool:
    """Tell whether values along x are numbers of their own; an axis that names its values has places instead."""
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
    ticks = dict(zip(places, names, strict=True))
    return Wording(
        x="Start-up delay (s)" if name == "delay" else study.axes[name].title if name in study.axes else "",
        y=unit.axis,
        ticks={} if is_scale and len(values) > MOST_NAMED else ticks,
        is_wide=is_scale and _is_wide(values),
        share_y=plot.share_y,
        log_y=plot.log_y,
        top=102.0 if plot.metric == "success" else None,
    )


def _is_wide(values: Sequence[Scalar]) -> bool:
    """Tell whether places along x lie so far apart that they need a logarithmic scale."""
    numbers = [float(value) for value in values]
    return bool(numbers) and min(numbers) > 0 and max(numbers) / min(numbers) >= WIDE


def _special(plot: Plot, study: Study, scale: str, store: Store) -> PlotData:
    """Gather one table per panel from the results themselves."""
    make, draw, describe = SPECIAL[plot.kind]
    tables = []
    for panel in combinations(plot.panels):
        runs = [run for run in plan(study, scale) if _is_of(run, plot, {**plot.at, **panel})]
        if found := make(runs, store):
            tables.append(found[0].select(pl.lit(picture_name(study, panel)).alias("panel"), pl.all()))
    table = pl.concat(tables) if tables else pl.DataFrame()
    return PlotData(table, lambda: draw(table), lambda: describe(table))


def _is_of(run: StudyRun, plot: Plot, point: Point) -> bool:
    return run.part.name == plot.part and all(run.axes.get(name) == value for name, value in point.items())


def _duplicates(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = [result.duplicates for run in runs if (result := results(run, store))]
    return [table for table in found if table.height]


def _bins(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = _duplicates(runs, store)
    return [duplicate_bins(pl.concat(found))] if found else []


def _history(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    return [duplicate_history(table) for table in _duplicates(runs[:1], store)]


def _packets(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    return [around_the_loss(packets(run)) for run in runs if results(run, store)]


def _delays(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = [result for run in runs if (result := results(run, store))]
    return [delays(result) for result in found if result.bursts.height]


def _positions(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = ((run, results(run, store)) for run in runs[:1])
    return [position_lines(result.queue_positions, float(run.axes["buffer"])) for run, result in found if result]


def _windows(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = ((run, results(run, store)) for run in runs[:1])
    return [
        window_line(result.series, f"{run.part.flows}0", str(run.axes["transport"])) for run, result in found if result
    ]


def _responses(runs: list[StudyRun], store: Store) -> list[pl.DataFrame]:
    found = ((run, results(run, store)) for run in runs[:1])
    return [response_line(result.series, f"{run.part.flows}0") for run, result in found if result]


def _plain(x: str, y: str) -> tuple[Callable[[pl.DataFrame], Figure], Callable[[pl.DataFrame], Chart]]:
    """Draw lines over a plain scale."""
    wording = Wording(x, y)
    return partial(lines_figure, wording=wording), partial(lines_chart, wording=wording)


Gather: TypeAlias = Callable[[list[StudyRun], Store], list[pl.DataFrame]]
SPECIAL: dict[str, tuple[Gather, Callable[[pl.DataFrame], Figure], Callable[[pl.DataFrame], Chart]]] = {
    "ages": (_bins, histogram_figure, histogram_chart),
    "age-history": (_history, history_figure, history_chart),
    "packets": (_packets, packets_figure, packets_chart),
    "delays": (_delays, delays_figure, delays_chart),
    "positions": (_positions, *_plain("Packets found waiting, tenths of the queue", "Share of a group's packets (%)")),
    "response": (_responses, *_plain("Smoothed queueing delay (ms)", "Probability of an early response")),
    "window": (_windows, *_plain("Time (s)", "Window (packets)")),
}
"""Plots of single runs: how the table of one panel is made of its runs (none without results), how all are drawn."""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
