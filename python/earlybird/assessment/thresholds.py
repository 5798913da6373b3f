"""Thresholds in a file, for continuous integration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from earlybird.assessment.register import criteria
from earlybird.assessment.view import number
from earlybird.errors import InputError
from earlybird.tables import build, one_of, read_toml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from earlybird.assessment.outcome import Assessment, Row


@dataclass(frozen=True, slots=True)
class Threshold:
    """The bounds of a figure."""

    min: float | None = None  # smallest figure
    max: float | None = None  # largest figure
    worse: bool = True  # whether it may be worse than that of the first of the others

    def fault(self, row: Row) -> str:
        """Return how a row breaks it, or nothing."""
        value = row.figure(row.control).mean
        if not math.isfinite(value):
            return "it has no figure"
        if self.max is not None and value > self.max:
            return f"it is above {self.max:g}"
        if self.min is not None and value < self.min:
            return f"it is below {self.min:g}"
        return f"it is worse than {number(row.figure(row.others[0]).mean)} of {row.others[0]}" * self._is_broken(row)

    def _is_broken(self, row: Row) -> bool:
        return not self.worse and row.comparison == "worse"


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of a threshold."""

    name: str
    fault: str  # empty if it holds
    value: str  # the figure with its unit

    @property
    def holds(self) -> bool:
        """Whether it does."""
        return not self.fault

    @property
    def sentence(self) -> str:
        """Name, figure and outcome, to print."""
        return f"{self.name} = {self.value}: {'holds' if self.holds else f'fails, {self.fault}'}."


def read_thresholds(path: Path) -> Mapping[str, Threshold]:
    """Read a file: a table for each criterion, such as ``p95_queue_delay_ms = {max = 20}``."""
    document = read_toml(path)
    for name, table in document.items():
        one_of(name, criteria(), str(path), "criterion")
        if not table:
            raise InputError(f"{path}: {name} has no threshold; give min, max, or worse = false.")
    return {name: build(Threshold, table, f"{path}: {name}") for name, table in document.items()}


def checked(found: Assessment, thresholds: Mapping[str, Threshold]) -> Sequence[Check]:
    """Compare figures with thresholds; those of criteria that were left out are not tested."""
    return [_check(row, thresholds[row.criterion.name]) for row in found.rows if row.criterion.name in thresholds]


def _check(row: Row, threshold: Threshold) -> Check:
    value = f"{number(row.figure(row.control).mean)} {row.criterion.unit}".strip()
    return Check(row.criterion.name, threshold.fault(row), value)
