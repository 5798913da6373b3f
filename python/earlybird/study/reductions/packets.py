"""Metrics of the packets of one traced flow: gaps between deliveries, and the duration of a recovery."""

import math

import numpy as np
import polars as pl

AFTER = 0.4  # seconds after the loss that are shown, and a quarter of them before it


def packet_values(trace: pl.DataFrame, round_trip: float) -> dict[str, float]:
    """Return a flow's longest gap between deliveries in seconds, and its first recovery in round trips."""
    return {"max_delivery_gap_s": longest_gap(trace), "recovery_duration_rtts": recovery_time(trace) / round_trip}


def longest_gap(trace: pl.DataFrame) -> float:
    """Return the longest time in seconds in which nothing could be handed to the application."""
    arrivals = trace.filter(pl.col("event") == "dlv").select("time", "seq").rows()
    times, waiting = list[float](), set[int]()
    following = min((sequence for _, sequence in arrivals), default=0)
    for time, sequence in arrivals:
        waiting.add(sequence)
        if following in waiting:
            times.append(time)
        while following in waiting:
            waiting.remove(following)
            following += 1
    return float(np.diff(times).max()) if len(times) > 1 else math.nan


def recovery_time(trace: pl.DataFrame) -> float:
    """Return the seconds from the first retransmission until all that was sent before it is acknowledged."""
    repeats = trace.filter(pl.col("event") == "rtx")["time"].to_list()
    if not repeats:
        return math.nan
    sent = trace.filter((pl.col("event") == "snd") & (pl.col("time") < repeats[0]))["seq"].max()
    done = trace.filter((pl.col("event") == "ack") & (pl.col("seq") >= sent))["time"].to_list()
    return float(done[0] - repeats[0]) if done else math.nan


def around_the_loss(trace: pl.DataFrame) -> pl.DataFrame:
    """Cut out the events around the last loss: ``time_ms`` after it, ``event``, ``seq``."""
    losses = trace.filter(pl.col("event") == "drp")["time"].to_list()
    origin = losses[-1] if losses else 0.0
    moved = trace.select(time_ms=(pl.col("time") - origin) * 1000, event="event", seq="seq")
    return moved.filter(pl.col("time_ms").is_between(-1000 * AFTER / 4, 1000 * AFTER), pl.col("seq").is_not_null())
