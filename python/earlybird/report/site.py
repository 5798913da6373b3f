"""Writes one site of all studies: the verdict table over all papers, and a page per study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from earlybird import _core
from earlybird.errors import StoreError, because
from earlybird.report.headline import conclusion, headline
from earlybird.report.overview import NO_STUDY, Row, overview, tallies
from earlybird.report.statements import REASONS, WORDS
from earlybird.report.templates import rendered
from earlybird.report.writer import PAGE, write_assets, write_each, write_study
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Study
from earlybird.study.language.items import LEVELS
from earlybird.study.language.register import Register
from earlybird.study.runs.plan import plan
from earlybird.study.search.outcome import Outcome

OUTCOMES = {**{str(holds): word for holds, word in WORDS.items()}, NO_STUDY: NO_STUDY}
"""What the verdict column may say."""


@dataclass(frozen=True, slots=True)
class Card:
    """A study on the start page."""

    study: Study
    runs: int
    made: int
    headline: str
    conclusion: str
    search: Outcome | None = None
    """What the search for a setting that meets all statements found."""


def write_site(
    register: Register, studies: Sequence[Study], evaluations: Mapping[str, Evaluation], scale: str, folder: Path
) -> tuple[Path, list[Row]]:
    """
    Write the site.

    Parameters
    ----------
    register
        All that the papers show.
    studies
        All studies.
    evaluations
        What their results say, by name; those without results are missing.
    scale
        The scale of all.
    folder
        Where it goes; it is made if need be.

    Returns
    -------
    tuple
        The start page, and the rows of its verdict table.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    rows = overview(register, {study.name: study for study in studies}, evaluations)
    try:
        write_assets(folder)
        write_each(_write_page, evaluations.values(), folder)
        verdict_table(rows).write_csv(folder / "verdicts.csv")
        page = folder / PAGE
        context = start_context(register, studies, evaluations, scale, rows)
        page.write_text(rendered("site.html.j2", {**context, "home": ""}), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write the report {folder}: {because(error)}.") from error
    return page, rows


def _write_page(task: tuple[Evaluation, Path]) -> None:
    evaluation, folder = task
    write_study(evaluation, folder / evaluation.study.name, home="../")


def verdict_table(rows: Sequence[Row]) -> pl.DataFrame:
    """Return the verdict table as data, a line per row."""
    return pl.DataFrame([_cells(row) for row in rows])


def _cells(row: Row) -> dict[str, str]:
    about = {"items": ", ".join(row.ids), "title": row.title, "kind": row.kind, "study": row.study}
    columns = ("id", "level", "statement", "paper", "ours", "interval", "effect", "detail")
    said = {column: str(getattr(row.verdict, column)) if row.verdict else "" for column in columns}
    return {**about, **said, "verdict": row.holds, "other_settings": row.others, **_why(row)}


def _why(row: Row) -> dict[str, str]:
    """Say why no study answers, or why a statement fails, and what shows that."""
    reason = row.reason
    shown = "; ".join(f"{each.title} – {each.outcome}" for each in reason.evidence) if reason else ""
    return {"why": reason.text if reason else row.why, "shown_by": shown, "explained": row.explained}


def start_context(
    register: Register, studies: Sequence[Study], evaluations: Mapping[str, Evaluation], scale: str, rows: Sequence[Row]
) -> dict[str, object]:
    """Gather what the start page speaks of, in whatever form; parameters are those of `write_site`."""
    return {
        "scale": scale,
        "rows": rows,
        "tallies": tallies(register, rows),
        "cards": [_card(study, scale, evaluations.get(study.name)) for study in studies],
        "levels": LEVELS,
        "papers": register.papers,
        "outcomes": OUTCOMES,
        "reasons": REASONS,
        "code_version": _core.code_version(),
        "version": _core.version(),
    }


def _card(study: Study, scale: str, evaluation: Evaluation | None) -> Card:
    runs = len(plan(study, scale))
    if evaluation is None:
        return Card(study, runs, 0, "", "")
    answer = headline(evaluation), conclusion(evaluation)
    return Card(study, runs, runs - evaluation.missing, *answer, evaluation.search)
