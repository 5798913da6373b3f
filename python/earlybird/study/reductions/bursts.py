"""Effects of single bursts of losses on a flow: per run, and from run to run as the bursts get longer."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earlybird.result import Result
    from earlybird.study.reductions.observations import Observation

LONG = 1.0  # seconds of delay from which on a burst counts as long
LARGEST_BUFFER = 10.0  # seconds of playout buffer that count as “at least that”
OF_ITS_OWN = 3  # losses in a row whose delay is a local maximum of its own; left out where growth is looked at


def burst_values(result: Result) -> dict[str, float]:
    """Reduce a run that measured bursts to means over them, and to the worst: the one with the longest delay."""
    summary, bursts = result.summary, result.bursts
    if not bursts.height:
        return {}
    worst = bursts.row(int(bursts["max_delay_s"].arg_max() or 0), named=True)
    excess = worst["max_delay_s"] - worst["model_delay_expired_rto_s"]
    return {
        "burst_delay_mean_s": summary["burst_delay_mean_s"],
        "late_segments_per_burst": summary["late_segments_per_burst"],
        "burst_model_excess_s": float(np.mean((bursts["max_delay_s"] - bursts["model_delay_s"]).to_numpy())),
        "playout_buffer_s": summary["playout_buffer_s"],
        "burst_delay_max_s": worst["max_delay_s"],
        "worst_burst_late_segments": worst["late_segments"],
        "worst_burst_fast_retransmits": worst["fast_retransmits"],
        "worst_burst_timeouts": worst["timeouts"],
        "worst_burst_model_excess_s": excess,
        "worst_burst_model_excess_rtts": 1000 * excess / summary["base_rtt_ms"],
        "excess_playout_buffer_s": summary["playout_buffer_s"] - (worst["max_delay_s"] - summary["base_delay_s"]),
    }


def delays(result: Result) -> pl.DataFrame:
    """Return the delay of every packet around the worst burst: ``delay_ms`` by ``time_s`` since its first late one."""
    bursts = result.bursts
    worst = bursts.row(int(bursts["max_delay_s"].arg_max() or 0), named=True)
    around = result.deliveries.filter(
        pl.col("flow") == worst["flow"],
        pl.col("written_s").is_between(worst["start_s"] - 0.5, worst["end_s"] + 0.5),
    )
    return around.select(
        time_s=pl.col("written_s") - worst["start_s"], delay_ms=1000 * (pl.col("delivered_s") - pl.col("written_s"))
    )


def threshold(runs: Sequence[Observation]) -> float:
    """Return the shortest burst, but for that of three, that delays a packet for more than a second."""
    long = [burst for burst, delay in _by_burst(runs).items() if delay > LONG and burst != OF_ITS_OWN]
    return float(min(long, default=math.nan))


def least_growth(runs: Sequence[Observation]) -> float:
    """Return the smallest factor by which one more loss lengthens the delay, from the first long burst on."""
    return min(_growth(runs), default=math.nan)


def most_growth(runs: Sequence[Observation]) -> float:
    """Return the largest such factor."""
    return max(_growth(runs), default=math.nan)


def buffer_correlation(runs: Sequence[Observation]) -> float:
    """Return how far delay and playout buffer go together (Pearson), where the buffer is below its limit."""
    known = [run.values for run in runs if run.values.get("playout_buffer_s", math.nan) < LARGEST_BUFFER]
    pairs = np.array([(values["burst_delay_max_s"], values["playout_buffer_s"]) for values in known])
    return float(np.corrcoef(pairs.T)[0, 1]) if len(pairs) > 1 else math.nan


def _growth(runs: Sequence[Observation]) -> list[float]:
    known, first = _by_burst(runs), threshold(runs)
    long = [delay for burst, delay in known.items() if burst >= first]
    return [following / delay for delay, following in pairwise(long)]


def _by_burst(runs: Sequence[Observation]) -> Mapping[float, float]:
    """Return the longest delay for each number of losses in a row, in rising order."""
    known = {
        float(run.axes["burst"]): run.values.get("burst_delay_max_s", math.nan) for run in runs if "burst" in run.axes
    }
    return dict(sorted(known.items()))
