"""Writes a study's report: a page, and beside it every plot as PNG with its data, the verdicts and the runs as CSV."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from earlybird.errors import StoreError, because
from earlybird.plots.style import styled
from earlybird.plots.svg import inline_svg
from earlybird.report.page import Drawing, page
from earlybird.study.definition import Plot
from earlybird.study.evaluation import Evaluation
from earlybird.study.figures import PlotData, plot_data

PAGE = "index.html"


def write_report(evaluation: Evaluation, folder: Path) -> Path:
    """
    Write the report of an evaluation.

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
        (folder / "plots").mkdir(parents=True, exist_ok=True)
        drawings = [drawing for plot in _plots(evaluation) if (drawing := _draw(plot, evaluation, folder / "plots"))]
        _verdict_table(evaluation).write_csv(folder / "verdicts.csv")
        _cell_table(evaluation).write_csv(folder / "cells.csv")
        _run_table(evaluation).write_csv(folder / "runs.csv")
        path = folder / PAGE
        path.write_text(page(evaluation, {drawing.plot.name: drawing for drawing in drawings}), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write the report {folder}: {because(error)}.") from error
    return path


def _plots(evaluation: Evaluation) -> Sequence[Plot]:
    return [plot for item in evaluation.study.items for plot in item.plots]


def _draw(plot: Plot, evaluation: Evaluation, folder: Path) -> Drawing | None:
    """Write a plot's PNG and data, and return it for the page."""
    data = plot_data(plot, evaluation.measurements, evaluation.scale, evaluation.store)
    if data is None:
        return None
    data.table.write_csv(folder / f"{plot.name}.csv")
    with styled():
        data.figure().savefig(folder / f"{plot.name}.png", metadata={"Software": None})
    return Drawing(plot, *(_inline(data, plot.name, narrow=narrow) for narrow in (False, True)))


def _inline(data: PlotData, name: str, *, narrow: bool) -> Markup:
    return Markup(inline_svg(data.figure(narrow=narrow), f"{name}-narrow" if narrow else name))


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
