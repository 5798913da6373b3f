"""
Which sender to take, decided from as few sessions as it takes.

What counts of a sender is the delay that nine of ten sessions do with. All senders are given the same seeds, so that
they meet the same starts and losses (common random numbers). How sure a choice is, the paired bootstrap tells (Efron
and Tibshirani, "An Introduction to the Bootstrap", 1993, §8 and §13): seeds are drawn anew many times over, with all
that the senders made of each, and the choice is made anew from each such set. Sessions are added until hardly a set
leads elsewhere.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.statistics import LEVEL, Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

QUANTILE: Final = 0.9

NOTICEABLE_FACTOR: Final = 1.1
"""A delay is worth no change of the sender if it is shorter by less than a tenth, or by less than can be noticed."""
NOTICEABLE_SECONDS: Final = 0.1
"""Seconds up to which a program is felt to answer at once (Miller, "Response time in man-computer conversational
transactions", AFIPS 1968)."""

SAMPLE_SIZES: Final = (40, 80, 160)
"""
Sessions of each sender after which it is looked whether the choice is clear.

Of 40 sessions one at least needs more than nine of ten do, with a probability of 98.5 %: with fewer, what happens to
every tenth viewer may not have been seen at all, and no resampling would show it.
"""

ERROR_PROBABILITY: Final = 0.10
"""Probability that the choice would be another one with other seeds, shared out among the looks (Bonferroni)."""

RESAMPLES: Final = 2000  # sets of seeds that are drawn anew; a thousand and more are usual for intervals


@dataclasses.dataclass(frozen=True)
class Ranking:
    """Candidates ranked by their sessions; `support`: share of the resamples in which each is taken."""

    delays_needed: tuple[Estimate, ...]
    choice: int
    support: tuple[float, ...]
    sessions: int
    resampled: NDArray[np.float64] = dataclasses.field(repr=False)  # delay needed: a row per resample, a column each
    noticeable: float  # seconds

    @property
    def doubt(self) -> float:
        """The share of the resamples that lead to another choice."""
        return 1 - self.support[self.choice]

    def is_clear(self, tests: int = len(SAMPLE_SIZES)) -> bool:
        """Return whether the doubt is small enough for one of so many looks, at enough sessions."""
        return self.sessions >= SAMPLE_SIZES[0] and self.doubt <= ERROR_PROBABILITY / tests

    def contenders(self, tests: int = len(SAMPLE_SIZES)) -> list[int]:
        """
        List the senders on which the choice still depends; the others need no more sessions.

        Without the others hardly a resample leads to another choice. The quickest is left out too if a preferred one
        hardly needs more; it stays if it is what keeps a slow one from being chosen.
        """
        least = ERROR_PROBABILITY / tests / max(len(self.support) - 1, 1)
        kept, chosen = list(range(len(self.support))), choices(self.resampled, self.noticeable)
        for place in reversed(kept[:]):
            fewer = [one for one in kept if one != place]
            if place != self.choice:
                without = np.array(fewer)[choices(self.resampled[:, fewer], self.noticeable)]
                kept = fewer if np.mean(without != chosen) <= least else kept
        return kept

    def returning(self, running: Sequence[int], delays_needed: Sequence[float]) -> list[int]:
        """List who else would be taken, of all senders with these delays in seconds, of which some were ranked."""
        known = np.tile(np.asarray(delays_needed, dtype=np.float64), (len(self.resampled), 1))
        known[:, running] = self.resampled
        shares = _shares(choices(known, self.noticeable), len(delays_needed))
        least = ERROR_PROBABILITY / len(SAMPLE_SIZES) / max(len(delays_needed) - 1, 1)
        return [place for place, share in enumerate(shares) if share > least and place not in running]


def choose(delays_needed: Sequence[float] | NDArray[np.float64], noticeable: float) -> int:
    """Take the first sender, as preferred, whose delay in seconds is not noticeably longer than the shortest."""
    delays = np.asarray(delays_needed, dtype=np.float64)
    return int(choices(delays[np.newaxis], noticeable)[0])


def choices(delays_needed: NDArray[np.float64], noticeable: float) -> NDArray[np.int_]:
    """Choose in each row."""
    shortest = delays_needed.min(axis=1, keepdims=True)
    enough = np.maximum(NOTICEABLE_FACTOR * shortest, shortest + noticeable)
    found: NDArray[np.int_] = (delays_needed <= enough).argmax(axis=1)
    return found


def quantile_of_sessions(delays_needed: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Return the delay that nine of ten sessions do with; one of theirs, as delays may be infinite."""
    return np.quantile(delays_needed, QUANTILE, axis=axis, method="inverted_cdf")


def rank(delays_needed: NDArray[np.float64], noticeable: float, level: float = LEVEL) -> Ranking:
    """Rank the candidates by delays in seconds: a row per session (of one seed), a column per sender."""
    sessions, resampled, best = len(delays_needed), _resampled(delays_needed), quantile_of_sessions(delays_needed)
    estimates = tuple(quantile_estimate(column, level) for column in delays_needed.T)
    support = _shares(choices(resampled, noticeable), delays_needed.shape[1])
    return Ranking(estimates, choose(best, noticeable), support, sessions, resampled, noticeable)


def quantile_estimate(delays_needed: NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """
    Estimate the delay that nine of ten sessions of one sender do with.

    The interval is the distribution-free one, between two of the sessions in order (Conover, "Practical nonparametric
    statistics", 1999, §3.2). Its upper end is infinite for fewer than 29 sessions at 90 %: the longest of them may
    still be shorter than what every tenth viewer needs.
    """
    count = len(delays_needed)
    below, within = np.searchsorted(_sessions_within(count), [(1 - level) / 2, (1 + level) / 2])
    ordered = [-math.inf, *np.sort(delays_needed).tolist(), math.inf]
    return Estimate(float(quantile_of_sessions(delays_needed)), ordered[below], ordered[within + 1], count)


def _sessions_within(count: int) -> NDArray[np.float64]:
    """Return the probabilities that at most 0, 1, 2, … of so many sessions do with the quantile: a binomial sum."""
    numbers = np.arange(count + 1)
    logarithms = math.lgamma(count + 1) - np.array([math.lgamma(k + 1) + math.lgamma(count - k + 1) for k in numbers])
    chances = np.exp(logarithms + numbers * math.log(QUANTILE) + (count - numbers) * math.log1p(-QUANTILE))
    cumulated: NDArray[np.float64] = np.cumsum(chances)
    return cumulated


def quantile_difference(delays_needed: NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """Estimate by how much the first of two columns' delays is longer; rows are seeds, and delays are finite."""
    first, second = quantile_of_sessions(delays_needed)
    differences = np.subtract(*_resampled(delays_needed).T)
    low, high = np.quantile(differences, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return Estimate(float(first - second), float(low), float(high), len(delays_needed))


def _resampled(delays_needed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Resample the sessions many times; return the delay that suffices for nine of ten in each sample."""
    sessions = len(delays_needed)
    # The same sessions give the same answer.
    draws = np.random.default_rng(sessions).integers(sessions, size=(RESAMPLES, sessions))
    return quantile_of_sessions(delays_needed[draws], axis=1)


def _shares(places: NDArray[np.int_], count: int) -> tuple[float, ...]:
    """Return how often each place occurs among all."""
    return tuple(map(float, np.bincount(places, minlength=count) / len(places)))


def is_noticeably_longer(delay_needed: float, other: float, noticeable: float) -> bool:
    """Return whether one would change the sender for the other delay."""
    return choose([delay_needed, other], noticeable) == 1
