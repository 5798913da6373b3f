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
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.statistics import LEVEL, Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NINE_OF_TEN: Final = 0.9

NOTICEABLE_FACTOR: Final = 1.1
"""A delay is worth no change of the sender if it is shorter by less than a tenth, or by less than can be noticed."""
AT_ONCE: Final = 0.1
"""Seconds up to which a program is felt to answer at once (Miller, "Response time in man-computer conversational
transactions", AFIPS 1968)."""

LOOKS: Final = (40, 80, 160)
"""
Sessions of each sender after which it is looked whether the choice is clear.

Of 40 sessions one at least needs more than nine of ten do, with a probability of 98.5 %: with fewer, what happens to
every tenth viewer may not have been seen at all, and no resampling would show it.
"""

ERROR: Final = 0.10
"""Probability that the choice would be another one with other seeds, shared out among the looks (Bonferroni)."""

RESAMPLES: Final = 2000
"""Sets of seeds that are drawn anew; a thousand and more are usual for intervals."""


@dataclasses.dataclass(frozen=True)
class Standing:
    """
    What the sessions say of the senders.

    Attributes
    ----------
    needs : tuple of Estimate
        The delay in seconds that nine of ten sessions do with, per sender, with its 90 % interval.
    choice : int
        The sender to take.
    support : tuple of float
        Per sender, the share of the resamples in which it is the one to take.
    leads : tuple of float
        Per sender, the share of the resamples in which its delay is the shortest.
    sessions : int
        Sessions of each.
    """

    needs: tuple[Estimate, ...]
    choice: int
    support: tuple[float, ...]
    leads: tuple[float, ...]
    sessions: int

    @property
    def doubt(self) -> float:
        """The share of the resamples that lead to another choice."""
        return 1 - self.support[self.choice]

    def is_clear(self, looks: int = len(LOOKS)) -> bool:
        """Return whether the doubt is small enough for one of so many looks."""
        return self.doubt <= ERROR / looks

    def contenders(self, looks: int = len(LOOKS)) -> list[int]:
        """List the senders on which the choice still depends; the others need no more sessions."""
        least = ERROR / looks / max(len(self.support) - 1, 1)
        shares = np.maximum(self.support, self.leads)
        return [place for place, share in enumerate(shares) if share > least or place == self.choice]


def choose(needs: Sequence[float] | NDArray[np.float64], noticeable: float) -> int:
    """
    Take the first sender whose delay is not noticeably longer than the shortest one.

    Parameters
    ----------
    needs
        Seconds per sender, in the order in which they are preferred; infinite where none would do.
    noticeable
        Seconds.
    """
    delays = np.asarray(needs, dtype=np.float64)
    return int(choices(delays[np.newaxis], noticeable)[0])


def choices(needs: NDArray[np.float64], noticeable: float) -> NDArray[np.int_]:
    """Choose in each row."""
    shortest = needs.min(axis=1, keepdims=True)
    enough = np.maximum(NOTICEABLE_FACTOR * shortest, shortest + noticeable)
    found: NDArray[np.int_] = (needs <= enough).argmax(axis=1)
    return found


def typical(needs: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
    """Return the delay that nine of ten sessions do with; one of theirs, as delays may be infinite."""
    return np.quantile(needs, NINE_OF_TEN, axis=axis, method="inverted_cdf")


def standing(needs: NDArray[np.float64], noticeable: float, level: float = LEVEL) -> Standing:
    """
    Look at what there is.

    Parameters
    ----------
    needs
        Seconds, a row per session and a column per sender; rows are those of one seed each.
    noticeable
        Seconds by which a delay has to be shorter to be worth a change.
    level
        Of the intervals.
    """
    sessions, redrawn, best = len(needs), _redrawn(needs), typical(needs)
    estimates = tuple(_estimate(need, drawn, sessions, level) for need, drawn in zip(best, redrawn.T, strict=True))
    support, leads = (
        _shares(places, needs.shape[1]) for places in (choices(redrawn, noticeable), redrawn.argmin(axis=1))
    )
    return Standing(estimates, choose(best, noticeable), support, leads, sessions)


def typical_estimate(needs: NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """Estimate the delay that nine of ten sessions of one sender do with."""
    return _estimate(float(typical(needs)), _redrawn(needs), len(needs), level)


def typical_difference(needs: NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """Estimate by how much the first of two columns' delays is longer; rows are seeds, and delays are finite."""
    first, second = typical(needs)
    return _estimate(float(first - second), np.subtract(*_redrawn(needs).T), len(needs), level)


def _redrawn(needs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw the sessions anew many times over; return what nine of ten do with in each set."""
    sessions = len(needs)
    # The same sessions give the same answer.
    draws = np.random.default_rng(sessions).integers(sessions, size=(RESAMPLES, sessions))
    return typical(needs[draws], axis=1)


def _estimate(value: float, redrawn: NDArray[np.float64], sessions: int, level: float) -> Estimate:
    low, high = np.quantile(redrawn, [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return Estimate(float(value), float(low), float(high), sessions)


def _shares(places: NDArray[np.int_], count: int) -> tuple[float, ...]:
    """Return how often each place occurs among all."""
    return tuple(map(float, np.bincount(places, minlength=count) / len(places)))


def is_noticeably_longer(need: float, other: float, noticeable: float) -> bool:
    """Return whether one would change the sender for the other delay."""
    return choose([need, other], noticeable) == 1
