"""The table that answers a study's question: the paper's numbers beside ours, row by row."""

import math
from dataclasses import dataclass
from itertools import combinations

from earlybird.statistics import NOTHING, Estimate
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Study
from earlybird.study.language.metrics import Metric, metric
from earlybird.study.language.names import value_name
from earlybird.study.statements.findings import measure_number


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of the paper and ours."""

    unit: Metric
    paper: float
    ours: Estimate

    @property
    def ratio(self) -> float:
        """Ours ÷ the paper's."""
        return self.ours.mean / self.paper if self.paper else math.nan

    @property
    def paper_text(self) -> str:
        """The paper's number as it prints it."""
        return f"{self.paper * self.unit.scale:g}" if math.isfinite(self.paper) else "–"

    @property
    def ours_text(self) -> str:
        """Our mean."""
        return self.unit.text(self.ours.mean)

    @property
    def half_width_text(self) -> str:
        """Half of our interval, or nothing."""
        return self.unit.text(self.ours.half_width, like=self.ours.mean) if self.ours.is_bounded else ""

    @property
    def ratio_text(self) -> str:
        """Ours ÷ the paper's, or a dash."""
        return f"×{self.ratio:.2f}" if math.isfinite(self.ratio) else "–"


@dataclass(frozen=True, slots=True)
class Row:
    """One metric at one value of the row axis."""

    title: str
    cells: tuple[Cell, ...]

    @property
    def order(self) -> str:
        """Return whether our means come in the same order as the paper's."""
        pairs = list(combinations([cell for cell in self.cells if cell.ours.count], 2))
        if not pairs:
            return "not run"
        swapped = sum((a.paper - b.paper) * (a.ours.mean - b.ours.mean) < 0 for a, b in pairs)
        return f"{swapped} of {len(pairs)} pairs swapped" if swapped else "same order"


def main_rows(evaluation: Evaluation) -> dict[str, list[Row]]:
    """Gather the rows of the main table by the metric's name in print."""
    study, main = evaluation.study, evaluation.study.main
    numbers = study.numbers[main.table]
    places = list(dict.fromkeys(number.point[main.rows] for number in numbers))
    return {
        metric(name).axis: [
            Row(value_name(study, main.rows, place), _cells(evaluation, name, place)) for place in places
        ]
        for name in main.metrics
    }


def column_titles(study: Study) -> list[str]:
    """Return the titles of the main table's columns of numbers."""
    names = dict.fromkeys(number.point[study.main.columns] for number in study.numbers[study.main.table])
    return [value_name(study, study.main.columns, name) for name in names]


def _cells(evaluation: Evaluation, name: str, place: object) -> tuple[Cell, ...]:
    """Gather the numbers of a row, in the order of the columns; a column without one has an empty cell."""
    main, every = evaluation.study.main, evaluation.study.numbers[evaluation.study.main.table]
    found = {
        column: Cell(metric(name), math.nan, NOTHING) for column in dict.fromkeys(n.point[main.columns] for n in every)
    }
    for number in every:
        if number.metric == name and number.point[main.rows] == place:
            ours = measure_number(number, {}, evaluation.measurements)
            found[number.point[main.columns]] = Cell(metric(name), number.value, ours)
    return tuple(found.values())
