"""Makes the reports of studies from their results: a page, a site of all, or Markdown to be kept."""

from pathlib import Path

from earlybird.errors import InputError
from earlybird.paths import PUBLISHED, REPORTS, RESULTS
from earlybird.report.numbers import NUMBERS
from earlybird.report.overview import Row
from earlybird.report.publication import write_publication
from earlybird.report.site import write_site
from earlybird.report.writer import report_name, write_report
from earlybird.study.evaluation import evaluate_all, evaluate_study
from earlybird.study.language.library import ALL, find_study, study_names
from earlybird.study.language.register import register


def report_all(
    scale: str = "smoke", *, output: str | Path = RESULTS, report: str | Path = REPORTS
) -> tuple[Path, list[Row]]:
    """
    Compare the results of all studies with the papers, in one site in ``all-SCALE`` below `report`.

    Of a study without results of the scale those of another are shown; without any it counts as not run. Returns the
    start page, and the rows of its verdict table. Raises `InputError` if no study has such a scale.
    """
    return write_site(register(), *evaluate_all(scale, output), scale, Path(report) / f"{ALL}-{scale}")


def publish_all(
    scale: str = "medium", *, output: str | Path = RESULTS, to: str | Path = PUBLISHED
) -> tuple[Path, list[Row]]:
    """
    Compare the results of all studies with the papers, in Markdown to be kept beside the code.

    Of a study with all runs of a fuller scale that one is published, of one without results of it another; of studies
    that have none, or not all runs of a scale, the older pages are kept. What else was published in `to` before is
    replaced. Without any results, the pages of papers are written again from what was published. Returns the start
    page, and the rows of its verdict table. Raises `InputError` if no study has such a scale or any result of it and
    nothing was published, or the folder holds something else.
    """
    evaluations = evaluate_all(scale, output, or_fuller=True)[1]
    if not evaluations and not (Path(to) / NUMBERS).is_file():
        command = f"earlybird study run {ALL} --scale {scale}"
        raise InputError(f"{output} has no results of any study at scale {scale!r}; `{command}` makes them.")
    every = list(map(find_study, study_names()))
    return write_publication(register(), every, evaluations, scale, Path(to))


def report_study(
    name: str,
    scale: str = "smoke",
    *,
    output: str | Path = RESULTS,
    report: str | Path = REPORTS,
    item: str | None = None,
) -> Path:
    """
    Compare a study's results with the papers, in ``NAME-SCALE`` below `report`; return the page.

    With an item, such as ``"T-F7"``, the page is about that figure or table alone, in ``NAME-SCALE-ITEM``.
    """
    evaluation = evaluate_study(name, scale, output=output, item=item)
    return write_report(evaluation, Path(report) / report_name(evaluation))
