"""Metrics of studies, from the register: names and how values are printed."""

import math
from dataclasses import dataclass
from typing import Final

from earlybird.errors import InputError
from earlybird.metrics import Direction, StudyEntry, studies

NOTHING = 1e-9  # smaller values are rounding errors


PRINTED: Final = {("share", "%"): 100.0, ("s", "ms"): 1000.0, ("bit/s", "Mb/s"): 1e-6}
"""Printed value ÷ stored value, by unit of the stored value and unit in print."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity that runs have."""

    name: str
    label: str
    unit: str = ""  # unit in print
    digits: int = 1  # most decimals in print; three significant digits are enough
    scale: float = 1.0  # printed value ÷ stored value, such as 100 for a share printed in per cent
    is_signed: bool = False  # whether values may be negative
    better: Direction = ""  # which values are better for who watches or listens, where that has a meaning

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that can be."""
        return (-math.inf if self.is_signed else 0.0, 1.0 if self.is_share else math.inf)

    @property
    def is_share(self) -> bool:
        """Whether the effect is stated as a difference, not as a ratio."""
        return self.unit == "%"

    def text(self, value: float, like: float | None = None) -> str:
        """Print a value without its unit, with as many decimals as another one; a dash where there is none."""
        if not math.isfinite(value):
            return "–"
        if abs(value * self.scale) < NOTHING:
            return "0"
        text = f"{value * self.scale:.{self.decimals(value if like is None else like)}f}"
        return text.removeprefix("-") if float(text) == 0 else text

    def decimals(self, value: float) -> int:
        """Return how many decimals a value has in print."""
        size = abs(value * self.scale)
        return min(self.digits, max(0, 2 - math.floor(math.log10(size)))) if size else self.digits

    def with_unit(self, value: float) -> str:
        """Print a value with its unit."""
        return f"{self.text(value)} {self.unit}".strip() if math.isfinite(value) else "–"

    @property
    def axis(self) -> str:
        """The label of a plot's axis."""
        label = self.label[0].upper() + self.label[1:]
        return f"{label} ({self.unit})" if self.unit else label


def _metric(name: str, entry: StudyEntry) -> Metric:
    printed = entry.unit if entry.print is None else entry.print
    scale = PRINTED[entry.unit, printed] if printed not in ("", entry.unit) else 1.0
    is_signed = entry.scale == "signed"
    return Metric(name, entry.title, printed, entry.digits, scale, is_signed, entry.direction)


METRICS: Final = {name: _metric(name, entry) for name, entry in studies().items()}


def metric(name: str) -> Metric:
    """Look up a quantity by its name in a study's files; raise `InputError` if there is none."""
    if name not in METRICS:
        raise InputError(f"there is no quantity {name!r}; there are: {', '.join(sorted(METRICS))}.")
    return METRICS[name]
