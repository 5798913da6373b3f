"""Comparison of a sender's estimates with the papers' equations, over the round trips of its own packets."""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earlybird.models import early_thresholds, printed_timeouts, queueing_delays, retransmission_timeouts

CLOCK = 0.001  # seconds; the granularity of the senders' clock by the rules of the RFCs

Equation = Callable[[Iterable[float]], Iterator[float]]


def equation_values(series: pl.DataFrame, trace: pl.DataFrame, flow: str) -> dict[str, float]:
    """Return a sender's largest differences from the equations in seconds; none of its packets was lost."""
    round_trips = _round_trips(trace)
    payload = round_trips.filter(pl.col("seq") > 0)  # the SYN is timed for the timeout alone
    estimates: dict[str, tuple[str, pl.DataFrame, Equation]] = {
        "rto_equation_difference_s": ("rto_s", round_trips, lambda samples: retransmission_timeouts(samples, CLOCK)),
        "er_threshold_equation_difference_s": ("er_threshold_s", payload, early_thresholds),
        "queueing_delay_equation_difference_s": ("queueing_delay_s", payload, queueing_delays),
    }
    values = {
        name: _difference(series.filter(subject=flow, quantity=quantity), samples, equation)
        for name, (quantity, samples, equation) in estimates.items()
    }
    (printed, meant) = (_last(equation, round_trips) for equation in (printed_timeouts, retransmission_timeouts))
    return values | {"printed_rto_ratio": printed / meant}


def _round_trips(trace: pl.DataFrame) -> pl.DataFrame:
    """Return the arrival time of each new ACK, and the seconds since its packet was sent."""
    sent = trace.filter(pl.col("event") == "snd").select("seq", sent="time")
    came = trace.filter(pl.col("event") == "ack").unique("seq", keep="first", maintain_order=True).select("seq", "time")
    both = came.join(sent, on="seq", maintain_order="left")
    return both.select("seq", "time", round_trip=pl.col("time") - pl.col("sent"))


def _difference(sampled: pl.DataFrame, round_trips: pl.DataFrame, equation: Equation) -> float:
    known = _computed(equation, round_trips)
    places = np.searchsorted(round_trips["time"].to_numpy(), sampled["time_s"].to_numpy(), side="right") - 1
    begun = places >= 0
    return float(np.abs(sampled["value"].to_numpy()[begun] - known[places[begun]]).max(initial=0.0))


def _last(equation: Equation, round_trips: pl.DataFrame) -> float:
    return float(_computed(equation, round_trips)[-1])


def _computed(equation: Equation, round_trips: pl.DataFrame) -> NDArray[np.float64]:
    return np.fromiter(equation(round_trips["round_trip"]), dtype=np.float64)
