"""The way from a sender to its viewers, as `earlybird plan` takes it: one line, and what is known of it."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.emulation import link
from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

FEWEST_BYTES: Final = 15_000
"""Bytes of the smallest queue: ten full packets, without which no window can grow on a slow line."""

LEAST_ROUND_TRIP: Final = 0.0001  # seconds; shorter ones are those of one machine


@dataclasses.dataclass(frozen=True)
class Measurements:
    """Known properties of a path; None is unknown."""

    rate: float | None = None  # bits per second
    round_trip: float | None = None  # seconds without a queue
    loss: float | None = None  # share that gets lost whatever the sender does
    mean_burst: float | None = None  # packets lost in a row; 1 if independently
    queue: str | None = None  # as `earlybird emulate` takes it
    trace: tuple[int, ...] | None = None  # delivery opportunities of 1500 bytes in ms, instead of a rate (mahimahi)
    facts: tuple[str, ...] = ()  # origins of the values, a sentence each

    def updated_with(self, other: Measurements) -> Measurements:
        """Return these findings, with the others' in their place where those know better."""
        known = {
            field.name: value
            for field in dataclasses.fields(other)
            if field.name != "facts" and (value := getattr(other, field.name)) is not None
        }
        if "rate" in known and "trace" not in known:
            known["trace"] = None
        return dataclasses.replace(self, **known, facts=(*self.facts, *other.facts))


def merged(findings: Iterable[Measurements]) -> Measurements:
    """Put findings together; the later ones count."""
    result = Measurements()
    for one in findings:
        result = result.updated_with(one)
    return result


@dataclasses.dataclass(frozen=True)
class NetworkPath:
    """A line from the sender to the viewers and back, with the same delay and rate both ways; as `Measurements`."""

    rate: float
    round_trip: float
    loss: float
    mean_burst: float
    queue: str
    trace: tuple[int, ...] | None = None
    facts: tuple[str, ...] = ()

    @property
    def volume(self) -> float:
        """Bytes that are under way when the line is full and its queue empty."""
        return self.rate * self.round_trip / 8

    def network(self) -> dict[str, Any]:
        """Write the line as the `network` of a scenario, from `sender` to `viewer`."""
        delay = f"{round(1e9 * self.round_trip / 2)}ns"
        back = link(rate=f"{round(self.rate)}b/s", delay=delay)
        there = {**back, **link(rate=f"{round(self.rate)}b/s", delay=delay, queue=self.queue)}
        if self.trace:
            there = {key: value for key, value in there.items() if key != "rate"} | {"trace": list(self.trace)}
        if self.loss:
            there["loss"] = [self._loss()]
        return {"links": [{"from": "sender", "to": "viewer", **there, "reverse": back}]}

    def _loss(self) -> dict[str, Any]:
        """Gilbert's channel where losses come in bursts that are longer than chance makes them."""
        if self.mean_burst <= 1 / (1 - self.loss):
            return {"bernoulli": {"probability": self.loss}}
        return {"gilbert": {"ratio": self.loss, "mean-burst": self.mean_burst}}


def completed(findings: Measurements) -> NetworkPath:
    """Complete findings to a line: by default without losses, with a queue of one round trip, the usual rule."""
    if findings.rate is None:
        raise InputError(
            f"how fast is the line? Give --rate, such as --rate 20Mb/s, or --profile dsl.{_sentence(findings)}"
        )
    if findings.round_trip is None:
        raise InputError(
            f"how long is the round trip? Give --rtt, such as --rtt 60ms, or --from-ping FILE.{_sentence(findings)}"
        )
    loss, burst = findings.loss or 0.0, findings.mean_burst or 1.0
    if not 0 <= loss < 1:
        raise InputError(f"loss = {loss:g}: a share of the packets from 0 to below 1, such as 1%.")
    if burst < 1 or not math.isfinite(burst):
        raise InputError(f"burst = {burst:g}: packets that are lost one behind the other on average, from 1.")
    round_trip = max(findings.round_trip, LEAST_ROUND_TRIP)
    queue = findings.queue or f"{max(round(findings.rate * round_trip / 8), FEWEST_BYTES)}B"
    return NetworkPath(findings.rate, round_trip, loss, burst, queue, findings.trace, findings.facts)


def _sentence(findings: Measurements) -> str:
    """Repeat what was found, behind what is missing."""
    return f" So far: {'; '.join(findings.facts)}." if findings.facts else ""
