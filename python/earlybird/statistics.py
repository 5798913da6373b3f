"""
Estimates with intervals, and the small pieces of arithmetic that every study shares.

All intervals are two-sided; the level is 90 % unless asked otherwise, as in the papers that the studies repeat.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = LateModule("scipy.stats")  # takes longer to load than most commands take

LEVEL = 0.90
"""Confidence level of an interval when none is given."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float
    """Arithmetic mean of the values; NaN without values."""
    low: float
    """Lower end of the interval; minus infinity when fewer than two values leave the spread unknown."""
    high: float
    """Upper end of the interval, or infinity."""
    count: int
    """Number of values."""

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    @property
    def is_bounded(self) -> bool:
        """Whether there were enough values for an interval."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def mirrored(self) -> "Estimate":
        """The same of the values with the other sign."""
        return Estimate(-self.mean, -self.high, -self.low, self.count)


NOTHING = Estimate(math.nan, -math.inf, math.inf, 0)
"""The estimate from no values."""


def student_interval(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """
    Estimate a mean from independent values, one per run.

    Mean ± t·s/√n with n − 1 degrees of freedom: Student, "The probable error of a mean", Biometrika 6, 1908.

    `values`: one value per run, in any unit. `level`: probability that the interval covers the true mean. Returns in
    the unit of the values.
    """
    if not values:
        return NOTHING
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, -math.inf, math.inf, 1)
    quantile = float(stats.t.ppf((1 + level) / 2, len(values) - 1))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def paired_difference(left: Mapping[int, float], right: Mapping[int, float], level: float = LEVEL) -> Estimate:
    """
    Estimate left − right over the seeds that both have.

    The paired-t interval, for two settings that were given common random numbers: Law, "Simulation Modeling and
    Analysis", 5th edition, §10.2.

    `left`, `right`: a value per seed. `level`: probability that the interval covers the true difference.
    """
    return student_interval([left[seed] - right[seed] for seed in left if seed in right], level)


def chance_above(estimate: Estimate, bound: float, level: float = LEVEL) -> float:
    """
    Return how likely a mean so far above a bound is, if the true mean were at the bound.

    The one-sided test that belongs to `student_interval`: below (1 − level) ÷ 2 where the whole interval is above.

    `estimate`: of independent values, one per run. `bound`: in the unit of the values. `level`: that of the estimate's
    interval. Returns a probability; NaN where fewer than two values leave the spread unknown.
    """
    if not estimate.is_bounded or estimate.count < 2:
        return math.nan
    if not estimate.half_width:
        return 0.0 if estimate.mean > bound else 1.0
    from scipy import stats

    freedom = estimate.count - 1
    error = estimate.half_width / float(stats.t.ppf((1 + level) / 2, freedom))
    return float(stats.t.sf((estimate.mean - bound) / error, freedom))


def discoveries(chances: Sequence[float], rate: float = (1 - LEVEL) / 2) -> list[bool]:
    """
    Choose, of many tests made at once, those that chance alone does not explain.

    Benjamini and Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995
    (from memory): with the chances in rising order, all up to the last one that is at most rate · place ÷ number.
    That any is chosen is Simes' test of all together (Biometrika 73, 1986), which bears that tests share runs.

    `chances`: the chance of each, from a test by itself. `rate`: share of false ones among those that are chosen, on
    average at most.
    """
    ranked = sorted(chances)
    places = [place for place, chance in enumerate(ranked, 1) if chance <= rate * place / len(ranked)]
    return [bool(places) and chance <= ranked[places[-1] - 1] for chance in chances]


def wilson_interval(successes: int, total: int, level: float = LEVEL) -> Estimate:
    """
    Estimate a proportion from independent trials.

    The score interval: Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22, 1927. Flows of one run are not independent, so that their true interval is
    wider.

    `successes`: number of successful trials, 0 … `total`. `total`: number of trials. `level`: probability that the
    interval covers the true proportion. Returns with `total` as its count. Raises `ValueError` if `successes` lies
    outside of 0 … `total`.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} trials: expected 0 to {total}")
    if total == 0:
        return NOTHING
    interval = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    return Estimate(successes / total, float(interval.low), float(interval.high), total)


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> float:
    """
    Average values that stand for different numbers of flows.

    `values`: one value per run. `weights`: what each stands for, such as its number of flows. Returns σ w·x ÷ Σ w; NaN
    when nothing has weight.
    """
    weight = np.asarray(weights, dtype=float)
    if weight.sum() == 0:
        return math.nan
    return float(np.average(np.asarray(values, dtype=float), weights=weight))


def interpolate(x: ArrayLike, y: ArrayLike, at: float) -> float:
    """
    Read a curve between its points by straight lines.

    `x`, `y`: the curve's points, `x` rising. `at`: where to read. Returns the height there; NaN outside of the curve's
    range.
    """
    return float(np.interp(at, np.asarray(x), np.asarray(y), left=math.nan, right=math.nan))


def crossing(x: ArrayLike, y: ArrayLike, target: float) -> float:
    """
    Find where a curve first reaches a value, by straight lines between its points.

    `x`, `y`: the curve's points, `x` rising. `target`: the value to reach from below. Returns the smallest `x` at which
    the curve is at least `target`; NaN if it never is.
    """
    places, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    reached = np.flatnonzero(heights >= target)
    if reached.size == 0:
        return math.nan
    first = int(reached[0])
    if first == 0:
        return float(places[0])
    return float(np.interp(target, heights[first - 1 : first + 1], places[first - 1 : first + 1]))
