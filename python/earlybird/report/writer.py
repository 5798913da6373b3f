"""Writes a study's report: a page, and beside it every plot as picture with its data, the verdicts and runs as CSV."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from earlybird.errors import StoreError, because
from earlybird.plots.vega import library
from earlybird.pool import spread
from earlybird.report.figures import plot_data, sensitivity_data
from earlybird.report.page import Drawing, page, runs_text
from earlybird.report.pictures import Pictures, both_pictures, write_pictures, write_plot
from earlybird.report.search_page import write_search
from earlybird.report.statements import item_anchor
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import Plot
from earlybird.study.language.points import Point, Scalar

PAGE = "index.html"
ASSETS = "assets"  # the folder of what pages share
VERDICTS = "verdicts.csv"


def write_report(evaluation: Evaluation, folder: Path) -> Path:
    """Write the separate report of one study into a folder, which is created if necessary."""
    try:
        write_assets(folder)
        return write_study(evaluation, folder)
    except OSError as error:
        raise StoreError(f"cannot write the report {folder}: {because(error)}.") from error


def report_name(evaluation: Evaluation) -> str:
    """Return the name of the folder of a report: the study, the scale, and the item if it is about one."""
    study = evaluation.study
    name = f"{study.name}-{evaluation.scale}"
    return f"{name}-{item_anchor(study.item).removeprefix('item-')}" if study.item else name


def write_study(evaluation: Evaluation, folder: Path, *, home: str = "") -> Path:
    """Write a study's page and its files; `home` is the path to the start page and the assets."""
    drawings = write_drawings(evaluation, folder / "plots", both_pictures)
    write_tables(evaluation, folder)
    path = folder / PAGE
    path.write_text(page(evaluation, drawings, home=home), encoding="utf-8")
    if evaluation.search:
        write_search(evaluation.search, evaluation.study, folder / "search", home=f"../{home}")
    return path


def write_tables(evaluation: Evaluation, folder: Path) -> None:
    """Write the verdicts, the cells of all statements, and the runs, as CSV into a folder that is there."""
    tabled_verdicts(evaluation).write_csv(folder / VERDICTS)
    _cell_table(evaluation).write_csv(folder / "cells.csv")
    _run_table(evaluation).write_csv(folder / "runs.csv")


def write_each(
    write: Callable[[tuple[Evaluation, Path]], None], evaluations: Iterable[Evaluation], folder: Path
) -> None:
    """Write something of each study into a folder, in several processes: drawing the plots takes most of the time."""
    most_first = sorted(evaluations, key=_number_of_plots, reverse=True)
    spread(write, [(evaluation, folder) for evaluation in most_first], os.cpu_count() or 1)


def _number_of_plots(evaluation: Evaluation) -> int:
    plots = sum(len(item.plots) for item in evaluation.study.items)
    return plots + sum(len(panels) for panels in evaluation.sensitivities.values())


def write_assets(folder: Path) -> None:
    """Write what pages share: style, scripts, and the library that draws plots, which is by far the largest."""
    (folder / ASSETS).mkdir(parents=True, exist_ok=True)
    own = resources.files("earlybird.report") / ASSETS
    for file in own.iterdir():
        (folder / ASSETS / file.name).write_bytes(file.read_bytes())
    (folder / ASSETS / "vega.js").write_text(library(), encoding="utf-8")


def write_drawings(
    evaluation: Evaluation, folder: Path, chosen: Pictures, *, has_cells: bool = True
) -> dict[str, Drawing]:
    """Draw and write all plots and panels that have something to show, with their data; return them by name."""
    folder.mkdir(parents=True, exist_ok=True)
    return {drawing.name: drawing for drawing in _drawings(evaluation, folder, chosen, has_cells=has_cells)}


def _drawings(evaluation: Evaluation, folder: Path, chosen: Pictures, *, has_cells: bool) -> Iterator[Drawing]:
    for plot in (plot for item in evaluation.study.items for plot in item.plots):
        if data := plot_data(plot, evaluation.measurements, evaluation.scale, evaluation.store):
            picture = write_plot(data, folder, plot.name, chosen)
            made = _made(evaluation, plot.at, _shown(plot))
            yield Drawing(plot.name, plot.title, plot.caption, data.chart, made, picture)
    for each in (each for panels in evaluation.sensitivities.values() for each in panels):
        if data := sensitivity_data(each):
            name = each.panel.name
            picture = (
                write_plot(data, folder, name, chosen)
                if has_cells
                else write_pictures(data.chart, folder, name, chosen)
            )
            made = _made(evaluation, each.check.at)
            yield Drawing(name, each.axis, "", data.chart, made, picture)


def _made(evaluation: Evaluation, at: Point, shown: Mapping[str, Collection[Scalar]] | None = None) -> str:
    parts = evaluation.study.parts
    return runs_text(evaluation, parts[str(at.get("part", next(iter(parts))))], shown)


def _shown(plot: Plot) -> Mapping[str, Collection[Scalar]]:
    """Return what a plot has of each axis."""
    fixed = {name: (value,) for name, value in plot.at.items() if isinstance(value, Scalar)}
    return {**fixed, **plot.x, **plot.panels, **plot.lines}


def report_document(evaluation: Evaluation, page: Path) -> dict[str, Any]:
    """Return what ``earlybird study report --json`` prints of a study: its page, and a row per verdict."""
    about = {"study": evaluation.study.name, "scale": evaluation.scale, "missing": evaluation.missing}
    return {**about, "page": str(page), "verdicts": tabled_verdicts(evaluation).to_dicts()}


def tabled_verdicts(evaluation: Evaluation) -> pl.DataFrame:
    """List the verdict on every statement in every variant."""
    columns = ("item", "id", "level", "statement", "variant", "paper", "ours", "interval", "effect", "holds", "detail")
    rows = [{column: getattr(verdict, column) for column in columns} for verdict in evaluation.verdicts]
    reasons = [evaluation.reason(verdict) for verdict in evaluation.verdicts]
    return pl.DataFrame(rows).with_columns(why=pl.Series([reason.text if reason else "" for reason in reasons]))


def _cell_table(evaluation: Evaluation) -> pl.DataFrame:
    """List every cell of every statement."""
    outer, inner = (
        ("item", "id", "level", "statement", "variant"),
        ("label", "paper", "ours", "interval", "holds", "note"),
    )
    return pl.DataFrame(
        [
            {column: getattr(verdict, column) for column in outer} | {column: getattr(cell, column) for column in inner}
            for verdict in evaluation.verdicts
            for cell in verdict.findings
        ]
    )


def _run_table(evaluation: Evaluation) -> pl.DataFrame:
    """List every run with its load and what it showed."""
    rows = [
        {"part": run.part, **run.axes, "seed": run.seed, "flows": run.flows, "t_over_mu": run.load, **run.values}
        for run in evaluation.measurements.observations
    ]
    return pl.DataFrame(rows, infer_schema_length=None)
