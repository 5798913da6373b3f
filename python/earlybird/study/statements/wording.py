"""Puts estimates and findings into words and figures."""

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from earlybird.statistics import Estimate
from earlybird.study.language.items import Check, Number
from earlybird.study.language.metrics import Metric, metric
from earlybird.study.language.points import Point
from earlybird.study.statements.verdicts import NO_RUNS, ONE_SEED, Finding

Printer: TypeAlias = Callable[[float], str]

RATIO = Metric("ratio", "ratio", digits=2)


def printer(name: str, point: Point) -> Printer:
    """Choose how the values of a quantity are printed: a ratio has no unit, a difference of shares is in points."""
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


def gap_text(check: Check, value: float) -> str:
    """Print the difference of two quantities of an order; that of two ratios has no unit."""
    is_of_ratios = any("over" in point for point in (check.at, *check.points))
    return difference_text(RATIO if is_of_ratios else metric(check.metric), value)


def difference_unit(unit: Metric) -> str:
    """Return the unit of a difference."""
    return "points" if unit.is_share else unit.unit


def interval_text(text: Printer, estimate: Estimate, possible: tuple[float, float] = (-math.inf, math.inf)) -> str:
    """Print an interval as far as there can be such values; nothing where one seed leaves it open."""
    low, high = max(estimate.low, possible[0]), min(estimate.high, possible[1])
    return f"{text(low)} … {text(high)}" if estimate.is_bounded else ""


def stated_text(number: Number) -> str:
    """Print a paper's number as the paper does."""
    if "over" in number.point:
        return f"{number.value:g}"
    unit = metric(number.metric)
    sign, name = ("+", difference_unit(unit)) if "minus" in number.point else ("", unit.unit)
    return f"{number.value * unit.scale:{sign}.6g} {name}".strip().replace("-", "−")


def is_in_points(check: Check) -> bool:
    """Return whether two quantities of an order are compared by their difference, as shares are, or by their ratio."""
    return metric(check.metric).is_share and not any("over" in point for point in (check.at, *check.points))


def effect_size(check: Check, first: float, second: float) -> float:
    """Return first − second for shares, first ÷ second for everything else; NaN where that means nothing."""
    if is_in_points(check):
        return first - second
    return first / second if second else math.nan


def effect_text(check: Check, findings: Sequence[Finding]) -> str:
    """Return the size of the effect: its median over the cells, and its range."""
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
    if check.kind == "order" and is_in_points(check):
        return lambda size: difference_text(metric(check.metric), size)
    return lambda size: f"×{size:.2f}"


def bound_name(check: Check, name: str) -> str:
    """Return the larger side of an order with its factor and margin."""
    factor = f"{check.factor:.3g} × " if check.factor != 1 else ""
    unit = metric(check.metric)
    margin = f" {difference_text(unit, check.margin)}" if check.margin else ""
    return f"{factor}{name}{margin}"


def detail_text(findings: Sequence[Finding]) -> str:
    """Count the outcomes of the cells."""
    if not findings:
        return ""
    if len(findings) == 1 and findings[0].holds != "reported":
        return findings[0].note
    if findings[0].holds == "reported":
        return f"{len(findings)} numbers"
    tested = [finding for finding in findings if finding.note != NO_RUNS]
    if not tested:
        return "nothing measured at this scale"
    spoken = [finding for finding in tested if not finding.is_tie]
    outcomes = Counter(finding.holds for finding in spoken)
    single = [finding for finding in spoken if finding.needs_seeds]
    undecided = outcomes["undecided"] - len(single)
    parts = [f"holds in {outcomes['yes']} of {len(tested)} cells"] if len(single) < len(spoken) or not single else []
    parts += [f"fails in {outcomes['no']}"] if outcomes["no"] else []
    parts += [f"undecided in {undecided}"] if undecided else []
    parts += [f"one seed, whose means agree in {_agreeing(single)} of {len(single)} cells"] if single else []
    parts += [f"no difference in {len(tested) - len(spoken)}"] if len(spoken) < len(tested) else []
    parts += [f"{len(findings) - len(tested)} without a value"] if len(tested) < len(findings) else []
    return ", ".join(parts)


def _agreeing(findings: Sequence[Finding]) -> int:
    return sum(finding.note == ONE_SEED for finding in findings)


def joined(*parts: str) -> str:
    """Join the parts that are there with colons."""
    return ": ".join(part for part in parts if part)
