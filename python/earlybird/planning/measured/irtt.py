"""Measurements from a file of `irtt client -o FILE`, compressed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError
from earlybird.losses import describe_losses
from earlybird.planning.jitter import jitter_of
from earlybird.planning.measured.text import json_of, number
from earlybird.planning.path import Measurements
from earlybird.planning.samples import LossSample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WHAT: Final = "what `irtt client -o FILE` writes"
NANOSECONDS: Final = 1e9
SPACING: Final = 1.0  # seconds between packets unless another time is asked for (irtt-client(1))


def read(path: str | Path) -> Measurements:
    """Read the round trip, losses and how they come in bursts."""
    document = json_of(path, WHAT)
    trips = document.get("round_trips")
    middle = number(document, "stats", "rtt", "median")
    if not isinstance(trips, list) or not all(isinstance(trip, dict) for trip in trips) or "stats" not in document:
        raise InputError(f"{path} is not {WHAT}: it has no `stats` and `round_trips`.")
    states = [str(trip.get("lost", "false")).lower() for trip in trips]
    pattern = describe_losses([state.startswith("true") for state in states])
    if not middle or pattern.lost == pattern.packets:
        raise InputError(f"{path}: none of {len(trips)} packets came back, which tells nothing of the line.")
    shortest = number(document, "stats", "rtt", "min") or middle
    facts = [
        f"irtt: a round trip of {1e3 * middle / NANOSECONDS:.4g} ms, the median (shortest "
        f"{1e3 * shortest / NANOSECONDS:.4g})",
        f"irtt: {pattern.lost} of {pattern.packets} packets lost, {100 * pattern.ratio:.3g} %{_direction(states)}",
    ]
    burst = pattern.mean_run if pattern.lost else 1.0
    if burst > 1:
        facts.append(
            f"irtt: {burst:.3g} lost in a row on average; packets closer together may be lost in longer bursts"
        )
    spacing = (number(document, "config", "interval") or SPACING * NANOSECONDS) / NANOSECONDS
    times = [value / NANOSECONDS for trip in trips if (value := number(trip, "delay", "rtt"))]
    jitter = jitter_of(times, spacing)
    if jitter:
        facts.append(f"irtt: {jitter}")
    return Measurements(
        round_trip=middle / NANOSECONDS,
        loss=pattern.ratio,
        loss_sample=LossSample(pattern.lost, pattern.packets, burst),
        mean_burst=burst,
        jitter=jitter,
        facts=tuple(facts),
    )


def _direction(states: Sequence[str]) -> str:
    """Return in which direction packets were lost, if the server's clock and counts told."""
    up, down = states.count("true_up"), states.count("true_down")
    if not up and not down:
        return ""
    return (
        f": {up} on the way from irtt's client to its server and {down} on the way back, all counted to the film's way;"
        " if it goes the other way, give --loss"
    )
