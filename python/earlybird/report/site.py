"""Writes one site of all studies: a start page with the answers, a page per paper and per study, and all verdicts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from earlybird import _core
from earlybird.errors import StoreError, because
from earlybird.report.headline import conclusion, headline
from earlybird.report.numbers import numbers_of
from earlybird.report.overview import NO_STUDY, Row, overview, tallies
from earlybird.report.pictures import vector_picture
from earlybird.report.start import PAPERS, Found, PaperShown, picture_writer, start_papers
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
"""Values of the verdict column."""


@dataclass(frozen=True, slots=True)
class Card:
    """A study on the start page."""

    study: Study
    runs: int
    made: int
    headline: str
    conclusion: str
    search: Outcome | None = None  # the outcome of the search for a setting that meets all statements
    scale: str = ""  # of the runs, which need not be that of the page
    is_kept: bool = False  # whether there are no results, and the page is that of an older publication


def write_site(
    register: Register, studies: Sequence[Study], evaluations: Mapping[str, Evaluation], scale: str, folder: Path
) -> tuple[Path, list[Row]]:
    """Write the site of all studies; return the start page, and the rows of its verdict table."""
    rows = overview(register, {study.name: study for study in studies}, evaluations)
    found = Found(register, studies, evaluations, rows, scale, numbers=numbers_of(register, evaluations))
    try:
        write_assets(folder)
        write_each(_write_page, evaluations.values(), folder)
        verdict_table(rows).write_csv(folder / "verdicts.csv")
        for name, page in start_pages(found, folder):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(page, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write the report {folder}: {because(error)}.") from error
    return folder / PAGE, rows


def start_pages(found: Found, folder: Path) -> Iterator[tuple[str, str]]:
    """Return the start page, that of all verdicts and those of the papers, by the names of their files."""
    shown = start_papers(found, picture_writer(folder, vector_picture))
    context = start_context(found, shown)
    yield PAGE, rendered("site.html.j2", {**context, "home": ""})
    yield "verdicts.html", rendered("verdicts.html.j2", {**context, "home": ""})
    for letter, own in paper_contexts(found, shown, context):
        yield f"{PAPERS}/{letter}.html", rendered("paper.html.j2", own)


def _write_page(task: tuple[Evaluation, Path]) -> None:
    evaluation, folder = task
    write_study(evaluation, folder / evaluation.study.name, home="../")


def verdict_table(rows: Sequence[Row]) -> pl.DataFrame:
    """Return the verdict table as data, a line per row."""
    return pl.DataFrame([_cells(row) for row in rows])


def _cells(row: Row) -> dict[str, str]:
    about = {"items": ", ".join(row.ids), "title": row.title, "kind": row.kind, "study": row.study}
    columns = ("id", "level", "statement", "paper", "ours", "interval", "effect", "detail")
    stated = {column: str(getattr(row.verdict, column)) if row.verdict else "" for column in columns}
    return {**about, **stated, "verdict": row.holds, "scale": row.scale, "other_settings": row.others, **_why(row)}


def _why(row: Row) -> dict[str, str]:
    """Return the reason why no study answers, or why a statement fails."""
    reason = row.reason
    shown = "; ".join(f"{each.title} – {each.outcome}" for each in reason.evidence) if reason else ""
    return {"why": reason.text if reason else row.why, "shown_by": shown, "explained": row.explained}


def start_context(found: Found, shown: Sequence[PaperShown]) -> dict[str, object]:
    """Gather what the start page and those of papers speak of, by the names that the templates use."""
    return {
        "scale": found.scale,
        "rows": found.rows,
        "shown_papers": shown,
        "tallies": tallies(found.register, found.rows),
        "cards": cards(found),
        "levels": LEVELS,
        "papers": found.register.papers,
        "outcomes": OUTCOMES,
        "reasons": REASONS,
        "code_version": _core.code_version(),
        "version": _core.version(),
    }


def cards(found: Found) -> list[Card]:
    """Return what the start page has of each study."""
    return [_card(study, found) for study in found.studies]


def paper_contexts(
    found: Found, shown: Sequence[PaperShown], context: Mapping[str, object]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Return by letter what the page of each paper speaks of, besides the `context` of the start page."""
    for tally, paper in zip(tallies(found.register, found.rows), shown, strict=True):
        rows = [row for row in found.rows if paper.letter in row.papers]
        yield paper.letter, {**context, "home": "../", "tally": tally, "shown": paper, "rows": rows}


def _card(study: Study, found: Found) -> Card:
    evaluation = found.evaluations.get(study.name)
    if study.name in found.kept:
        return Card(study, 0, 0, "", "", scale=found.kept[study.name], is_kept=True)
    if evaluation is None:
        return Card(study, len(plan(study, found.scale)), 0, "", "", scale=found.scale)
    runs = len(plan(study, evaluation.scale))
    answer = headline(evaluation), conclusion(evaluation)
    return Card(study, runs, runs - evaluation.missing, *answer, evaluation.search, evaluation.scale)
