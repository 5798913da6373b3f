"""Averages of several runs, each weighted with the number of its flows."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from earlybird.statistics import crossing, interpolate, weighted_mean
from earlybird.study.reductions import bursts
from earlybird.study.reductions.observations import Observation

Pool = Sequence[Observation]  # runs that are averaged, each with the weight of its flows
BY_DELAY = ("late_share", "late_units", "audio_gaps")  # measures of lateness, which need the coordinate ``delay``


def success_curve(pool: Pool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Average the success rates of runs; return startup delays in seconds, from 0, and the shares of flows in time."""
    if not pool:
        return np.zeros(1), np.zeros(1)
    share = np.average([run.success for run in pool], axis=0, weights=[run.flows for run in pool])
    return np.concatenate(([0.0], pool[0].delays)), np.concatenate(([0.0], share))


def success_at(pool: Pool, delay: float) -> float:
    """Return the share of flows in time at a startup delay in seconds."""
    return interpolate(*success_curve(pool), delay)


def late_at(metric: str, pool: Pool, delay: float) -> float:
    """Average a measure of lateness at a startup delay in seconds over runs."""
    if not pool:
        return math.nan
    mean = np.average([run.late[metric] for run in pool], axis=0, weights=[run.flows for run in pool])
    return interpolate(pool[0].delays, mean, delay)


def mean_of(metric: str) -> Callable[[Pool], float]:
    """Return the function that averages the finite values of a metric."""

    def mean(pool: Pool) -> float:
        known = [(run.values[metric], run.flows) for run in pool if math.isfinite(run.values.get(metric, math.nan))]
        return weighted_mean(*zip(*known, strict=True)) if known else math.nan

    return mean


def _per_timeout(metric: str) -> Callable[[Pool], float]:
    def ratio(pool: Pool) -> float:
        timeouts = mean_of("rto_count")(pool)
        return mean_of(metric)(pool) / timeouts if timeouts else math.nan

    return ratio


def _extreme(metric: str, choose: Callable[[Sequence[float]], float]) -> Callable[[Pool], float]:
    def extreme(pool: Pool) -> float:
        known = [value for run in pool if math.isfinite(value := run.values.get(metric, math.nan))]
        return choose(known) if known else math.nan

    return extreme


POOLED: dict[str, Callable[[Pool], float]] = {
    "mean_freeze_s": _per_timeout("frozen_s"),
    "half_on_time_startup_delay_s": lambda pool: crossing(*success_curve(pool), 0.5),
    "rto_without_fast_retransmit_share": _per_timeout("rto_without_fast_retransmit"),
    "min_expired_rto_s": _extreme("min_expired_rto_s", min),
    "max_expired_rto_s": _extreme("max_expired_rto_s", max),
    "on_time_share_largest_fall": _extreme("on_time_share_largest_fall", max),
    "min_long_delay_burst_length": bursts.threshold,
    "burst_delay_min_growth": bursts.least_growth,
    "burst_delay_max_growth": bursts.most_growth,
    "delay_buffer_correlation": bursts.buffer_correlation,
}
"""Metrics that are not the mean of one value per run, weighted with its flows."""
