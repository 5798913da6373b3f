"""Estimates against published values and hand calculation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from earlybird.statistics import (
    chance_above,
    crossing,
    discoveries,
    interpolate,
    paired_difference,
    student_interval,
    weighted_mean,
    wilson_interval,
)

NUMBERS = some.floats(-1e6, 1e6)


def test_student_interval_of_five_values_uses_t_of_four_degrees_2_132() -> None:
    estimate = student_interval([1, 2, 3, 4, 5])
    assert estimate.mean == 3
    assert estimate.half_width == pytest.approx(2.1318 * math.sqrt(2.5) / math.sqrt(5), rel=1e-4)
    assert estimate.is_bounded


@pytest.mark.parametrize(("runs", "quantile"), [(3, 2.920), (10, 1.833), (20, 1.729)])
def test_student_quantile_at_90_percent(runs: int, quantile: float) -> None:
    values = [float(value % 2) for value in range(runs)]
    deviation = math.sqrt(sum((value - sum(values) / runs) ** 2 for value in values) / (runs - 1))
    assert student_interval(values).half_width == pytest.approx(quantile * deviation / math.sqrt(runs), rel=2e-4)


def test_one_value_leaves_the_interval_open() -> None:
    estimate = student_interval([7.0])
    assert (estimate.mean, estimate.low, estimate.high) == (7.0, -math.inf, math.inf)
    assert not estimate.is_bounded


def test_no_values_have_no_mean() -> None:
    assert math.isnan(student_interval([]).mean)


@given(some.lists(NUMBERS, min_size=2, max_size=20))
def test_an_interval_surrounds_its_mean(values: list[float]) -> None:
    estimate = student_interval(values)
    assert estimate.low <= estimate.mean <= estimate.high


def test_paired_difference_uses_shared_seeds_only() -> None:
    estimate = paired_difference({1: 5.0, 2: 6.0, 3: 9.0}, {1: 3.0, 2: 4.0, 4: 0.0})
    assert (estimate.mean, estimate.low, estimate.high, estimate.count) == (2.0, 2.0, 2.0, 2)


def test_pairing_removes_what_both_sides_share() -> None:
    noise = {seed: 100.0 * seed for seed in range(10)}
    estimate = paired_difference({seed: value + 1 for seed, value in noise.items()}, noise)
    assert estimate.low == pytest.approx(1)


def test_wilson_interval_of_five_in_ten() -> None:
    estimate = wilson_interval(5, 10)
    assert [estimate.low, estimate.high] == pytest.approx([0.2693, 0.7307], abs=1e-4)


def test_wilson_interval_of_none_begins_at_zero() -> None:
    estimate = wilson_interval(0, 10)
    assert estimate.low == 0
    assert 0 < estimate.high < 0.3


def test_wilson_interval_refuses_more_successes_than_trials() -> None:
    with pytest.raises(ValueError, match="11 successes of 10 trials"):
        wilson_interval(11, 10)


def test_weighted_mean_counts_flows() -> None:
    assert weighted_mean([1, 4], [20, 10]) == 2
    assert math.isnan(weighted_mean([1], [0]))


def test_interpolation_ends_with_the_curve() -> None:
    assert interpolate([0, 2], [0, 1], 0.5) == 0.25
    assert math.isnan(interpolate([0, 2], [0, 1], 2.5))


def test_delay_at_which_half_of_the_flows_are_in_time() -> None:
    assert crossing([0, 1, 2, 3], [0, 0.2, 0.6, 1], 0.5) == pytest.approx(1.75)
    assert crossing([0, 1], [0.5, 1], 0.5) == 0
    assert math.isnan(crossing([0, 1], [0, 0.4], 0.5))


def test_the_chance_of_a_mean_above_a_bound_is_that_of_its_interval() -> None:
    estimate = student_interval([1.0, 2.0, 3.0])
    assert chance_above(estimate, estimate.low) == pytest.approx(0.05)
    assert chance_above(estimate, 2.0) == pytest.approx(0.5)
    assert math.isnan(chance_above(student_interval([1.0]), 0.0))


def test_discoveries_among_many_tests() -> None:
    assert discoveries([0.04]) == [True]
    assert discoveries([0.04, 0.9, 0.8]) == [False, False, False]
    assert discoveries([0.04, 0.9, 0.03, 0.02]) == [False, False, False, False]
    assert discoveries([0.03, 0.9, 0.03, 0.02]) == [True, False, True, True]
    assert discoveries([]) == []
