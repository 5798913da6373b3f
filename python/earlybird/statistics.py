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

LEVEL = 0.90  # confidence level of an interval when none is given


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval."""

    mean: float  # arithmetic mean of the values; NaN without values
    low: float  # lower end of the interval; minus infinity when fewer than two values leave the spread unknown
    high: float  # upper end of the interval, or infinity
    count: int  # number of values

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


NOTHING = Estimate(math.nan, -math.inf, math.inf, 0)  # the estimate from no values


def student_interval(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Estimate a mean from independent values: ± t·s/√n, n − 1 degrees of freedom (Student, Biometrika 6, 1908)."""
    if not values:
        return NOTHING
    mean = float(np.mean(values))
    if len(values) == 1:
        return Estimate(mean, -math.inf, math.inf, 1)
    quantile = float(stats.t.ppf((1 + level) / 2, len(values) - 1))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return Estimate(mean, mean - half, mean + half, len(values))


def paired_difference(left: Mapping[int, float], right: Mapping[int, float], level: float = LEVEL) -> Estimate:
    """Estimate left − right over common seeds (paired t: Law, "Simulation Modeling and Analysis", 5th ed., §10.2)."""
    return student_interval([left[seed] - right[seed] for seed in left if seed in right], level)


def chance_above(estimate: Estimate, bound: float, level: float = LEVEL) -> float:
    """Return the one-sided chance of a mean so far above `bound`, were the true mean there; NaN of one value."""
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
    Choose, of many tests made at once, those that chance alone does not explain; `rate` of them are false.

    Benjamini and Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995
    (from memory): with the chances in rising order, all up to the last one that is at most rate · place ÷ number. That
    any is chosen is Simes' test of all together (Biometrika 73, 1986), which bears that tests share runs.
    """
    ranked = sorted(chances)
    places = [place for place, chance in enumerate(ranked, 1) if chance <= rate * place / len(ranked)]
    return [bool(places) and chance <= ranked[places[-1] - 1] for chance in chances]


def wilson_interval(successes: int, total: int, level: float = LEVEL) -> Estimate:
    """
    Estimate a proportion from independent trials; flows of one run are not, their interval is wider.

    The score interval: Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22, 1927.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} successes of {total} trials: expected 0 to {total}")
    if total == 0:
        return NOTHING
    interval = stats.binomtest(successes, total).proportion_ci(level, method="wilson")
    return Estimate(successes / total, float(interval.low), float(interval.high), total)


def weighted_mean(values: ArrayLike, weights: ArrayLike) -> float:
    """Return Σ w·x ÷ Σ w, for values that stand for different numbers of flows; NaN when nothing has weight."""
    weight = np.asarray(weights, dtype=float)
    if weight.sum() == 0:
        return math.nan
    return float(np.average(np.asarray(values, dtype=float), weights=weight))


def interpolate(x: ArrayLike, y: ArrayLike, at: float) -> float:
    """Read a curve, `x` rising, between its points by straight lines; NaN outside of its range."""
    return float(np.interp(at, np.asarray(x), np.asarray(y), left=math.nan, right=math.nan))


def crossing(x: ArrayLike, y: ArrayLike, target: float) -> float:
    """Return the smallest `x` at which a curve between its points reaches `target` from below; NaN if never."""
    places, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    reached = np.flatnonzero(heights >= target)
    if reached.size == 0:
        return math.nan
    first = int(reached[0])
    if first == 0:
        return float(places[0])
    return float(np.interp(target, heights[first - 1 : first + 1], places[first - 1 : first + 1]))
