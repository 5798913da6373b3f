"""Makes the reports of studies from their results: a page, a site of all, or Markdown to be kept."""

from pathlib import Path

from earlybird.errors import InputError
from earlybird.paths import PUBLISHED, REPORTS, RESULTS
from earlybird.report.overview import Row
from earlybird.report.publication import write_publication
from earlybird.report.site import write_site
from earlybird.report.writer import write_report
from earlybird.study.evaluation import evaluate_all, evaluate_study
from earlybird.study.language.library import ALL, find_study, study_names
from earlybird.study.language.register import register


def report_all(
    scale: str = "smoke", *, output: str | Path = RESULTS, report: str | Path = REPORTS
) -> tuple[Path, list[Row]]:
    """
    Compare the results of all studies with the papers, in one site.

    Parameters
    ----------
    scale
        ``smoke``, ``medium`` or ``full``; of a study without results of it those of another scale are shown.
    output
        Results folder; studies without results in it count as not run.
    report
        Folder of reports; the site goes into ``all-SCALE`` below it.

    Returns
    -------
    tuple
        The start page, and the rows of its verdict table.

    Raises
    ------
    InputError
        If no study has such a scale.
    StoreError
        If a result is damaged or the report cannot be written.
    """
    return write_site(register(), *evaluate_all(scale, output), scale, Path(report) / f"{ALL}-{scale}")


def publish_all(
    scale: str = "medium", *, output: str | Path = RESULTS, to: str | Path = PUBLISHED
) -> tuple[Path, list[Row]]:
    """
    Compare the results of all studies with the papers, in Markdown to be kept beside the code.

    Parameters
    ----------
    scale
        ``smoke``, ``medium`` or ``full``; of a study with all runs of a fuller scale that one is published, of one
        without results of it another.
    output
        Results folder; one study at least must have results in it. Of studies that have none, or not all runs of a
        scale, the older pages are kept where there are such.
    to
        The folder to write; what was published there before is replaced.

    Returns
    -------
    tuple
        The start page, and the rows of its verdict table.

    Raises
    ------
    InputError
        If no study has such a scale or any result of it, or the folder holds something else.
    StoreError
        If a result is damaged or the folder cannot be written.
    """
    evaluations = evaluate_all(scale, output, or_fuller=True)[1]
    if not evaluations:
        command = f"earlybird study run {ALL} --scale {scale}"
        raise InputError(f"{output} has no results of any study at scale {scale!r}; `{command}` makes them.")
    every = list(map(find_study, study_names()))
    return write_publication(register(), every, evaluations, scale, Path(to))


def report_study(
    name: str, scale: str = "smoke", *, output: str | Path = RESULTS, report: str | Path = REPORTS
) -> Path:
    """
    Compare a study's results with the papers.

    Parameters
    ----------
    name
        The study.
    scale
        ``smoke``, ``medium`` or ``full``.
    output
        Results folder.
    report
        Folder of reports; this one goes into ``NAME-SCALE`` below it.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        If there is no such study or scale, or no result of it.
    StoreError
        If a result is damaged or the report cannot be written.
    """
    return write_report(evaluate_study(name, scale, output=output), Path(report) / f"{name}-{scale}")
