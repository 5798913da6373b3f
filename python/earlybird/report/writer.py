"""Writes a study's report: a page, and beside it every plot as picture with its data, the verdicts and runs as CSV."""

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import polars as pl

from earlybird.errors import StoreError, because
from earlybird.plots.style import styled
from earlybird.report.page import Drawing, page, runs_text
from earlybird.study.definition import Point
from earlybird.study.evaluation import Evaluation
from earlybird.study.figures import PlotData, plot_data, sensitivity_data

PAGE = "index.html"
ASSETS = "assets"
"""The folder of what pages share."""


def write_report(evaluation: Evaluation, folder: Path) -> Path:
    """
    Write the report of one study, which stands alone.

    Parameters
    ----------
    evaluation
        A study's results.
    folder
        Where it goes; it is made if need be.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    try:
        write_assets(folder)
        return write_study(evaluation, folder)
    except OSError as error:
        raise StoreError(f"cannot write the report {folder}: {because(error)}.") from error


def write_study(evaluation: Evaluation, folder: Path, *, home: str = "") -> Path:
    """Write a study's page and what stands beside it; `home` is the way to the start page and the assets."""
    (folder / "plots").mkdir(parents=True, exist_ok=True)
    drawings = {drawing.name: drawing for drawing in _drawings(evaluation, folder / "plots")}
    _verdict_table(evaluation).write_csv(folder / "verdicts.csv")
    _cell_table(evaluation).write_csv(folder / "cells.csv")
    _run_table(evaluation).write_csv(folder / "runs.csv")
    path = folder / PAGE
    path.write_text(page(evaluation, drawings, home=home), encoding="utf-8")
    return path


def write_assets(folder: Path) -> None:
    """Write what pages share: style, scripts, and plotly.js, which is by far the largest."""
    (folder / ASSETS).mkdir(parents=True, exist_ok=True)
    own = resources.files("earlybird.report") / ASSETS
    library = resources.files("plotly") / "package_data" / "plotly.min.js"
    for file in (*own.iterdir(), library):
        (folder / ASSETS / file.name).write_bytes(file.read_bytes())


def _drawings(evaluation: Evaluation, folder: Path) -> Iterator[Drawing]:
    """Draw all plots and panels that have something to show."""
    for plot in (plot for item in evaluation.study.items for plot in item.plots):
        if data := plot_data(plot, evaluation.measurements, evaluation.scale, evaluation.store):
            _write(data, folder, plot.name)
            yield Drawing(plot.name, plot.title, plot.caption, data.chart(), _made(evaluation, plot.part, plot.at))
    for each in (each for panels in evaluation.sensitivities.values() for each in panels):
        if data := sensitivity_data(each):
            _write(data, folder, each.panel.name)
            made = _made(evaluation, "", each.check.at)
            yield Drawing(each.panel.name, each.axis, "", data.chart(), made)


def _write(data: PlotData, folder: Path, name: str) -> None:
    """Write a plot as PNG and SVG, and its data."""
    data.table.write_csv(folder / f"{name}.csv")
    with styled():
        figure = data.figure()
        figure.savefig(folder / f"{name}.png", metadata={"Software": None})
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


def _made(evaluation: Evaluation, part: str, at: Point) -> str:
    parts = evaluation.study.parts
    return runs_text(evaluation, parts[part or str(at.get("part", next(iter(parts))))])


def _verdict_table(evaluation: Evaluation) -> pl.DataFrame:
    columns = ("item", "level", "statement", "variant", "paper", "ours", "interval", "effect", "holds", "detail")
    return pl.DataFrame([{column: getattr(verdict, column) for column in columns} for verdict in evaluation.verdicts])


def _cell_table(evaluation: Evaluation) -> pl.DataFrame:
    """List every cell of every statement."""
    outer, inner = ("item", "level", "statement", "variant"), ("label", "paper", "ours", "interval", "holds", "note")
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
