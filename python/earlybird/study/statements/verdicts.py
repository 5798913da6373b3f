"""Verdicts on statements, cell by cell and as a whole."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from earlybird.statistics import Estimate, discoveries
from earlybird.study.language.items import Level
from earlybird.study.language.points import Scalar

Holds: TypeAlias = Literal["yes", "no", "undecided", "not testable", "reported", "not run"]
"""``undecided`` where what was measured neither shows a statement nor refutes it; ``not testable`` where nothing that
could be measured is spoken of; ``reported`` where there is nothing to hold, only numbers to compare; ``not run`` where
there are no runs."""


NO_RUNS = "nothing measured"
TIE = "no difference"
ONE_SEED = "one seed"
NOISE = "within the noise"
BY_CHANCE = "the other way round, but no more than chance gives among so many cells"  # notes on single cells

_AGAINST: dict[Holds, int] = {"no": 0, "undecided": 1}
"""Which outcomes of a cell speak against a statement, the worst first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cell of a statement."""

    cell: Mapping[str, Scalar]
    label: str  # the comparison in words
    paper: str  # the paper's number in print, if it gives one
    ours: str
    interval: str
    effect: float
    """First ÷ second quantity of an order (first − second for shares), ours ÷ the paper's of a number, or NaN."""
    strength: float
    """The strength of the evidence for the statement, comparable between its cells; negative if against."""
    holds: Holds
    note: str = ""
    value: float = math.nan  # the quantity that had to stay within bounds, in stored units
    found: float = math.nan
    """The compared value in stored units: the smaller side of an order, the quantity within bounds, or ours."""
    allowed: float = math.nan
    """The nearest value that would meet the statement: that of `found` where it holds, or the paper's number."""
    chance: float = math.nan
    """The probability that a cell comes out so much against the statement if it were just true; NaN where that is not a
    matter of chance, or not known."""
    has_runs: bool = True
    """Whether there are runs to measure it in, even if their load or losses put them outside of the group."""

    @property
    def size(self) -> float:
        """The number that was judged: an effect, or the quantity itself; NaN if it was not measured."""
        return self.effect if math.isfinite(self.effect) else self.value

    @property
    def is_tie(self) -> bool:
        """Whether the compared quantities are equal."""
        return self.note.startswith(TIE)

    @property
    def needs_seeds(self) -> bool:
        """Whether it is open because one seed has no interval."""
        return self.holds == "undecided" and self.note.endswith(ONE_SEED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a statement."""

    item: str
    id: str  # of the check; nothing for curves without a statement
    level: Level
    statement: str
    variant: str  # the setting it was tested with, where that is not the study's main one
    paper: str
    ours: str
    interval: str
    holds: Holds
    effect: str
    detail: str
    findings: tuple[Finding, ...] = ()

    @property
    def needs_seeds(self) -> bool:
        """Whether it is open because one seed has no interval, and for no other reason."""
        open_cells = [cell for cell in self.findings if cell.holds == "undecided"]
        is_open = self.holds == "undecided" and all(cell.needs_seeds or cell.is_tie for cell in open_cells)
        return is_open and any(cell.needs_seeds for cell in open_cells)


def overall(findings: Sequence[Finding]) -> Holds:
    """
    Put cells together.

    One cell that fails decides against a statement, and it holds only if no cell is left open: each is shown at its own
    level, which needs no correction (Berger, Technometrics 24, 1982; from memory). Cells without runs, or without any
    difference, say nothing beside others.
    """
    if findings and all(finding.note == NO_RUNS for finding in findings):
        return "not run"
    measured = [finding for finding in findings if finding.note != NO_RUNS]
    speaking = {finding.holds for finding in measured if not finding.is_tie} or {each.holds for each in measured}
    order: tuple[Holds, ...] = ("no", "undecided", "not testable", "yes", "reported")
    return next((holds for holds in order if holds in speaking), "not testable")


def without_chance(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Set cells to undecided whose failures chance explains, given the number of tested cells."""
    tested = [
        finding
        for finding in findings
        if math.isfinite(finding.chance) and finding.note != NO_RUNS and not finding.is_tie
    ]
    chosen = dict(zip(map(id, tested), discoveries([finding.chance for finding in tested]), strict=True))
    return tuple(
        replace(finding, holds="undecided", note=BY_CHANCE)
        if finding.holds == "no" and not chosen.get(id(finding), True)
        else finding
        for finding in findings
    )


def was_run(verdict: Verdict) -> bool:
    """Return whether any of a verdict's cells had runs."""
    return any(finding.note != NO_RUNS for finding in verdict.findings)


def weakest(findings: Sequence[Finding]) -> Finding | None:
    """Return the cell that speaks most against a statement: one that fails, then undecided, then holds; last ties."""
    known = [finding for finding in findings if math.isfinite(finding.strength)]
    return min(known, key=lambda each: (each.is_tie, _AGAINST.get(each.holds, 2), each.strength), default=None)


def order_holds(difference: Estimate, *, is_exact: bool = False) -> tuple[Holds, str]:
    """Judge first < second from first − second: by the whole interval, or by the sign where nothing is random."""
    if difference.count == 0 or math.isnan(difference.mean):
        return "not testable", NO_RUNS
    if difference.mean == 0 and (not difference.is_bounded or not difference.half_width):
        return "undecided", TIE if is_exact or difference.is_bounded else f"{TIE}, {ONE_SEED}"
    if (is_exact and difference.mean < 0) or difference.high < 0:
        return "yes", ""
    if (is_exact and difference.mean > 0) or difference.low > 0:
        return "no", "clearly the other way round"
    unclear = NOISE if difference.is_bounded else ONE_SEED
    return "undecided", unclear if difference.mean < 0 else f"the other way round, {unclear}"


def range_holds(
    value: Estimate, bounds: tuple[float | None, float | None], possible: tuple[float, float], *, is_exact: bool
) -> tuple[Holds, str]:
    """Test whether a mean is between bounds; if one is the last possible value, the other decides alone."""
    least, most = (-math.inf if bounds[0] is None else bounds[0], math.inf if bounds[1] is None else bounds[1])
    if value.count == 0 or math.isnan(value.mean):
        return "not testable", NO_RUNS
    if bounds == (None, None):
        return "reported", ""
    side = "below the range" if value.mean < least else "above the range" if value.mean > most else ""
    if is_exact or (value.is_bounded and not value.half_width):
        return ("no", side) if side else ("yes", "")
    if side and (most <= possible[0] or least >= possible[1]):
        return "no", side
    if not value.is_bounded:
        return "undecided", f"{side}, {ONE_SEED}" if side else ONE_SEED
    low, high = max(value.low, possible[0]), min(value.high, possible[1])
    if least <= low and high <= most:
        return "yes", ""
    if high < least or low > most:
        return "no", side
    return "undecided", f"{side}, {NOISE}" if side else NOISE
