"""Writes the page of a study's search, and its tables beside it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from earlybird.plots.search import search_chart, search_table
from earlybird.report.figures import PlotData
from earlybird.report.page import Drawing
from earlybird.report.pictures import Pictures, both_pictures, write_plot
from earlybird.report.templates import rendered
from earlybird.study.language.definition import Study
from earlybird.study.search.definition import SEARCH
from earlybird.study.search.outcome import Outcome, write_outcome

PAIRS_SHOWN = 12  # pairs of statements in the page; all are in the table beside it


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements that are never met together."""

    first: str
    second: str
    first_met: int
    second_met: int


def write_search(found: Outcome, study: Study, folder: Path, *, home: str) -> Path:
    """Write the page into a folder below the study's own page; `home` is the way to the assets."""
    write_outcome(found, folder)
    path = folder / "index.html"
    drawing = draw_search(found, folder / "plots", both_pictures)
    path.write_text(rendered("search.html.j2", search_context(found, study, drawing, home)), encoding="utf-8")
    return path


def draw_search(found: Outcome, folder: Path, chosen: Pictures) -> Drawing:
    """Draw the distances of all settings, and write the chosen pictures with their data."""
    folder.mkdir(parents=True, exist_ok=True)
    table = search_table(found.trials.filter(pl.col("scale") == SEARCH))
    title = "Distance to the paper"
    data = PlotData(table, replace(search_chart(table), title=title))
    picture = write_plot(data, folder, "distance", chosen)
    caption = (
        f"A dot per setting in the order in which they were tried, {found.about['scales'][SEARCH]} each; 0: all met."
    )
    return Drawing("distance", title, caption, data.chart, "", picture)


def search_context(found: Outcome, study: Study, drawing: Drawing, home: str) -> dict[str, Any]:
    """Gather what a search's page speaks of, in whatever form; `home` is the way to the assets."""
    return {
        "home": home,
        "study": study,
        "found": found,
        "about": found.about,
        "statements": found.statements.to_dicts(),
        "parameters": found.parameters.sort("importance", descending=True, maintain_order=True).to_dicts(),
        "never": found.never_met.to_dicts(),
        "pairs": _pairs(found)[:PAIRS_SHOWN],
        "drawing": drawing,
    }


def _pairs(found: Outcome) -> list[Pair]:
    texts = {row["id"]: f"{row['item']}: {row['statement']}" for row in found.statements.iter_rows(named=True)}
    rows = found.exclusions.iter_rows(named=True)
    return [Pair(texts[row["first"]], texts[row["second"]], row["first_met"], row["second_met"]) for row in rows]
