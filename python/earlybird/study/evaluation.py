"""Reads a study's results and tests everything that is stated about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from earlybird.paths import REPORTS, RESULTS
from earlybird.store import Store
from earlybird.study.checks import verdicts
from earlybird.study.definition import Study
from earlybird.study.execution import measurements
from earlybird.study.library import check_scale, find_study
from earlybird.study.quantities import Measurements
from earlybird.study.verdicts import Verdict


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

    def of(self, item: str) -> list[Verdict]:
        """Return the verdicts on an item."""
        return [verdict for verdict in self.verdicts if verdict.item == item]


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
    return Evaluation(study, scale, store, measured, missing, found)


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
