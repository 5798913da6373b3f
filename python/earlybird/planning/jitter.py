"""Jitter of an idle path, as samples of its round trips show it."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
else:
    np = LateModule("numpy")  # completion lists the profiles, which needs none of it

LEAST: Final = 0.001
"""Seconds by which round trips have to differ: shorter ones are those of the machine that measures."""

STEPS: Final = 100
"""Steps of probability between the quantiles of a distribution at most."""

SURPRISE: Final = 1.96
"""Standard deviations of an autocorrelation that hardly ever result without one; one is 1/√n (Box, Jenkins and Reinsel,
"Time Series Analysis", 1994, §2.1.6)."""

MOST: Final = 0.95  # the largest correlation of successive samples that is taken over


@dataclasses.dataclass(frozen=True)
class Jitter:
    """Round trips of an idle path, in seconds."""

    shortest: float
    quantiles: tuple[float, ...]  # of what is added to the shortest, at equal steps of probability
    correlation_time: float  # after which a part of e⁻¹ of the correlation is left
    is_seen: bool  # whether the samples show that time; else it is the longest that they may hide, up to their spacing

    @property
    def longest(self) -> float:
        """The longest round trip."""
        return self.shortest + self.quantiles[-1]

    def keys(self) -> dict[str, Any]:
        """Write it as the `jitter` of a link."""
        quantiles = [f"{round(1e6 * value)}us" for value in self.quantiles]
        return {
            "distribution": {"quantiles": quantiles},
            "correlation-time": f"{max(round(1e6 * self.correlation_time), 1)}us",
        }

    def __str__(self) -> str:
        """Write the range, and how fast round trips change."""
        span = f"round trips of {1e3 * self.shortest:.4g} to {1e3 * self.longest:.4g} ms"
        most = "" if self.is_seen else " at most"
        return f"{span}, correlated over {self.correlation_time:.2g} s{most}"


def jitter_of(samples: Sequence[float], spacing: float) -> Jitter | None:
    """Return the jitter that samples show, in seconds and `spacing` apart; None if round trips hardly differ."""
    if len(samples) < 2 or max(samples) - min(samples) < LEAST:
        return None
    times = np.asarray(samples, dtype=np.float64)
    shares = np.linspace(0, 1, min(len(times), STEPS + 1))
    shortest = float(times.min())
    seen, hidden = _autocorrelation(times), SURPRISE / math.sqrt(len(times))
    correlation = min(max(seen, min(hidden, math.exp(-1))), MOST)
    added = np.quantile(times, shares) - shortest
    return Jitter(shortest, tuple(map(float, added)), -spacing / math.log(correlation), seen > hidden)


def _autocorrelation(times: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the correlation of successive samples."""
    apart = times - times.mean()
    return float(apart[1:] @ apart[:-1] / (apart @ apart))
