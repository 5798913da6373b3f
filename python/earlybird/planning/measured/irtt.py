"""Measurements from a file of `irtt client -o FILE`, compressed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError
from earlybird.losses import describe_losses
from earlybird.planning.measured.text import json_of, number
from earlybird.planning.path import Measurements

if TYPE_CHECKING:
    from pathlib import Path

WHAT: Final = "what `irtt client -o FILE` writes"
NANOSECONDS: Final = 1e9


def read(path: str | Path) -> Measurements:
    """Read the round trip, losses and how they come in bursts."""
    document = json_of(path, WHAT)
    trips = document.get("round_trips")
    middle = number(document, "stats", "rtt", "median")
    if not isinstance(trips, list) or "stats" not in document:
        raise InputError(f"{path} is not {WHAT}: it has no `stats` and `round_trips`.")
    if not middle:
        raise InputError(f"{path}: none of {len(trips)} packets came back, which tells nothing of the line.")
    shortest = number(document, "stats", "rtt", "min") or middle
    pattern = describe_losses([str(trip.get("lost", "false")).lower().startswith("true") for trip in trips])
    facts = [
        f"irtt: a round trip of {1e3 * middle / NANOSECONDS:.4g} ms, the median (shortest "
        f"{1e3 * shortest / NANOSECONDS:.4g})",
        f"irtt: {pattern.lost} of {pattern.packets} packets lost, {100 * pattern.ratio:.3g} %",
    ]
    burst = pattern.mean_run if pattern.lost else 1.0
    if burst > 1:
        facts.append(
            f"irtt: {burst:.3g} lost in a row on average; packets closer together may be lost in longer bursts"
        )
    return Measurements(round_trip=middle / NANOSECONDS, loss=pattern.ratio, mean_burst=burst, facts=tuple(facts))
