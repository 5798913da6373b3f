"""The table `flows`."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from .links import causes
from .media import Units, unit_columns
from .player import viewer_columns

if TYPE_CHECKING:
    from .links import Value
    from .queueing import Passage
    from .runs import Run
    from .scenario import Flow
    from .transfers import Transfer


def flows(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the columns of each flow."""
    return {(flow.name,): columns(run, flow) for flow in run.scenario.flows}


def columns(run: Run, flow: Flow) -> dict[str, Value]:
    """Return the columns of a flow."""
    row = of_scenario(flow) | of_drops(run, flow)
    if flow.is_web:
        return row | of_trace(run, flow)
    transfer = run.transfers[flow.name]
    units = Units.of(run, transfer) if flow.is_media else None
    # Whether a player stalls may be a matter of less than the microsecond that traces have.
    exact = units and units.of_table(run.tables["deliveries"], flow.name)
    sent = row | of_sender(run, transfer) | of_receiver(run, transfer)
    return sent | unit_columns(units, run.scenario.duration) | viewer_columns(exact, flow, run.scenario.duration)


def of_scenario(flow: Flow) -> dict[str, Value]:
    """Return what the scenario says."""
    return {
        "group": flow.group,
        "index": flow.index,
        "transport": flow.transport,
        "start_s": flow.start,
    }


def of_drops(run: Run, flow: Flow) -> dict[str, Value]:
    """Return what became of its packets with data on the links that are traced; others drop nothing."""
    by_cause = Counter(cause for one, cause in dropped(run, flow))
    row: dict[str, Value] = {"packets_dropped": by_cause.total()}
    if not by_cause["?"]:
        row |= {"queue_drops": by_cause["queue"], "random_losses": by_cause["loss"]}
    return row


def dropped(run: Run, flow: Flow) -> list[tuple[Passage, str]]:
    """Return a flow's packets with data that were dropped, with the causes."""
    found = []
    for name, every in run.links.items():
        of_flow = [one for one in every if one.flow == flow.name and one.seq is not None]
        found += causes(run.scenario.links[name], every, of_flow)
    return found


def of_trace(run: Run, flow: Flow) -> dict[str, Value]:
    """Return what the trace of a flow counts."""
    count = Counter(event.event for event in run.events.get(flow.name, []))
    sent = count["snd"] + count["rtx"]
    return {"retransmissions": count["rtx"]} if sent else {}


def of_sender(run: Run, transfer: Transfer) -> dict[str, Value]:
    """Return the counters of the sender."""
    repeated = [one for one in transfer.sent if one.is_repeated]
    row: dict[str, Value] = {
        "packets_sent": len(transfer.sent),
        "retransmissions": len(repeated),
        "flow_drop_rate": dropped_share(run, transfer),
    }
    if not transfer.flow.is_tcp:
        return row
    expiries = [event for event in transfer.events if event.event == "nrexmit"]
    return row | {
        "rto_count": len(expiries),
        "frozen_s": math.fsum(time_without_progress(transfer, event.time) for event in expiries),
        "min_rtt_ms": 1e3 * smallest_round_trip(transfer),
    }


def dropped_share(run: Run, transfer: Transfer) -> float:
    """Return the share of a flow's packets that was dropped in the measured interval, or of a finite flow in all."""
    since = 0.0 if transfer.flow.amount else run.scenario.warm_up
    sent = sum(one.time >= since for one in transfer.sent)
    lost = sum(one.dropped is not None and one.dropped >= since for one, _ in dropped(run, transfer.flow))
    return min(lost / max(sent, 1), 1.0)


def time_without_progress(transfer: Transfer, at: float) -> float:
    """Return the time from the last progress, or from the previous expiry, to an expiry."""
    progress = [time for time, _ in transfer.acknowledged if time < at - 1e-5]
    earlier = [event.time for event in transfer.events if event.event == "nrexmit" and event.time < at - 1e-5]
    return at - max(progress + earlier, default=transfer.sent[0].time)


def smallest_round_trip(transfer: Transfer) -> float:
    """Return the smallest time from the only transmission of a packet to the acknowledgement that covers it."""
    repeated = {one.number for one in transfer.sent if one.is_repeated}
    once = sorted((one.covered, one.time) for one in transfer.sent if one.number not in repeated and one.covered > 0)
    reply = next((frame.time for frame in transfer.acknowledgements), math.nan)
    # The handshake is a round trip too.
    best = reply - transfer.sent[0].time if 0 not in repeated else math.nan
    index = 0
    for time, upto in transfer.acknowledged:
        while index < len(once) and once[index][0] <= upto:
            trip = time - once[index][1]
            best = min(trip, trip if math.isnan(best) else best)
            index += 1
    return best


def of_receiver(run: Run, transfer: Transfer) -> dict[str, Value]:
    """Return what was delivered."""
    total = transfer.in_order(math.inf)
    row: dict[str, Value] = {"bytes_delivered": total, "completion_time_s": math.nan}
    flow, end = transfer.flow, run.scenario.duration
    assert flow.start is not None
    if flow.amount is None:
        bytes_, span = measured_bytes(run, transfer), end - max(run.scenario.warm_up, flow.start)
        return row | {"throughput_bps": bytes_ * 8 / span}
    complete = next((time for time, upto in transfer.acknowledged if upto >= flow.amount), None)
    row["throughput_bps"] = total * 8 / ((end if complete is None else complete) - flow.start)
    return row if complete is None else row | {"completion_time_s": complete - flow.start}


def measured_bytes(run: Run, transfer: Transfer) -> int:
    """Return the bytes delivered in the measured interval."""
    return transfer.in_order(math.inf) - transfer.in_order(run.scenario.warm_up)
