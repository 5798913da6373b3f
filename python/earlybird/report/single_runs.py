"""Plots of single runs: the table of each panel is made of the results themselves."""

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import polars as pl

from earlybird.plots.ages import histogram_chart, history_chart
from earlybird.plots.chart import Chart
from earlybird.plots.delays import delays_chart
from earlybird.plots.lines import Wording, lines_chart
from earlybird.plots.packets import packets_chart
from earlybird.store import Store
from earlybird.study.language.definition import Study
from earlybird.study.language.items import Plot
from earlybird.study.language.names import picture_name
from earlybird.study.language.points import Point, combinations
from earlybird.study.reductions.ages import duplicate_bins, duplicate_history
from earlybird.study.reductions.bursts import delays
from earlybird.study.reductions.packets import around_the_loss
from earlybird.study.reductions.queue import position_lines
from earlybird.study.reductions.reading import packets
from earlybird.study.reductions.response import response_line
from earlybird.study.reductions.window import window_line
from earlybird.study.runs.execution import results
from earlybird.study.runs.plan import StudyRun, plan


def single_runs_table(plot: Plot, study: Study, scale: str, store: Store) -> pl.DataFrame:
    """Gather one table per panel; without results the table is empty."""
    make, _ = SINGLE_RUNS[plot.kind]
    tables = []
    for panel in combinations(plot.panels):
        runs = [run for run in plan(study, scale) if _is_of(run, {"part": next(iter(study.parts)), **plot.at, **panel})]
        if found := make(runs, store):
            tables.append(found[0].select(pl.lit(picture_name(study, panel)).alias("panel"), pl.all()))
    return pl.concat(tables) if tables else pl.DataFrame()


def _is_of(run: StudyRun, point: Point) -> bool:
    place = {**run.axes, "part": run.part.name}
    return all(place.get(name) == value for name, value in point.items())


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


def _plain(x: str, y: str) -> Callable[[pl.DataFrame], Chart]:
    """Draw lines over a plain scale."""
    return partial(lines_chart, wording=Wording(x, y))


Gather: TypeAlias = Callable[[list[StudyRun], Store], list[pl.DataFrame]]
SINGLE_RUNS: dict[str, tuple[Gather, Callable[[pl.DataFrame], Chart]]] = {
    "ages": (_bins, histogram_chart),
    "age-history": (_history, history_chart),
    "packets": (_packets, packets_chart),
    "delays": (_delays, delays_chart),
    "positions": (_positions, _plain("Packets found waiting, tenths of the queue", "Share of a group's packets (%)")),
    "response": (_responses, _plain("Smoothed queueing delay (ms)", "Probability of an early response")),
    "window": (_windows, _plain("Time (s)", "Window (packets)")),
}
"""By kind, how the table of one panel is made of its runs (none without results), and how all are drawn."""
