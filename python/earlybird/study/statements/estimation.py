"""Estimates over seeds: the mean, or for a delay that sessions need the 90 % quantile."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from earlybird import statistics
from earlybird.planning.selection import quantile_difference, quantile_estimate
from earlybird.statistics import Estimate, paired_difference, student_interval

NEEDED: Final = ("session_startup_delay_s", "session_startup_delay_rtts")  # metrics of which a seed is a viewer


def estimate(metric: str, by_seed: Mapping[int, float]) -> Estimate:
    """Estimate a quantity from its values per seed."""
    values = list(by_seed.values())
    return quantile_estimate(np.array(values)) if metric in NEEDED and len(values) > 1 else student_interval(values)


def difference(metric: str, left: Mapping[int, float], right: Mapping[int, float]) -> Estimate:
    """Estimate left − right over the seeds that both have."""
    pairs = [(left[seed], right[seed]) for seed in left if seed in right]
    if metric in NEEDED and len(pairs) > 1:
        return quantile_difference(np.array(pairs))
    return paired_difference(left, right)


def chance_above(metric: str, value: Estimate, bound: float) -> float:
    """Return how likely a mean so far above a bound is by chance; NaN where intervals are not those of means."""
    return math.nan if metric in NEEDED else statistics.chance_above(value, bound)
