"""The way from a sender to its viewers, as `earlybird plan` takes it: one line, and what is known of it."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.emulation import link
from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.planning.beside import NONE
from earlybird.quantities import complete_rate, parse_duration, parse_rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

    from earlybird.planning.jitter import Jitter
    from earlybird.planning.samples import LossSample
else:
    np = LateModule("numpy")  # completion lists the profiles, which needs none of it

FEWEST_BYTES: Final = 15_000
"""Bytes of the smallest queue: ten full packets, without which no window can grow on a slow line."""

CAKE: Final = "cake"
SHAPED: Final = 0.95
"""Share of a measured rate to which a shaper is set, so that the queue forms there (OpenWrt, "SQM Details")."""

LEAST_QUEUE: Final = 1500  # bytes of a packet

PLACES: Final = 20
"""Places of a long trace at which sessions begin: as often as not each is the start of two of the 40 sessions."""

LONGEST_ROUND_TRIP: Final = 60.0  # seconds, the least limit of a timeout (RFC 6298 §2.5): TCP has no longer ones
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
    loss_sample: LossSample | None = None  # the packets of which `loss` is the share
    jitter: Jitter | None = None  # of round trips over the idle line
    longest_unlisted: float | None = None  # seconds of the longest round trip of a measurement that lists none
    longest_transfer: float | None = None  # seconds of the longest round trip while a transfer filled the line
    may_be_faster: bool | None = None  # whether the measurement sent less than the line may carry
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
        if "rate" in known and "may_be_faster" not in known:
            known["may_be_faster"] = None
        if "loss" in known and "loss_sample" not in known:
            known["loss_sample"] = None
        if "round_trip" in known:
            known = {"jitter": None, "longest_unlisted": None, **known}
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
    queue_is_assumed: bool = False  # neither given nor measured: a round trip, or a profile's
    trace: tuple[int, ...] | None = None
    loss_sample: LossSample | None = None
    beside: str = NONE  # the other traffic on the line
    viewers: int = 1  # of the film over this line
    outages: tuple[str, ...] = ()  # as `earlybird emulate` takes them; so are the two below
    policer: str | None = None
    arq: str | None = None
    jitter: Jitter | None = None
    longest_unlisted: float | None = None
    may_be_faster: bool = False  # the rate is only what a measurement sent
    facts: tuple[str, ...] = ()

    @property
    def loss_ends(self) -> tuple[float, ...]:
        """The ends of the interval of losses, where that is known and wide."""
        return () if self.loss_sample is None or self.loss_sample.is_narrow else self.loss_sample.interval

    def starts(self, seconds: float) -> tuple[int, ...]:
        """Return the milliseconds of the trace at which sessions of so many seconds begin: all over a longer one."""
        length = self.trace[-1] if self.trace else 0
        if length <= 1e3 * seconds:
            return (0,)
        return tuple(round(length * place / PLACES) for place in range(PLACES))

    def from_start(self, start: int, seconds: float) -> NetworkPath:
        """Return the line with its trace from this millisecond on, for so many seconds; the trace is repeated."""
        if self.trace is None or (not start and self.trace[-1] <= 1e3 * seconds):
            return self
        length, end = self.trace[-1], round(1e3 * seconds)
        times = np.array(self.trace, dtype=np.int64)
        rounds = math.ceil((start + end) / length)
        every = (times + length * np.arange(rounds + 1)[:, np.newaxis]).ravel() - start
        part = every[(every > 0) & (every <= end)]
        return dataclasses.replace(self, trace=(*part.tolist(), end))

    def with_traffic(self, beside: str) -> NetworkPath:
        """Return the same line with other traffic on it."""
        return dataclasses.replace(self, beside=beside, loss_sample=None)

    def with_queue(self, queue: str) -> NetworkPath:
        """Return the same line with another queue."""
        return dataclasses.replace(self, queue=queue, queue_is_assumed=False, loss_sample=None)

    def with_cake(self) -> NetworkPath:
        """Return the same line with CAKE in front of it, which shapes what comes to a part of the line's rate."""
        return dataclasses.replace(self.with_queue(CAKE), rate=SHAPED * self.passing_rate, policer=None)

    @property
    def passing_rate(self) -> float:
        """Bits per second that pass for long: of the line, or of a policer in front of it."""
        if self.policer is None:
            return self.rate
        return min(self.rate, parse_rate(complete_rate(self.policer.partition(",")[0]), "policer"))

    def with_loss(self, share: float) -> NetworkPath:
        """Return the same line with another share of losses."""
        return dataclasses.replace(self, loss=share, loss_sample=None)

    @property
    def shortest_round_trip(self) -> float:
        """Seconds of a round trip without jitter."""
        return self.jitter.shortest if self.jitter else self.round_trip

    @property
    def volume(self) -> float:
        """Bytes that are under way when the line is full and its queue empty."""
        return self.rate * self.round_trip / 8

    def network(self, lead: float = 0.0) -> dict[str, Any]:
        """Write the line as the `network` of a scenario, from `sender` to `viewer`; outages count from `lead` on."""
        delay = f"{round(1e9 * self.shortest_round_trip / 2)}ns"
        back = link(rate=f"{round(self.rate)}b/s", delay=delay)
        own: dict[str, Any] = {"queue": self.queue, "outages": self.outages, "policer": self.policer, "arq": self.arq}
        there = link(rate=f"{round(self.rate)}b/s", delay=delay, **own)
        for outage in there.get("outages", []):
            start = parse_duration(outage["start"])
            if lead and start is not None:  # else the core tells what is wrong
                outage["start"] = f"{round(1e6 * (start + lead))}us"
        if self.trace:
            there = {key: value for key, value in there.items() if key != "rate"} | {"trace": list(self.trace)}
        if self.jitter:
            # On one direction, that of the film: round trips then have the measured distribution.
            there["jitter"] = self.jitter.keys()
        if self.loss:
            there["loss"] = [self._loss(), *there.get("loss", [])]
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
    if findings.round_trip > LONGEST_ROUND_TRIP:
        raise InputError(
            f"rtt = {findings.round_trip:.6g}s: a round trip of up to {LONGEST_ROUND_TRIP:g} s, such as 60ms."
        )
    loss, burst = findings.loss or 0.0, findings.mean_burst or 1.0
    if not 0 <= loss < 1:
        hint = " Did you mean 1%? 1 is all of them." if loss == 1 else ""
        raise InputError(f"loss = {loss:g}: a share of the packets from 0 to below 1, such as 1%.{hint}")
    if burst < 1 or not math.isfinite(burst):
        raise InputError(f"burst = {burst:g}: packets that are lost one behind the other on average, from 1.")
    round_trip = max(findings.round_trip, LEAST_ROUND_TRIP)
    return NetworkPath(
        rate=findings.rate,
        round_trip=round_trip,
        loss=loss,
        mean_burst=burst,
        queue=_queue(findings, findings.rate, round_trip),
        queue_is_assumed=not findings.queue and not findings.longest_transfer,
        trace=findings.trace,
        loss_sample=findings.loss_sample,
        jitter=findings.jitter,
        longest_unlisted=findings.longest_unlisted,
        may_be_faster=bool(findings.may_be_faster),
        facts=findings.facts,
    )


def _queue(findings: Measurements, rate: float, round_trip: float) -> str:
    """Return the queue: one that was given, in time too; that a transfer was seen to fill; or one round trip."""
    if findings.queue and not _is_duration(findings.queue):
        return findings.queue
    if findings.queue:
        seconds = parse_duration(findings.queue) or 0.0
        return f"{max(round(rate * seconds / 8), LEAST_QUEUE)}B"
    waited = max((findings.longest_transfer or 0.0) - round_trip, round_trip)
    return f"{max(round(rate * waited / 8), FEWEST_BYTES)}B"


def _is_duration(text: str) -> bool:
    """Return whether a queue is stated as a time."""
    return text.endswith("s") and parse_duration(text) is not None


def _sentence(findings: Measurements) -> str:
    """Repeat what was found, behind what is missing."""
    return f" So far: {'; '.join(findings.facts)}." if findings.facts else ""
