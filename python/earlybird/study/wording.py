"""Puts estimates and findings into words and figures."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from earlybird.statistics import Estimate
from earlybird.study.definition import Check, Number, Point
from earlybird.study.metrics import Metric, metric
from earlybird.study.verdicts import CLEAR, NO_RUNS, Finding

Printer: TypeAlias = Callable[[float], str]


def printer(name: str, point: Point) -> Printer:
    """
    Choose how the values of a quantity are printed.

    Parameters
    ----------
    name
        The metric.
    point
        Where; a ratio has no unit, a difference of shares is in percentage points.

    Returns
    -------
    callable
        From a value to its text.
    """
    unit = metric(name)
    if "over" in point:
        return lambda value: f"{value:.2f}" if math.isfinite(value) else "–"
    if "minus" in point:
        return lambda value: difference_text(unit, value)
    return unit.with_unit


def difference_text(unit: Metric, value: float) -> str:
    """Print a difference with its sign, of shares in percentage points."""
    if not math.isfinite(value):
        return "–"
    size = unit.text(value)
    text = size if float(size) == 0 else f"{value * unit.scale:+.{unit.decimals(value)}f}"
    return f"{text} {difference_unit(unit)}".strip().replace("-", "−")


def difference_unit(unit: Metric) -> str:
    """Name the unit of a difference."""
    return "points" if unit.is_share else unit.unit


def interval_text(text: Printer, estimate: Estimate) -> str:
    """Print an interval; nothing where one seed leaves it open."""
    return f"{text(estimate.low)} … {text(estimate.high)}" if estimate.is_bounded else ""


def stated_text(number: Number) -> str:
    """Print a paper's number as the paper does."""
    if "over" in number.point:
        return f"{number.value:g}"
    unit = metric(number.metric)
    sign, name = ("+", difference_unit(unit)) if "minus" in number.point else ("", unit.unit)
    return f"{number.value * unit.scale:{sign}.6g} {name}".strip().replace("-", "−")


def effect_size(unit: Metric, first: float, second: float) -> float:
    """Return first − second for shares, first ÷ second for everything else; NaN where that means nothing."""
    if unit.is_share:
        return first - second
    return first / second if second else math.nan


def effect_text(check: Check, findings: Sequence[Finding]) -> str:
    """Say how large the effect is: its median over the cells, and its range."""
    return spread_text(size_printer(check), [finding.effect for finding in findings])


def spread_text(text: Printer, values: Iterable[float]) -> str:
    """Write the median of the values that there are, and their range."""
    sizes = sorted(value for value in values if math.isfinite(value))
    if not sizes:
        return ""
    middle = text(statistics.median(sizes))
    return middle if len(sizes) == 1 else f"{middle} ({text(sizes[0])} … {text(sizes[-1])})"


def size_printer(check: Check) -> Printer:
    """Return how the sizes that a check judges are printed: effects, or the quantity itself for bounds."""
    if check.kind == "range":
        return printer(check.metric, check.at)
    if check.kind == "order" and metric(check.metric).is_share:
        return lambda size: difference_text(metric(check.metric), size)
    return lambda size: f"×{size:.2f}"


def bound_name(check: Check, name: str) -> str:
    """Name the larger side of an order with its factor and margin."""
    factor = f"{check.factor:.3g} × " if check.factor != 1 else ""
    unit = metric(check.metric)
    margin = f" {difference_text(unit, check.margin)}" if check.margin else ""
    return f"{factor}{name}{margin}"


def detail_text(findings: Sequence[Finding]) -> str:
    """Count how the cells came out."""
    if not findings:
        return ""
    if len(findings) == 1 and findings[0].holds != "reported":
        return findings[0].note
    if findings[0].holds == "reported":
        return f"{len(findings)} numbers"
    tested = [finding for finding in findings if finding.note != NO_RUNS]
    if not tested:
        return "nothing measured at this scale"
    held, clear, failed = (
        sum(finding.holds == "yes" for finding in tested),
        sum(finding.note == CLEAR for finding in tested),
        sum(finding.holds == "no" for finding in tested),
    )
    parts = [f"holds in {held} of {len(tested)} cells"]
    parts += [f"clearly in {clear}"] if clear else []
    parts += [f"fails in {failed}"] if failed else []
    parts += [f"{len(findings) - len(tested)} without a value"] if len(tested) < len(findings) else []
    return ", ".join(parts)


def joined(*parts: str) -> str:
    """Join the parts that are there with colons."""
    return ": ".join(part for part in parts if part)
