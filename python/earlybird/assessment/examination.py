"""Assess a congestion control: as many runs as the comparison takes, within a budget."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from earlybird import _core
from earlybird.assessment.controls import compared_with, ending, filled
from earlybird.assessment.figures import measured
from earlybird.assessment.outcome import Assessment, Row, comparisons
from earlybird.assessment.register import chosen
from earlybird.errors import InputError, ScenarioError
from earlybird.loading import override_texts, resolve
from earlybird.paths import RESULTS
from earlybird.run_specs import ScenarioRun
from earlybird.sweeps import PlannedRun, complete

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from earlybird.assessment.register import Criterion
    from earlybird.loading import Overrides
    from earlybird.store import Store

BUDGET: Final = 120.0
"""
Seconds that the runs may take in all, as `ScenarioRun.expected_seconds` has them from the scenario for a slow machine.

No clock decides: the same command has the same runs everywhere, whether their results are there already or not.
"""

SEEDS: Final = (3, 6, 12, 24)
"""Seeds of the control and of the first of the others, one number after the other where the comparison is open."""

SEEDS_OF_OTHERS: Final = 2  # of the rest, whose figures are shown and decide nothing

PLACE: Final = re.compile(r"^\S+\.toml(:\d+)?: ")  # the place in our scenario, in front of an error


def assess(
    control: str,
    *,
    criteria: Iterable[str] = (),
    against: Sequence[str] | None = None,
    overrides: Overrides = (),
    budget: float = BUDGET,
    jobs: int | None = None,
    output: str | Path = RESULTS,
    progress: bool = False,
) -> Assessment:
    """
    Assess a congestion control by the criteria of RFC 9743, beside others.

    Parameters
    ----------
    control
        A transport by its name, such as ``"cubic-rack"``.
    criteria
        Names of criteria, or sections of the RFC such as ``"5.1"`` (default: all).
    against
        Transports to compare it with, the first of which decides what is better (default: CUBIC, Reno, BBR v1 and
        v3 with the same loss recovery).
    overrides
        Values for all scenarios, as in `earlybird.run`: ``{"endpoint.profile": "linux"}``.
    budget
        Seconds of runs in all, as estimated from the scenarios: runs with further seeds are made while they fit, where
        the comparison is open. The first three seeds are made in any case.
    jobs
        Number of worker processes (default: one per processor). Results do not depend on it.
    output
        Results folder; a run that is there already is not made again.
    progress
        Show a progress bar on the terminal.

    Returns
    -------
    Assessment
        A row for each criterion.

    Raises
    ------
    InputError
        If there is no such transport or criterion, or it can run none of the scenarios.
    Interrupted
        On Ctrl-C; runs that are finished are kept.

    Examples
    --------
    >>> import earlybird
    >>> found = earlybird.assess("bbr1-rack", criteria=["5.1.3"], against=["cubic-rack"])
    >>> found.row("loss_percent_by_buffer").comparison
    'worse'
    """
    examination = Examination(
        control, tuple(compared_with(control, against)), chosen(criteria), tuple(override_texts(overrides)), budget
    )
    examination.plan()
    while runs := examination.next_runs():
        made = complete(runs, jobs=jobs, output=output, progress=progress, what=examination.what)
        examination.read(made.store)
    return examination.assessment()


@dataclass
class Examination:
    """The runs of an assessment, which are planned in rounds."""

    control: str
    others: tuple[str, ...]
    criteria: Sequence[Criterion]
    overrides: tuple[tuple[str, str], ...]
    budget: float
    rows: list[Row] = field(default_factory=list)
    spent: float = 0.0
    round: int = 0
    _specs: dict[tuple[str, str], list[ScenarioRun]] = field(default_factory=dict)
    _planned: dict[str, PlannedRun] = field(default_factory=dict)
    _wanted: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def what(self) -> str:
        """Title of the progress bar."""
        return "simulating" if self.round == 1 else f"open criteria, {SEEDS[self.round - 1]} seeds"

    def plan(self) -> None:
        """Check all scenarios; what a congestion control cannot run is kept as a reason."""
        # The control's own name decides which CUBIC it runs beside, also where another one is tested.
        end, reasons = ending(self.control), dict[str, dict[str, str]]()
        for criterion in self.criteria:
            reasons[criterion.name] = {}
            for name in (self.control, *self.others):
                try:
                    self._specs[criterion.name, name] = [
                        self._spec(criterion, filled(case, criterion.control, name, end)) for case in criterion.cases
                    ]
                except ScenarioError as error:
                    reasons[criterion.name][name] = PLACE.sub("", str(error))
        if all(self.control in found for found in reasons.values()):
            raise InputError(f"{self.control} cannot be assessed: {next(iter(reasons.values()))[self.control]}")
        self.rows = [
            Row(one, self.control, self.others, self._no_samples(one), reasons[one.name]) for one in self.criteria
        ]

    def next_runs(self) -> list[PlannedRun]:
        """Return the runs of the next round: none if nothing is open, or the budget is spent."""
        self.round += 1
        if self.round == 1:
            return self._take(self._first())
        if self.round > len(SEEDS):
            return []
        seeds = range(SEEDS[self.round - 2] + 1, SEEDS[self.round - 1] + 1)
        runs = []
        for row in self.rows:
            wanted = [(row.criterion.name, name, seed) for name in self._compared for seed in seeds]
            if row.comparison == "open" and self.spent + self._cost(wanted) <= self.budget:
                runs += self._take(wanted)
        return runs

    def _first(self) -> list[tuple[str, str, int]]:
        """Return what is run in any case: criterion, congestion control and seed."""
        return [
            (one.name, name, seed)
            for one in self.criteria
            for name in (self.control, *self.others)
            for seed in range(1, 1 + (SEEDS[0] if name in self._compared else SEEDS_OF_OTHERS))
        ]

    def read(self, store: Store) -> None:
        """Read the results of the last round, and compare."""
        rows = {row.criterion.name: row for row in self.rows}
        for criterion, name, seed in self._wanted:
            row = rows[criterion]
            for spec, sample in zip(self._specs[criterion, name], row.samples[name], strict=True):
                sample[seed] = measured(store.load(PlannedRun(spec, seed).key), row.criterion.quantity)
        self._wanted = []
        words = comparisons(self.rows)
        self.rows = [replace(row, comparison=word) for row, word in zip(self.rows, words, strict=True)]

    def assessment(self) -> Assessment:
        """Return what was found."""
        version = _core.code_version()
        return Assessment(
            self.control, self.others, tuple(self.rows), self.overrides, version, self.spent, len(self._planned)
        )

    @property
    def _compared(self) -> tuple[str, ...]:
        return (self.control, *self.others[:1])

    def _spec(self, criterion: Criterion, parameters: Mapping[str, Any]) -> ScenarioRun:
        return ScenarioRun(resolve(criterion.path, [*override_texts(parameters), *self.overrides]))

    def _no_samples(self, criterion: Criterion) -> dict[str, list[dict[int, float]]]:
        names = [name for name in (self.control, *self.others) if (criterion.name, name) in self._specs]
        return {name: [{} for _ in criterion.cases] for name in names}

    def _new(self, wanted: Iterable[tuple[str, str, int]]) -> list[PlannedRun]:
        """Return the runs that are not planned yet, each once."""
        runs = [
            PlannedRun(spec, seed)
            for criterion, name, seed in wanted
            for spec in self._specs.get((criterion, name), [])
        ]
        return list({run.key: run for run in runs if run.key not in self._planned}.values())

    def _take(self, wanted: Sequence[tuple[str, str, int]]) -> list[PlannedRun]:
        """Plan runs."""
        self._wanted += [one for one in wanted if one[:2] in self._specs]
        new = self._new(wanted)
        self._planned |= {run.key: run for run in new}
        self.spent += _seconds(new)
        return new

    def _cost(self, wanted: Sequence[tuple[str, str, int]]) -> float:
        return _seconds(self._new(wanted))


def _seconds(runs: Iterable[PlannedRun]) -> float:
    return sum(run.spec.expected_seconds() for run in runs)
