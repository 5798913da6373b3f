"""What came of a statement, cell by cell and as a whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from earlybird.statistics import Estimate
from earlybird.study.definition import Level, Scalar

Holds: TypeAlias = Literal["yes", "no", "not testable", "reported", "not run"]
"""``not testable`` where the runs cannot tell; ``reported`` where there is nothing to hold, only numbers to compare;
``not run`` where there are no runs."""


NO_RUNS = "nothing measured"
CLEAR = "clear"
TIE = "no difference"
"""Notes that are counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cell of a statement."""

    cell: Mapping[str, Scalar]
    label: str
    """What was compared, in words."""
    paper: str
    """The paper's number in print, if it gives one."""
    ours: str
    interval: str
    effect: float
    """First ÷ second quantity of an order (first − second for shares), ours ÷ the paper's of a number, or NaN."""
    strength: float
    """How strongly it speaks for the statement, to compare the cells of one statement with; negative if against."""
    holds: Holds
    note: str = ""
    value: float = math.nan
    """The quantity that had to stay within bounds, in stored units."""
    found: float = math.nan
    """What is compared, in stored units: the smaller side of an order, the quantity within bounds, or ours."""
    allowed: float = math.nan
    """The nearest value that would meet the statement: that of `found` where it holds, or the paper's number."""
    has_runs: bool = True
    """Whether there are runs to measure it in, even if their load or losses put them outside of the group."""

    @property
    def size(self) -> float:
        """The number that was judged: an effect, or the quantity itself; NaN if it was not measured."""
        return self.effect if math.isfinite(self.effect) else self.value


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a statement."""

    item: str
    level: Level
    statement: str
    variant: str
    """The setting it was tested with, where that is not the study's main one."""
    paper: str
    ours: str
    interval: str
    holds: Holds
    effect: str
    detail: str
    findings: tuple[Finding, ...] = ()


def overall(findings: Sequence[Finding]) -> Holds:
    """
    Put cells together.

    One cell that fails decides against a statement. One that points the other way without deciding leaves it open;
    cells without runs, or without any difference, say nothing.
    """
    if findings and all(finding.note == NO_RUNS for finding in findings):
        return "not run"
    outcomes = {finding.holds for finding in findings}
    is_open = any(finding.holds == "not testable" and finding.note not in (NO_RUNS, TIE) for finding in findings)
    if "no" in outcomes:
        return "no"
    if is_open or not outcomes & {"yes", "reported"}:
        return "not testable"
    return "yes" if "yes" in outcomes else "reported"


def was_run(verdict: Verdict) -> bool:
    """Tell whether any of a verdict's cells had runs."""
    return any(finding.note != NO_RUNS for finding in verdict.findings)


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """Return the cell that speaks most against a statement, leaving aside ties if there is anything else."""
    known = [finding for finding in findings if math.isfinite(finding.strength)]
    return min(known, key=lambda finding: (finding.note == TIE, finding.strength), default=None)


def order_holds(level: Level, difference: Estimate, *, is_exact: bool = False) -> tuple[Holds, str]:
    """
    Judge first < second from the estimate of first − second.

    A *must* is violated only where the whole interval lies on the wrong side of zero. A *claim* needs more: the sign
    has to be right, and a wrong sign within the noise decides nothing. Where nothing is random, the sign decides.
    """
    if difference.count == 0 or math.isnan(difference.mean):
        return "not testable", NO_RUNS
    if is_exact and difference.mean != 0:
        return ("yes", CLEAR) if difference.mean < 0 else ("no", "clearly the other way round")
    if difference.low > 0:
        return "no", "clearly the other way round"
    if difference.mean == 0:
        return "yes" if level == "must" else "not testable", TIE
    if difference.mean < 0:
        return "yes", CLEAR if difference.high < 0 else _unclear(difference)
    if level == "must" and difference.is_bounded:
        return "yes", "the other way round, but within the noise"
    return "not testable", f"the other way round, {_unclear(difference)}"


def _unclear(difference: Estimate) -> str:
    return "within the noise" if difference.is_bounded else "one seed"


def range_holds(value: Estimate, bounds: tuple[float | None, float | None], *, is_exact: bool) -> tuple[Holds, str]:
    """
    Judge whether a mean lies between two bounds.

    Parameters
    ----------
    value
        The mean.
    bounds
        Smallest and largest allowed value, or None for no bound.
    is_exact
        Whether nothing about it is random; otherwise one seed outside of the bounds may be an accident.
    """
    least, most = bounds
    if value.count == 0 or math.isnan(value.mean):
        return "not testable", NO_RUNS
    if (least is None or value.mean >= least) and (most is None or value.mean <= most):
        return "yes", "" if is_exact or value.is_bounded else "one seed"
    side = "below the range" if least is not None and value.mean < least else "above the range"
    if is_exact or value.is_bounded:
        return "no", side
    return "not testable", f"{side}, but one seed says nothing of the spread"
