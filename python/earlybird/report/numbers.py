"""Numbers in sentences of the start page, by study: measured now, or read from an older publication."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import polars as pl

from earlybird.study.evaluation import Evaluation
from earlybird.study.language.points import Point
from earlybird.study.language.register import Register
from earlybird.study.language.text_templates import TextTemplate
from earlybird.study.statements.estimation import estimate
from earlybird.study.statements.quantities import Quantity
from earlybird.study.statements.wording import printer

NUMBERS: Final = "numbers.csv"  # of a publication, from which the next one reads those of studies that it keeps


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is printed, and in stored units."""

    printed: str
    value: float


Numbers: TypeAlias = Mapping[tuple[str, str], Number]
"""Numbers by study and quantity."""


def measure(evaluation: Evaluation, metric: str, point: Point) -> Number:
    """Measure a quantity: the mean over seeds, printed with its unit; a dash where there is none."""
    mean = estimate(metric, evaluation.measurements.by_seed(Quantity(metric, point))).mean
    return Number(printer(metric, point)(mean), mean)


def quantity_name(metric: str, point: Point) -> str:
    """Return the metric and coordinates of a quantity in one text."""
    return " ".join([metric, *(f"{axis}={point[axis]}" for axis in sorted(point))])


def numbers_of(register: Register, evaluations: Mapping[str, Evaluation]) -> dict[tuple[str, str], Number]:
    """Measure all quantities that sentences of the start page have."""
    return {
        (study, quantity_name(*quantity)): measure(evaluations[study], *quantity)
        for study, template in _templates(register)
        if study in evaluations
        for quantity in map(template.quantity, template.values)
    }


def _templates(register: Register) -> Iterator[tuple[str, TextTemplate]]:
    yield from ((paper.study, paper.answer) for paper in register.papers.values() if paper.answer)
    yield from ((entry.study, entry.line.ours) for entry in register.entries if entry.line)


def carried_numbers(kept: Iterable[str], older: Path) -> dict[tuple[str, str], Number]:
    """Read the numbers of studies that are kept from an older publication."""
    names = set(kept)
    if not (older / NUMBERS).is_file():
        return {}
    table = pl.read_csv(older / NUMBERS, schema_overrides={"printed": pl.String, "value": pl.Float64})
    return {(study, of): Number(text, value) for study, of, text, value in table.iter_rows() if study in names}


def number_table(numbers: Numbers) -> pl.DataFrame:
    """Return numbers as data, a line for each."""
    rows = [(study, quantity, one.printed, one.value) for (study, quantity), one in numbers.items()]
    schema = {"study": pl.String, "quantity": pl.String, "printed": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")
