"""The tables `timeouts`, `transmissions`, `queue_positions` and `series`."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from . import flows
from .queueing import TICK

if TYPE_CHECKING:
    from .links import Value
    from .queueing import Passage
    from .runs import Run

LARGEST_GAP: Final = 50
"""Packets that have left between two that wait: AQM drops some in between."""

Rows = dict[tuple[str, ...], dict[str, "Value"]]


def timeouts(run: Run) -> Rows:
    """Return the expiries of each flow, the second key being their number."""
    rows: Rows = {}
    for name, transfer in run.transfers.items():
        expiries = (event for event in transfer.events if event.event == "nrexmit")
        for number, event in enumerate(expiries):
            rows[name, str(number)] = {
                "time_s": event.time,
                "frozen_s": flows.time_without_progress(transfer, event.time),
            }
    return rows


def transmissions(run: Run) -> Rows:
    """Return the packets that were lost or retransmitted."""
    rows: Rows = {}
    for name, transfer in run.transfers.items():
        if not transfer.flow.is_media:
            continue
        times: dict[int, list[float]] = defaultdict(list)
        for one in transfer.sent:
            times[one.number].append(one.time)
        dropped = Counter(event.seq for event in transfer.events if event.event == "drp")
        for number, sent in times.items():
            if len(sent) > 1 or dropped[number]:
                rows[name, str(number)] = {
                    "first_sent_s": sent[0],
                    "last_sent_s": sent[-1],
                    "times_sent": len(sent),
                    "times_dropped": dropped[number],
                }
    return rows


def queue_positions(run: Run) -> Rows:
    """Return how many packets of each group found how many waiting at the bottleneck after the warm-up."""
    found: Counter[tuple[str, str]] = Counter()
    uncertain: set[tuple[str, str]] = set()
    groups = {flow.name: flow.group for flow in run.scenario.flows}
    link, every = run.scenario.links[run.scenario.bottleneck], run.links[run.scenario.bottleneck]
    # A packet that a loss rule drops does not come to the queue.
    if not link.is_fifo or link.has_losses:
        return {}
    for index, one in enumerate(every):
        if one.arrival >= run.scenario.warm_up:
            fewest, most = (waiting(every, index, one.arrival + near) for near in (TICK, -TICK))
            found[groups[one.flow], str(fewest)] += 1
            if most > fewest:
                uncertain |= {(groups[one.flow], str(number)) for number in range(fewest, most + 1)}
    return {key: {"packets_in": count} for key, count in found.items() if key not in uncertain}


def waiting(every: list[Passage], index: int, at: float) -> int:
    """Return how many packets that came before wait at a time."""
    count = misses = 0
    for other in reversed(every[:index]):
        if other.accepted and other.left_queue > at:
            count, misses = count + 1, 0
        elif (misses := misses + 1) > LARGEST_GAP:
            break
    return count


def is_near(time: float, step: float) -> bool:
    """Return whether a time is that of a sample."""
    return math.isfinite(time) and abs(time / step - round(time / step)) * step < TICK


def series(run: Run) -> Rows:
    """Return the samples of the queues' lengths; the keys are time, link and quantity."""
    rows: Rows = {}
    step = 0.010
    for name, every in run.links.items():
        if not run.scenario.links[name].is_fifo:
            continue
        changes = sorted(
            [(one.arrival, 1) for one in every if one.left_queue > one.arrival + TICK]
            + [(one.left_queue, -1) for one in every if one.left_queue > one.arrival + TICK]
        )
        near = {round(time / step) for one in every for time in (one.arrival, one.left_queue) if is_near(time, step)}
        length = index = 0
        for number in range(1, round(run.scenario.duration / step)):
            at = number * step
            while index < len(changes) and changes[index][0] < at - TICK:
                length += changes[index][1]
                index += 1
            # A change at that very time may be in the sample or not.
            if number not in near:
                rows[f"{at:.3f}", name, "queue_packets"] = {"value": float(length)}
    return rows
