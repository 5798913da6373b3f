"""The share of packets that a path loses, as a sample of so many packets shows it."""

from __future__ import annotations

import dataclasses
import math
from typing import Final

import numpy as np

from earlybird.statistics import LEVEL

HALVINGS: Final = 60  # of an interval of shares: more than a double tells apart
NARROW: Final = 1.25
"""Ratio of the ends of an interval up to which it is one number: the plan's answer is not looked at for both ends."""
ENOUGH: Final = 2000
"""Packets that tell 0.15 % of losses from none (3 ÷ 2000, the "rule of three": Hanley and Lippman-Hand, JAMA 1983)."""
MORE: Final = 20  # times as many packets narrow an interval to less than a quarter


def exact_interval(lost: int, sent: int, level: float = LEVEL) -> tuple[float, float]:
    """
    Return the shares for which neither so few nor so many losses would be a surprise.

    The exact interval of a binomial share: Clopper and Pearson, Biometrika 26, 1934. Each side has half of what `level`
    leaves, so that of 100 packets without a loss up to 3 % may be lost at a level of 90 %.
    """
    tail = (1 - level) / 2
    low = 0.0 if lost == 0 else _share_at(lost - 1, sent, 1 - tail)
    high = 1.0 if lost == sent else _share_at(lost, sent, tail)
    return low, high


def _share_at(most: int, sent: int, chance: float) -> float:
    """Return the share at which at most so many are lost with this chance, by halving."""
    low, high = 0.0, 1.0
    counts = np.arange(most + 1)
    choices = math.lgamma(sent + 1) - np.array([math.lgamma(k + 1) + math.lgamma(sent - k + 1) for k in counts])
    for _ in range(HALVINGS):
        share = (low + high) / 2
        terms = choices + counts * math.log(share) + (sent - counts) * math.log1p(-share)
        if np.exp(terms).sum() > chance:
            low = share
        else:
            high = share
    return (low + high) / 2


@dataclasses.dataclass(frozen=True)
class LossSample:
    """Packets that were sent, and how many of them were lost, in runs of a mean length."""

    lost: int
    sent: int
    mean_burst: float = 1.0

    @property
    def share(self) -> float:
        """The share that was lost."""
        return self.lost / self.sent

    @property
    def interval(self) -> tuple[float, float]:
        """
        The shares that may have led to this sample, at 90 %.

        Losses in runs are fewer independent observations: with a mean run of b packets the variance of Gilbert's
        channel is 2b − 1 times that of independent losses, so that the sample counts as so many times smaller.
        """
        factor = 2 * max(self.mean_burst, 1.0) - 1
        sent = max(round(self.sent / factor), 1)
        lost = min(max(round(self.lost / factor), 1 if self.lost else 0), sent)
        low, high = exact_interval(lost, sent)
        return min(low, self.share), max(high, self.share)

    @property
    def is_narrow(self) -> bool:
        """Whether both ends are as good as one number."""
        low, high = self.interval
        return high <= NARROW * low

    @property
    def wanted(self) -> int:
        """The number of packets to send in the next measurement, rounded to a digit."""
        number = max(MORE * self.sent, ENOUGH)
        unit = 10.0 ** math.floor(math.log10(number))
        return round(math.ceil(number / unit) * unit)

    def __str__(self) -> str:
        """Write the counts."""
        return f"{self.lost} of {self.sent} lost"


def share_text(share: float) -> str:
    """Write a share of lost packets with two digits."""
    return "nothing" if share == 0 else f"{100 * share:.2g} %"
