"""A queue and its transmitter, served again packet by packet."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .reading import Arrival
    from .scenario import Link

TICK: Final = 1.5e-6
"""Times in traces are rounded to the microsecond: what lies closer together may be in either order."""

OPPORTUNITY: Final = 1500
"""Bytes that one opportunity of a trace sends (mahimahi's format)."""

DROPS_LATER: Final = ("head-drop", "codel", "fq-codel", "cake", "dualpi2")
"""Queues that drop packets which wait; the others drop on arrival alone."""


@dataclass
class Passage:
    """A packet at a link, by what became of it."""

    arrival: float
    flow: str
    seq: int | None
    bytes: int
    accepted: bool = True
    dropped: float | None = None
    start: float = math.inf
    end: float = math.inf
    parts: list[tuple[float, int]] = field(default_factory=list)
    """Bytes that went with each opportunity."""

    @property
    def left_queue(self) -> float:
        """Time at which it left the queue."""
        return self.start if self.dropped is None else self.dropped


def passages(link: Link, arrivals: Iterable[Arrival]) -> list[Passage]:
    """Return every packet that came to a link, with the times at which its transmission starts and ends."""
    found = matched(arrivals, drops_later=link.queue in DROPS_LATER)
    waiting = [one for one in found if one.dropped is None]
    if link.opportunities:
        serve_at_opportunities(link, waiting)
    else:
        serve_at_rate(link, waiting)
    return found


def matched(arrivals: Iterable[Arrival], *, drops_later: bool) -> list[Passage]:
    """Return the packets with their drops: that of a packet which was in the queue, or on arrival."""
    found: list[Passage] = []
    inside: dict[tuple[str, int | None], deque[Passage]] = defaultdict(deque)
    for row in arrivals:
        key = (row.flow, row.seq)
        if row.event == "enq":
            found.append(Passage(row.time, row.flow, row.seq, row.bytes))
            inside[key].append(found[-1])
        elif drops_later and (
            earlier := [one for one in inside[key] if one.dropped is None and one.bytes == row.bytes]
        ):
            # Two copies of a packet in one queue are rare: the later one is dropped if it came just now.
            (earlier[-1] if row.time - earlier[-1].arrival < TICK else earlier[0]).dropped = row.time
        else:
            found.append(Passage(row.time, row.flow, row.seq, row.bytes, accepted=False, dropped=row.time))
    return found


def serve_at_rate(link: Link, waiting: list[Passage]) -> None:
    """Send packets in order of arrival at the rate of the link."""
    free = 0.0
    for one in waiting:
        one.start = max(free, one.arrival)
        one.end = free = end_of(link, one.start, one.bytes * 8)


def end_of(link: Link, start: float, bits: float) -> float:
    """Return when so many bits are sent."""
    assert link.rate is not None
    rate = link.rate
    for at, later in link.steps:
        if at > start:
            sent = rate * (at - start)
            if sent >= bits:
                break
            bits, start = bits - sent, at
        rate = later
    return start + bits / rate


def serve_at_opportunities(link: Link, waiting: list[Passage]) -> None:
    """Send packets in order of arrival at the opportunities of a trace; what an opportunity has left over is lost."""
    times = opportunities(link)
    now, left = next(times), OPPORTUNITY
    for one in waiting:
        # An opportunity at which nothing waited is gone.
        while now < one.arrival - TICK / 10:
            now, left = next(times), OPPORTUNITY
        one.start, rest = now, one.bytes
        if left == 0:
            now, left = next(times), OPPORTUNITY
            one.start = now
        while rest > left:
            one.parts.append((now, left))
            rest, (now, left) = rest - left, (next(times), OPPORTUNITY)
        one.parts.append((now, rest))
        left -= rest
        one.end = now


def opportunities(link: Link) -> Iterator[float]:
    """Yield the times of a trace, which begins again at its end."""
    period = link.opportunities[-1]
    turn = 0
    while True:
        yield from (turn * period + at for at in link.opportunities)
        turn += 1


def capacity(link: Link, since: float, end: float) -> float:
    """Return the bits that a link can send in a time."""
    if link.opportunities:
        times = opportunities(link)
        count = 0
        while (at := next(times)) < end:
            count += at >= since
        return count * OPPORTUNITY * 8.0
    assert link.rate is not None
    bounds = [0.0, *(at for at, _ in link.steps), math.inf]
    rates = [link.rate, *(rate for _, rate in link.steps)]
    spans = zip(rates, bounds, bounds[1:], strict=False)
    return sum(rate * max(0.0, min(end, last) - max(since, first)) for rate, first, last in spans)
