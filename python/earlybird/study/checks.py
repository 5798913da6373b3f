"""Tests the statements of a study's items against its measurements."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import TypeAlias

import numpy as np

from earlybird.statistics import Estimate
from earlybird.study import estimation
from earlybird.study.definition import Check, Item, Number, Point, Scalar
from earlybird.study.metrics import metric
from earlybird.study.names import point_name
from earlybird.study.quantities import Measurements, Quantity
from earlybird.study.verdicts import NO_RUNS, Finding, Verdict, order_holds, overall, range_holds, was_run, weakest
from earlybird.study.wording import (
    bound_name,
    detail_text,
    difference_text,
    effect_size,
    effect_text,
    interval_text,
    joined,
    printer,
    stated_text,
)

Cell: TypeAlias = Mapping[str, Scalar]


def verdicts(item: Item, measurements: Measurements) -> list[Verdict]:
    """
    Test everything that is stated about an item.

    Parameters
    ----------
    item
        A figure or table of a paper.
    measurements
        The runs.

    Returns
    -------
    list of Verdict
        One per statement and variant, in the order of the item; of variants that were not run at this scale, only a
        statement's first.
    """
    return [each for check in item.checks for each in _variants(item, check, measurements)]


def _variants(item: Item, check: Check, measurements: Measurements) -> list[Verdict]:
    every = [verdict(item, check, variant, measurements) for variant in combinations(check.each)]
    return [each for each in every if each is every[0] or was_run(each)]


def verdict(item: Item, check: Check, variant: Cell, measurements: Measurements) -> Verdict:
    """
    Test one statement in one variant.

    Parameters
    ----------
    item
        What it is about.
    check
        The statement.
    variant
        Coordinates that hold for all of its quantities.
    measurements
        The runs.

    Returns
    -------
    Verdict
        With a finding for each cell; its own numbers are those of the cell that speaks most against it.
    """
    findings = tuple(KINDS[check.kind](check, variant, measurements))
    worst = weakest(findings)
    return Verdict(
        item=item.id,
        level=check.level,
        statement=check.statement,
        variant=point_name(measurements.study, variant),
        paper=check.paper,
        ours=joined(worst.label, worst.ours) if worst else "",
        interval=worst.interval if worst else "",
        holds=overall(findings),
        effect=effect_text(check, findings),
        detail=check.why or detail_text(findings),
        findings=findings,
    )


def combinations(values: Mapping[str, Sequence[Scalar]]) -> list[dict[str, Scalar]]:
    """List every combination of the coordinates' values; one without coordinates if there are none."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def measure_number(number: Number, variant: Point, measurements: Measurements) -> Estimate:
    """
    Measure what a paper gives a number for.

    Parameters
    ----------
    number
        The paper's number.
    variant
        Coordinates to add to it.
    measurements
        The runs.

    Returns
    -------
    Estimate
        Over seeds.
    """
    return _estimate(Quantity(number.metric, {**number.point, **variant}), measurements)


def _order(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Compare each quantity with the next, cell by cell."""
    for cell in _cells(check, variant, measurements):
        points = [{**check.at, **cell, **variant, **point} for point in _points(check)]
        for lower, upper in pairwise(points):
            yield _comparison(check, cell, (lower, upper), measurements)


def _comparison(check: Check, cell: Cell, points: tuple[Point, Point], measurements: Measurements) -> Finding:
    lower, upper = measurements.samples([Quantity(check.metric, point) for point in points])
    allowed = {seed: check.factor * value + check.margin for seed, value in upper.items()}
    difference = estimation.difference(check.metric, lower, allowed)
    is_exact = all(map(measurements.is_exact, points))
    holds, note = order_holds(check.level, difference, is_exact=is_exact)
    unit, text = metric(check.metric), printer(check.metric, points[0])
    means = [estimation.estimate(check.metric, side).mean for side in (lower, upper)]
    names = [point_name(measurements.study, own) for own in _differing(*points)]
    bound = check.factor * means[1] + check.margin
    return Finding(
        cell=cell,
        label=joined(point_name(measurements.study, cell), f"{names[0]} < {bound_name(check, names[1])}"),
        paper="",
        ours=f"{text(means[0])} against {text(means[1])}",
        interval=interval_text(lambda value: difference_text(unit, value), difference),
        effect=effect_size(unit, *means),
        strength=_strength(difference),
        holds=holds,
        note=note,
        found=means[0],
        allowed=float(np.minimum(means[0], bound)),
        has_runs=all(map(measurements.has_runs, points)),
    )


def _range(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Compare a quantity with bounds, cell by cell."""
    for cell in _cells(check, variant, measurements):
        quantity = Quantity(check.metric, {**check.at, **cell, **variant})
        value, text = _estimate(quantity, measurements), printer(check.metric, quantity.point)
        holds, note = range_holds(value, (check.least, check.most), is_exact=measurements.is_exact(quantity.point))
        yield Finding(
            cell=cell,
            label=point_name(measurements.study, {**check.at, **cell}),
            paper="",
            ours=text(value.mean),
            interval=interval_text(text, value),
            effect=math.nan,
            strength=_room(value.mean, check),
            holds=holds,
            note=note,
            value=value.mean,
            found=value.mean,
            allowed=float(np.clip(value.mean, check.least, check.most)),
            has_runs=measurements.has_runs(quantity.point),
        )


def _numbers(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Set the paper's numbers beside ours."""
    for number in measurements.study.numbers[check.table]:
        point = {**number.point, **variant}
        value, text = measure_number(number, variant, measurements), printer(number.metric, number.point)
        yield Finding(
            cell={name: coordinate for name, coordinate in number.point.items() if isinstance(coordinate, Scalar)},
            label=joined(metric(number.metric).label, point_name(measurements.study, number.point)),
            paper=stated_text(number),
            ours=text(value.mean),
            interval=interval_text(text, value),
            effect=_share_of(number, value.mean),
            strength=math.nan,
            holds="reported" if value.count else "not testable",
            note=_remark(number, point, measurements) if value.count else NO_RUNS,
            found=value.mean,
            allowed=number.value,
            has_runs=measurements.has_runs(point),
        )


def _share_of(number: Number, ours: float) -> float:
    """Divide ours by the paper's number; NaN for differences of shares, whose ratio means nothing."""
    is_meaningless = "minus" in number.point and metric(number.metric).is_share
    return math.nan if is_meaningless or not number.value else ours / number.value


def _remark(number: Number, point: Point, measurements: Measurements) -> str:
    """Add the interval of the pooled flows to what is said about a success rate."""
    if number.metric != "success" or "minus" in point or "over" in point:
        return number.note
    pooled = interval_text(metric("success").with_unit, measurements.pooled_success(point))
    return "; ".join(part for part in (number.note, f"all flows pooled: {pooled}") if part)


def _untested(check: Check, variant: Cell, measurements: Measurements) -> Iterator[Finding]:
    """Find nothing: the statement waits for something that does not exist yet."""
    return iter(())


KINDS: dict[str, Callable[[Check, Cell, Measurements], Iterator[Finding]]] = {
    "order": _order,
    "range": _range,
    "numbers": _numbers,
    "untested": _untested,
}


def _points(check: Check) -> list[Point]:
    """List the points of an order, which may be given as the values of one axis."""
    return list(check.points) or [{name: value} for name, values in check.along.items() for value in values]


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


def _room(value: float, check: Check) -> float:
    """Measure how far a value is inside of the bounds."""
    above = math.inf if check.least is None else value - check.least
    below = math.inf if check.most is None else check.most - value
    return min(above, below)
