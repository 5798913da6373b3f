"""Reads a study's results and tests everything that is stated about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from earlybird.errors import InputError
from earlybird.paths import PUBLISHED, REPORTS, RESULTS
from earlybird.store import Store
from earlybird.study.checks import verdicts
from earlybird.study.definition import Study
from earlybird.study.execution import is_begun
from earlybird.study.library import ALL, check_scale, choose_studies, find_study
from earlybird.study.quantities import Measurements
from earlybird.study.reading import measurements
from earlybird.study.reasons import Key, Reason, reasons
from earlybird.study.register import register
from earlybird.study.search.outcome import Outcome, found_before
from earlybird.study.sensitivity import Sensitivity, sensitivities
from earlybird.study.verdicts import Verdict

if TYPE_CHECKING:
    from earlybird.report.overview import Row


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a study's results say."""

    study: Study
    scale: str
    store: Store
    measurements: Measurements
    missing: int
    """Number of runs without a result."""
    verdicts: Sequence[Verdict]
    sensitivities: Mapping[str, Sequence[Sensitivity]] = field(default_factory=dict)
    """The sensitivity panels of each item that has any."""
    reasons: Mapping[Key, Reason] = field(default_factory=dict)
    """Why statements do not hold, by item and statement, as far as the study says."""
    search: Outcome | None = None
    """What the search for a setting that meets all statements found, if there was one."""

    def of(self, item: str) -> list[Verdict]:
        """Return the verdicts on an item."""
        return [verdict for verdict in self.verdicts if verdict.item == item]

    def reason(self, verdict: Verdict) -> Reason | None:
        """Return why a statement does not hold or cannot be told; None if it holds or the study does not say."""
        key = (verdict.item, verdict.statement)
        outcomes = {each.holds for each in self.verdicts if (each.item, each.statement) == key}
        return self.reasons.get(key) if outcomes & {"no", "not testable"} else None


def evaluate_study(name: str, scale: str = "smoke", *, out: str | Path = RESULTS) -> Evaluation:
    """
    Test everything that is stated about a study's results.

    Parameters
    ----------
    name
        The study.
    scale
        ``smoke``, ``medium`` or ``full``.
    out
        Results folder.

    Returns
    -------
    Evaluation
        The measurements and the verdicts; of runs that are missing it says how many.

    Raises
    ------
    InputError
        If there is no such study or scale, or no result of it.
    StoreError
        If a result is damaged.
    """
    study = find_study(name)
    check_scale(study, scale)
    return evaluate(study, scale, Store(Path(out)))


def evaluate(study: Study, scale: str, store: Store) -> Evaluation:
    """Test the statements of a study that was read already; otherwise as `evaluate_study`."""
    measured, missing = measurements(study, scale, store)
    found = [verdict for item in study.items for verdict in verdicts(item, measured)]
    panels = {item.id: sensitivities(item, measured) for item in study.items if item.panels}
    why = reasons(study, found, panels)
    return Evaluation(study, scale, store, measured, missing, found, panels, why, found_before(study, store))


def report_all(
    scale: str = "smoke", *, out: str | Path = RESULTS, report: str | Path = REPORTS
) -> "tuple[Path, list[Row]]":
    """
    Compare the results of all studies with the papers, in one site.

    Parameters
    ----------
    scale
        ``smoke``, ``medium`` or ``full``; studies that do not have it are left out.
    out
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
    from earlybird.report.site import write_site  # reports are made of studies, not studies of reports

    return write_site(register(), *evaluate_all(scale, out), scale, Path(report) / f"{ALL}-{scale}")


def publish_all(
    scale: str = "medium", *, out: str | Path = RESULTS, to: str | Path = PUBLISHED
) -> "tuple[Path, list[Row]]":
    """
    Compare the results of all studies with the papers, in Markdown to be kept beside the code.

    Parameters
    ----------
    scale
        ``smoke``, ``medium`` or ``full``; studies that do not have it are left out.
    out
        Results folder; studies without results in it count as not run, but one of them must have some.
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
    from earlybird.report.publication import write_publication  # reports are made of studies, not studies of reports

    studies, evaluations = evaluate_all(scale, out)
    if not evaluations:
        command = f"earlybird study run {ALL} --scale {scale}"
        raise InputError(f"{out} has no results of any study at scale {scale!r}; `{command}` makes them.")
    return write_publication(register(), studies, evaluations, scale, Path(to))


def evaluate_all(scale: str, out: str | Path) -> tuple[list[Study], dict[str, Evaluation]]:
    """Return all studies that have a scale, and by name what those say that have results."""
    studies, store = choose_studies([ALL], scale), Store(Path(out))
    return studies, {study.name: evaluate(study, scale, store) for study in studies if is_begun(study, scale, store)}


def report_study(name: str, scale: str = "smoke", *, out: str | Path = RESULTS, report: str | Path = REPORTS) -> Path:
    """
    Compare a study's results with the papers.

    Parameters
    ----------
    name
        The study.
    scale
        ``smoke``, ``medium`` or ``full``.
    out
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
    from earlybird.report.writer import write_report  # reports are made of studies, not studies of reports

    return write_report(evaluate_study(name, scale, out=out), Path(report) / f"{name}-{scale}")
