"""The tables `links`, `link_groups` and `drops`."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from .queueing import TICK, capacity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .queueing import Passage
    from .runs import Run
    from .scenario import Link

PERCENTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

Value: TypeAlias = float | int | str | None
"""A value of a column; None where it cannot be computed."""


def links(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the columns of each traced link."""
    return {(name,): columns(run, name) for name in run.links}


def columns(run: Run, name: str) -> dict[str, Value]:
    """Return the columns of a link."""
    link, since, end = run.scenario.links[name], run.scenario.warm_up, run.scenario.duration
    every = run.links[name]
    measured = [one for one in every if one.arrival >= since]
    dropped = sum(one.dropped is not None for one in measured)
    row: dict[str, Value] = counts(link, every, end) | {
        "drop_rate": dropped / max(len(measured), 1),
        "packets_reordered": 0,
        "packets_duplicated": 0,
    }
    if not link.is_fifo:
        return row
    begun = [one.start - one.arrival for one in every if since <= one.start < end]
    return (
        row
        | percentiles(begun)
        | {
            "utilisation": bits_sent(link, every, since, end) / (capacity(link, since, end) or 1),
            "packets_per_second": len(ended(every, since, end)) / (end - since),
            "mean_queue_packets": queue_time(every, since, end) / (end - since),
            "mean_queue_delay_ms": 1e3 * math.fsum(begun) / max(len(begun), 1),
            "max_queue_packets": largest_queue(every, end),
        }
    )


def percentiles(delays: list[float]) -> dict[str, Value]:
    """Return percentiles of queueing delays by nearest rank: values that occurred."""
    ranks = {name: max(math.ceil(share * len(delays)), 1) - 1 for name, share in PERCENTILES.items()}
    ordered = sorted(delays) or [math.nan]
    return {f"queue_delay_{name}_ms": 1e3 * ordered[rank] for name, rank in ranks.items()}


def counts(link: Link, every: list[Passage], end: float) -> dict[str, Value]:
    """Return what became of packets by the end of the run."""
    dropped = sum(one.dropped is not None for one in every)
    row: dict[str, Value] = {"packets_in": len(every), "packets_dropped": dropped}
    if not link.is_fifo:
        return row
    sent = ended(every, 0.0, end)
    return row | {
        "packets_out": len(sent),
        "packets_waiting": len(every) - len(sent) - dropped,
        "bytes_out": sum(one.bytes for one in sent),
    }


def ended(every: Iterable[Passage], since: float, end: float) -> list[Passage]:
    """Return the packets whose transmission ended in a time."""
    # A transmission that ends with the run has ended, while an opportunity at that time is not in it.
    return [one for one in every if since < one.end <= (end - TICK if one.parts else end + TICK)]


def bits_sent(link: Link, every: Iterable[Passage], since: float, end: float) -> float:
    """Return the bits that left in a time, those of a packet that is sent at its end in part."""
    if link.opportunities:
        return sum(8.0 * part for one in every for at, part in one.parts if since <= at < end)
    return math.fsum(capacity(link, max(one.start, since), min(one.end, end)) for one in every if one.start < end)


def queue_time(every: Iterable[Passage], since: float, end: float) -> float:
    """Return the integral of the queue's length over a time."""
    spans = ((max(one.arrival, since), min(one.left_queue, end)) for one in every)
    return math.fsum(last - first for first, last in spans if last > first)


def largest_queue(every: Iterable[Passage], end: float) -> int:
    """Return the largest length of the queue: of packets that leave when others come, those that leave go first."""
    changes = [(one.arrival, 1) for one in every if one.left_queue > one.arrival + TICK]
    changes += [(one.left_queue - TICK, -1) for one in every if one.left_queue > one.arrival + TICK]
    length = largest = 0
    for time, change in sorted(changes):
        if time > end:
            break
        length += change
        largest = max(largest, length)
    return largest


def link_groups(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the columns of each group at the bottleneck."""
    name, end = run.scenario.bottleneck, run.scenario.duration
    rows: dict[tuple[str, ...], dict[str, Value]] = {}
    for group in {flow.group: None for flow in run.scenario.flows}:
        members = {flow.name for flow in run.scenario.flows if flow.group == group}
        every = [one for one in run.links[name] if one.flow in members]
        measured = [one for one in every if one.arrival >= run.scenario.warm_up]
        dropped = sum(one.dropped is not None for one in measured)
        rows[name, group] = counts(run.scenario.links[name], every, end) | {
            "measured_packets_in": len(measured),
            "measured_packets_dropped": dropped,
            "drop_rate": dropped / max(len(measured), 1),
        }
    return rows


def drops(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the packets dropped by traced link, flow and cause."""
    packets: Counter[tuple[str, str, str]] = Counter()
    data: Counter[tuple[str, str, str]] = Counter()
    for name, every in run.links.items():
        for one, cause in causes(run.scenario.links[name], every, every):
            key = (name, one.flow, cause)
            packets[key] += 1
            data[key] += one.seq is not None
    return {key: {"packets": packets[key], "data_packets": data[key]} for key in packets if "?" not in key}


def causes(link: Link, every: list[Passage], chosen: list[Passage]) -> list[tuple[Passage, str]]:
    """Return each drop of the chosen packets with its cause; `?` where a queue drops early on a link with losses."""
    dropped = [one for one in chosen if one.dropped is not None]
    if not link.has_losses:
        return [(one, "queue") for one in dropped]
    return [(one, cause(link, every, one)) for one in dropped]


def cause(link: Link, every: list[Passage], one: Passage) -> str:
    """Return the cause of a drop on a link with losses."""
    if one.accepted:
        return "queue"
    if link.queue == "unlimited":
        return "loss"
    if link.queue != "packets":
        return "?"
    assert link.limit is not None
    # A queue of `packets = L` lets L − 1 packets wait while one more is sent.
    waiting = sum(
        other.accepted and other.arrival <= one.arrival and other.start > one.arrival + TICK for other in every
    )
    return "queue" if waiting >= link.limit - 1 else "loss"
