"""Writes the results of all studies as Markdown and pictures, small enough to be kept beside the code."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from earlybird.errors import InputError, StoreError, because
from earlybird.report.carry_over import (
    carried_answer,
    carried_scale,
    carried_studies,
    carried_version,
    copy_pages,
    copy_pages_of_others,
    with_carried_verdicts,
)
from earlybird.report.numbers import NUMBERS, carried_numbers, number_table, numbers_of
from earlybird.report.overview import Row, overview
from earlybird.report.page import page_context
from earlybird.report.pictures import small_picture
from earlybird.report.rounding import round_tables
from earlybird.report.search_page import draw_search, search_context
from earlybird.report.site import Card, cards, paper_contexts, start_context, verdict_table
from earlybird.report.start import PAPERS, Found, picture_writer, start_papers
from earlybird.report.templates import rendered
from earlybird.report.writer import VERDICTS, write_drawings, write_each
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Study
from earlybird.study.language.register import Register
from earlybird.study.search.outcome import read_outcome, write_outcome

START = "README.md"  # the file that GitHub shows of a folder

MARK = "<!-- Written by `earlybird study publish`. -->\n"
"""The first line of the start page, by which an older publication is known."""


def write_publication(
    register: Register, studies: Sequence[Study], evaluations: Mapping[str, Evaluation], scale: str, folder: Path
) -> tuple[Path, list[Row]]:
    """
    Write a start page with the answers, a page per paper, and per study a page and plots, without dates.

    Of studies without results, or not with all runs of a scale, an older publication's pages, verdicts and numbers are
    kept, and so are pages that other programs wrote into the folder.
    """
    place = folder.resolve()
    try:
        _check_is_ours(place)
        evaluations = _speaking(studies, evaluations, place)
        found = _found(register, studies, evaluations, scale, place)
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=place.parent) as drafts:
            draft = Path(drafts, place.name)
            draft.mkdir()
            write_each(_write_study, evaluations.values(), draft)
            _write_start(found, draft, place)
            round_tables(draft)
            for name in found.kept:
                copy_pages(name, place, draft)
            copy_pages_of_others(place, draft)
            _replace(place, draft)
    except OSError as error:
        raise StoreError(f"cannot write the results {folder}: {because(error)}.") from error
    return folder / START, list(found.rows)


def _speaking(studies: Sequence[Study], evaluations: Mapping[str, Evaluation], older: Path) -> Mapping[str, Evaluation]:
    """Leave those out that miss runs, where an older publication has a page: that is of all runs, or was wanted so."""
    whole = [name for name, evaluation in evaluations.items() if not evaluation.missing]
    kept = {study.name for study in carried_studies(studies, whole, older)}
    return {name: evaluation for name, evaluation in evaluations.items() if name not in kept}


def _found(
    register: Register, studies: Sequence[Study], evaluations: Mapping[str, Evaluation], scale: str, older: Path
) -> Found:
    """Gather the verdicts: those of the results, and of studies without any those of the older publication."""
    rows = overview(register, {study.name: study for study in studies}, evaluations)
    kept = {study.name: carried_scale(study.name, older) for study in carried_studies(studies, evaluations, older)}
    carried = with_carried_verdicts(rows, [study for study in studies if study.name in kept], older)
    numbers = numbers_of(register, evaluations) | carried_numbers(kept, older)
    shown = [
        row for row in carried if row.kind != "experiment" or row.holds != "not run"
    ]  # additional ones have other pages
    return Found(register, studies, evaluations, shown, scale, kept, numbers)


def _write_start(found: Found, draft: Path, older: Path) -> None:
    """Write the start page, those of papers, and their verdicts and numbers as data."""
    verdict_table(found.rows).write_csv(draft / VERDICTS)
    number_table(found.numbers).write_csv(draft / NUMBERS)
    for name, page in _start_pages(found, draft, older):
        (draft / name).parent.mkdir(exist_ok=True)
        (draft / name).write_text(page, encoding="utf-8")


def _start_pages(found: Found, folder: Path, older: Path) -> Iterator[tuple[str, str]]:
    """Return the start page, that of all verdicts and those of the papers, by the names of their files."""
    shown = start_papers(found, picture_writer(folder, small_picture, older))
    context = start_context(found, shown)
    context["cards"] = [_with_kept_answer(card, found, older) for card in cards(found) if card.made or card.is_kept]
    if found.kept and not found.evaluations:
        context["code_version"] = carried_version(older)
    yield START, MARK + rendered("results.md.j2", {**context, "home": ""})
    yield f"{PAPERS}/verdicts.md", rendered("results-verdicts.md.j2", {**context, "home": "../"})
    for letter, own in paper_contexts(found, shown, context):
        yield f"{PAPERS}/{letter}.md", rendered("results-paper.md.j2", own)


def _with_kept_answer(card: Card, found: Found, older: Path) -> Card:
    """Return a card; that of a study that is kept with its answer and verdicts as they were published."""
    if not card.is_kept:
        return card
    name = card.study.name
    answer, conclusion = carried_answer(name, older)
    return replace(card, headline=answer, conclusion=conclusion, search=read_outcome(older / name / "search"))


def _check_is_ours(folder: Path) -> None:
    """Make sure that nothing is deleted but an older publication."""
    start = folder / START
    is_ours = start.is_file() and start.read_text(encoding="utf-8").startswith(MARK)
    if folder.exists() and not is_ours and any(folder.iterdir()):
        raise InputError(f"{folder} holds something else than published results; choose another folder with --output.")


def _replace(folder: Path, draft: Path) -> None:
    """Put a complete publication in the place of an older one, which an interruption before has left as it was."""
    if folder.exists():
        shutil.rmtree(folder)
    draft.rename(folder)


def _write_study(task: tuple[Evaluation, Path]) -> None:
    write_pages(*task)


def write_pages(evaluation: Evaluation, folder: Path, *, is_standalone: bool = False) -> None:
    """Write a study's page in Markdown, one of its search, and their plots; `is_standalone`: without a start page."""
    name, where = evaluation.study.name, {"alone": is_standalone}
    drawings = write_drawings(evaluation, folder / name, small_picture, has_cells=False)
    text = rendered("results-study.md.j2", page_context(evaluation, drawings) | where)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    if evaluation.search:
        kept = evaluation.search if is_standalone else evaluation.search.in_short
        write_outcome(kept, folder / name / "search")
        drawing = draw_search(evaluation.search, folder / name / "search", small_picture)
        context = search_context(evaluation.search, evaluation.study, drawing, "") | where
        (folder / f"{name}-search.md").write_text(rendered("results-search.md.j2", context), encoding="utf-8")
