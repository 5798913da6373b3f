"""
The distance of a setting from what the paper states.

A statement's miss counts in tolerances. A number that lies within its tolerance misses by nothing, one further off by
the tolerances beyond; an order or a bound misses by what is lacking. A tolerance is a factor, for sizes, where the miss
is the logarithm of ours ÷ allowed in units of that of the factor; or a distance, for shares and times. Several cells of
a statement, and the statements of a paper, are put together as the root of the mean square, so that 0 means: all met.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from earlybird.study.language.definition import Study
from earlybird.study.language.items import Check, Item
from earlybird.study.language.metrics import metric
from earlybird.study.language.points import Scalar, combinations
from earlybird.study.search.definition import Search, Target
from earlybird.study.statements.checks import verdict
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.verdicts import Finding, Verdict, weakest
from earlybird.study.statements.wording import difference_text, joined

MOST = 4.0
"""No statement misses by more tolerances than this, so that a hopeless one does not hide what becomes of the others."""

UNDECIDED = 1.0
"""The miss of a claim about an order where nothing differs in any cell, as when no picture at all is late."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that has to be met."""

    item: str
    text: str
    paper: str  # the paper's number or words, if it gives any
    tolerance: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The outcome of a statement under a setting."""

    statement: Statement
    ours: str
    interval: str
    miss: float  # tolerances beyond what is allowed; 0 where it is met

    @property
    def is_met(self) -> bool:
        """Whether the statement is met."""
        return self.miss == 0


def distance(misses: Sequence[float]) -> float:
    """Return the root of the mean square of misses in tolerances; 0 if nothing is missed."""
    return math.sqrt(sum(miss**2 for miss in misses) / len(misses)) if misses else math.nan


def miss(found: float, allowed: float, target: Target, *, is_number: bool) -> float:
    """Measure in tolerances, 0 … `MOST`, how far a quantity is from a paper's number, an order or bounds."""
    if not (math.isfinite(found) and math.isfinite(allowed)):
        return MOST
    beyond = _tolerances(found, allowed, target) - (1 if is_number else 0)
    return min(max(beyond, 0.0), MOST)


def _tolerances(found: float, allowed: float, target: Target) -> float:
    if found == allowed:
        return 0.0
    if target.within is not None:
        return abs(found - allowed) / target.within
    if target.factor is None or found <= 0 or allowed <= 0:
        return math.inf
    return abs(math.log(found / allowed)) / math.log(target.factor)


def readings(search: Search, measurements: Measurements) -> list[Reading]:
    """Test all statements for which there are runs: always the same ones in the same order."""
    return [reading for target in search.targets for reading in _of_target(target, search.study, measurements)]


def _of_target(target: Target, study: Study, measurements: Measurements) -> Iterator[Reading]:
    for item, check in _checks(target, study):
        for variant in _variants(check, study, target.without):
            found = verdict(item, check, variant, measurements)
            if check.kind == "numbers":
                yield from _numbers(item, check, found, target, study)
            elif cells := [cell for cell in found.findings if cell.has_runs]:
                yield _statement(item, check, found, cells, target)


def _checks(target: Target, study: Study) -> Iterator[tuple[Item, Check]]:
    """List the checks of a target; a table is a check of its numbers."""
    if target.table:
        yield _item_of(target.table, study), Check(target.table, "report", "", "numbers", table=target.table)
        return
    for item in study.items:
        if item.id == target.item:
            for check in item.checks:
                if _is_wanted(check, target):
                    yield item, _without(check, target.without)


def _item_of(table: str, study: Study) -> Item:
    """Find the item whose numbers are in a table: one that compares them, or the study's main table."""
    compared = (item for item in study.items for check in item.checks if check.table == table)
    return next(compared, Item(study.main.item, ""))


def _is_wanted(check: Check, target: Target) -> bool:
    if target.checks:
        return check.id in target.checks
    return check.kind in ("order", "range") and check.level in target.levels


def _without(check: Check, names: Iterable[str]) -> Check:
    at = {name: value for name, value in check.at.items() if name not in names}
    cells = {name: values for name, values in check.cells.items() if name not in names}
    return replace(check, at=at, cells=cells)


def _variants(check: Check, study: Study, names: Iterable[str]) -> list[dict[str, Scalar]]:
    """List the variants of a check that differ in something else than what the study leaves at a default."""
    own = {axis.name for axis in study.axes.values() if axis.default is not None}
    return combinations({name: values for name, values in check.each.items() if name not in {*own, *names}})


def _numbers(item: Item, check: Check, found: Verdict, target: Target, study: Study) -> Iterator[Reading]:
    for number, cell in zip(study.numbers[check.table], found.findings, strict=True):
        if cell.has_runs:
            statement = Statement(item.id, cell.label, cell.paper, _tolerance_text(target, number.metric))
            missed = miss(cell.found, cell.allowed, target, is_number=True)
            yield Reading(statement, cell.ours, cell.interval, missed)


def _statement(item: Item, check: Check, found: Verdict, cells: Sequence[Finding], target: Target) -> Reading:
    """Put the cells of a statement together; the numbers shown are those of the cell that misses most."""
    misses = [miss(cell.found, cell.allowed, target, is_number=False) for cell in cells]
    if check.level != "must" and all(cell.is_tie for cell in cells):
        misses = [UNDECIDED]
    worst = cells[misses.index(max(misses))] if any(misses) else weakest(cells) or cells[0]
    statement = Statement(item.id, joined(found.variant, check.statement), check.paper, "")
    return Reading(statement, joined(worst.label, worst.ours), worst.interval, distance(misses))


def _tolerance_text(target: Target, name: str) -> str:
    if target.factor is not None:
        return f"×÷ {target.factor:g}"
    return f"± {difference_text(metric(name), target.within or 0.0).removeprefix('+')}"
