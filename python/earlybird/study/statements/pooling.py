"""Averages what several runs showed: each weighs as many as its flows."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from earlybird.statistics import crossing, interpolate, weighted_mean
from earlybird.study.reductions import bursts
from earlybird.study.reductions.observations import Observation

Pool = Sequence[Observation]
"""Runs that are averaged, each with the weight of its flows."""
BY_DELAY = ("late-share", "late-units", "silences")
"""Measures of lateness, which need the coordinate ``delay``."""


def success_curve(pool: Pool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the success rates of runs; return start-up delays in seconds, from 0, and the shares of flows in time."""
    if not pool:
        return np.zeros(1), np.zeros(1)
    share = np.average([run.success for run in pool], axis=0, weights=[run.flows for run in pool])
    return np.concatenate(([0.0], pool[0].delays)), np.concatenate(([0.0], share))


def success_at(pool: Pool, delay: float) -> float:
    """Return the share of flows in time at a start-up delay in seconds."""
    return interpolate(*success_curve(pool), delay)


def late_at(metric: str, pool: Pool, delay: float) -> float:
    """Average a measure of lateness at a start-up delay in seconds over runs."""
    if not pool:
        return math.nan
    mean = np.average([run.late[metric] for run in pool], axis=0, weights=[run.flows for run in pool])
    return interpolate(pool[0].delays, mean, delay)


def mean_of(metric: str) -> Callable[[Pool], float]:
    """Return what averages the values of a metric that are known."""

    def mean(pool: Pool) -> float:
        known = [(run.values[metric], run.flows) for run in pool if math.isfinite(run.values.get(metric, math.nan))]
        return weighted_mean(*zip(*known, strict=True)) if known else math.nan

    return mean


def _freeze(pool: Pool) -> float:
    timeouts = mean_of("rto")(pool)
    return mean_of("sft")(pool) / timeouts if timeouts else math.nan


def _untriggered_share(pool: Pool) -> float:
    timeouts = mean_of("rto")(pool)
    return mean_of("rto-untriggered")(pool) / timeouts if timeouts else math.nan


def _half_delay(pool: Pool) -> float:
    return crossing(*success_curve(pool), 0.5)


def _extreme(metric: str, choose: Callable[[Sequence[float]], float]) -> Callable[[Pool], float]:
    def extreme(pool: Pool) -> float:
        known = [value for run in pool if math.isfinite(value := run.values.get(metric, math.nan))]
        return choose(known) if known else math.nan

    return extreme


POOLED: dict[str, Callable[[Pool], float]] = {
    "freeze": _freeze,
    "half-delay": _half_delay,
    "rto-untriggered-share": _untriggered_share,
    "timer-least": _extreme("timer-least", min),
    "timer-most": _extreme("timer-most", max),
    "success-falls": _extreme("success-falls", max),
    "burst-threshold": bursts.threshold,
    "burst-growth-least": bursts.least_growth,
    "burst-growth-most": bursts.most_growth,
    "buffer-correlation": bursts.buffer_correlation,
}
"""Metrics that are not the mean of one value per run, weighted with its flows."""
