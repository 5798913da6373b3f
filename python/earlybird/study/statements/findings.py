"""Tests a statement cell by cell: an order, a quantity within bounds, or a paper's numbers beside ours."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from earlybird.statistics import Estimate
from earlybird.study.language.items import Check, Number
from earlybird.study.language.metrics import metric
from earlybird.study.language.names import point_name
from earlybird.study.language.points import Point, Scalar, combinations
from earlybird.study.statements import estimation
from earlybird.study.statements.quantities import Measurements, Quantity
from earlybird.study.statements.verdicts import NO_RUNS, Finding, Holds, order_holds, range_holds
from earlybird.study.statements.wording import (
    bound_name,
    effect_size,
    gap_text,
    interval_text,
    joined,
    printer,
    stated_text,
)

Cell: TypeAlias = Mapping[str, Scalar]


def measure_number(number: Number, variant: Point, measurements: Measurements) -> Estimate:
    """Measure over seeds the quantity of a paper's number, with the coordinates of a variant."""
    return _estimate(Quantity(number.metric, {**number.point, **variant}), measurements)


def _order(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Compare each quantity with the next, cell by cell."""
    for cell in _cells(check, variant, measurements):
        points = [{**check.at, **cell, **variant, **point} for point in check.points]
        for lower, upper in pairwise(points):
            yield _comparison(check, cell, (lower, upper), measurements)


def _comparison(check: Check, cell: Cell, points: tuple[Point, Point], measurements: Measurements) -> Finding:
    lower, upper = measurements.samples([Quantity(check.metric, point) for point in points])
    allowed = {seed: check.factor * value + check.margin for seed, value in upper.items()}
    difference = estimation.difference(check.metric, lower, allowed)
    is_exact = all(map(measurements.is_exact, points))
    holds, note = order_holds(difference, is_exact=is_exact)
    text = printer(check.metric, points[0])
    means = [estimation.estimate(check.metric, side).mean for side in (lower, upper)]
    names = [point_name(measurements.study, own) for own in _differing(*points)]
    bound = check.factor * means[1] + check.margin
    below, above = (Quantity(check.metric, point).possible for point in points)
    possible = (below[0] - check.factor * above[1] - check.margin, below[1] - check.factor * above[0] - check.margin)
    return Finding(
        cell=cell,
        label=joined(point_name(measurements.study, cell), f"{names[0]} < {bound_name(check, names[1])}"),
        paper="",
        ours=f"{text(means[0])} against {text(means[1])}",
        interval=interval_text(lambda value: gap_text(check, value), difference, possible),
        effect=effect_size(check, *means),
        strength=_strength(difference),
        holds=holds,
        note=note,
        found=means[0],
        allowed=float(np.minimum(means[0], bound)),
        chance=math.nan if is_exact else estimation.chance_above(check.metric, difference, 0.0),
        has_runs=all(map(measurements.has_runs, points)),
    )


def _range(every: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Compare a quantity with bounds, cell by cell."""
    for cell in _cells(every, variant, measurements):
        quantity = Quantity(every.metric, {**every.at, **cell, **variant})
        check = _with_share(every, quantity, measurements)
        value, text = _estimate(quantity, measurements), printer(check.metric, quantity.point)
        is_exact = measurements.is_exact(quantity.point)
        holds, note = range_holds(value, (check.least, check.most), quantity.possible, is_exact=is_exact)
        yield Finding(
            cell=cell,
            label=point_name(measurements.study, {**check.at, **cell}),
            paper="",
            ours=text(value.mean),
            interval=interval_text(text, value, quantity.possible),
            effect=math.nan,
            strength=_room(value.mean, check),
            holds=holds,
            note=note,
            value=value.mean,
            found=value.mean,
            allowed=_allowed(value.mean, check),
            chance=math.nan if is_exact or _is_at_edge(holds, value, check) else _chance_outside(value, check),
            has_runs=measurements.has_runs(quantity.point),
        )


def _with_share(check: Check, quantity: Quantity, measurements: Measurements) -> Check:
    """Widen the bounds of a difference to a share of what is subtracted, if the check says so."""
    if not check.share:
        return check
    subtracted = Quantity(quantity.metric, quantity.terms()[1])
    most = max(check.most or 0.0, check.share * abs(_estimate(subtracted, measurements).mean))
    return replace(check, least=-most, most=most)


def _numbers(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    for number in measurements.study.numbers[check.table]:
        point = {**number.point, **variant}
        value, text = measure_number(number, variant, measurements), printer(number.metric, number.point)
        yield Finding(
            cell={name: coordinate for name, coordinate in number.point.items() if isinstance(coordinate, Scalar)},
            label=joined(metric(number.metric).label, point_name(measurements.study, number.point)),
            paper=stated_text(number),
            ours=text(value.mean),
            interval=interval_text(text, value, Quantity(number.metric, number.point).possible),
            effect=_share_of(number, value.mean),
            strength=math.nan,
            holds="reported" if value.count else "not testable",
            note=_remark(number, point, measurements) if value.count else NO_RUNS,
            found=value.mean,
            allowed=number.value,
            has_runs=measurements.has_runs(point),
        )


def _share_of(number: Number, ours: float) -> float:
    """Divide ours by the paper's number; NaN for differences of shares."""
    is_meaningless = "minus" in number.point and metric(number.metric).is_share
    return math.nan if is_meaningless or not number.value else ours / number.value


def _remark(number: Number, point: Point, measurements: Measurements) -> str:
    """Add the interval of the pooled flows to the text about a success rate."""
    if number.metric != "on_time_share" or "minus" in point or "over" in point:
        return number.note
    pooled = interval_text(metric("on_time_share").with_unit, measurements.pooled_success(point))
    return "; ".join(part for part in (number.note, f"all flows pooled: {pooled}") if part)


def _cells(check: Check, variant: Cell, measurements: Measurements) -> Iterator[dict[str, Scalar]]:
    """List the cells of a check, without those in which its filter's quantity is too small."""
    for cell in combinations(check.cells):
        if check.where is None:
            yield cell
        else:
            quantity = Quantity(check.where.metric, {**cell, **variant, **check.where.at})
            if _estimate(quantity, measurements).mean > check.where.above:
                yield cell


def _estimate(quantity: Quantity, measurements: Measurements) -> Estimate:
    return estimation.estimate(quantity.metric, measurements.by_seed(quantity))


def _differing(first: Point, second: Point) -> tuple[Point, Point]:
    """Leave out the coordinates that two points share."""
    shared = {name for name in first if name in second and first[name] == second[name]}
    return tuple({name: value for name, value in point.items() if name not in shared} for point in (first, second))  # type: ignore[return-value]


def _strength(difference: Estimate) -> float:
    """Measure how far below zero a difference is, in half widths of its interval if there is one."""
    return (
        -difference.mean / difference.half_width
        if difference.is_bounded and difference.half_width
        else -difference.mean
    )


def _allowed(value: float, check: Check) -> float:
    """Return the value within the bounds that is nearest."""
    bounded = value if check.least is None else max(value, check.least)
    return bounded if check.most is None else min(bounded, check.most)


def _chance_outside(value: Estimate, check: Check) -> float:
    """Return how likely a mean so far outside of its bounds is, if the true one were at the nearest."""
    bounds = [(value, check.most)] if check.most is not None else []
    bounds += [(value.mirrored, -check.least)] if check.least is not None else []
    return min((estimation.chance_above(check.metric, *bound) for bound in bounds), default=math.nan)


def _is_at_edge(holds: Holds, value: Estimate, check: Check) -> bool:
    """Return whether a mean fails although a bound is within its interval."""
    return holds == "no" and any(
        bound is not None and value.low <= bound <= value.high for bound in (check.least, check.most)
    )


def _room(value: float, check: Check) -> float:
    """Measure how far a value is inside of the bounds."""
    above = math.inf if check.least is None else value - check.least
    below = math.inf if check.most is None else check.most - value
    return min(above, below)


KINDS: dict[str, Callable[[Check, Cell, Measurements], Iterator[Finding]]] = {
    "order": _order,
    "range": _range,
    "numbers": _numbers,
}
