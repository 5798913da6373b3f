"""The summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import flows, links, media
from .scenario import bits_per_second

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .links import Value
    from .runs import Run
    from .scenario import Flow


def summary(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the measures of a run, in a table of one row."""
    computed = flows.flows(run)
    row = of_scenario(run) | of_bottleneck(run) | of_delivery(run)
    row |= of_media([computed[flow.name,] for flow in run.scenario.flows if flow.is_media])
    row |= of_viewers([computed[flow.name,] for flow in run.scenario.flows if flow.client])
    return {(): row | on_time(run)}


def of_scenario(run: Run) -> dict[str, Value]:
    """Return what the scenario says."""
    read = run.scenario
    of_media = [flow for flow in read.flows if flow.is_media]
    bulk = [flow for flow in read.flows if flow.application == "bulk"]
    row: dict[str, Value] = {
        "transport": (of_media or read.flows)[0].transport,
        "profile": read.profile,
        "duration_s": read.duration,
        "bottleneck": read.bottleneck,
    }
    link = read.links[read.bottleneck]
    if link.queue == "packets":
        row["buffer_packets"] = link.limit
    if of_media and len(of_media) == len(bulk):
        row["media_flows"] = len(of_media)
    return row


def of_bottleneck(run: Run) -> dict[str, Value]:
    """Return the measures of the bottleneck and of drops elsewhere."""
    name = run.scenario.bottleneck
    link, every, reported = run.scenario.links[name], run.links[name], links.columns(run, name)
    delays = [key for key in reported if key.startswith(("mean_queue_delay", "queue_delay"))]
    row: dict[str, Value] = {key: reported.get(key) for key in ("utilisation", *delays)}
    row["bottleneck_packets"] = reported.get("packets_out")
    measured = [one for one in every if one.arrival >= run.scenario.warm_up]
    if measured:
        row["drop_rate"] = reported["drop_rate"]
    causes = [cause for _, cause in links.causes(link, every, measured)]
    if link.has_losses and measured and "?" not in causes:
        row["queue_drop_rate"] = causes.count("queue") / len(measured)
        row["random_loss_rate"] = causes.count("loss") / len(measured)
    elsewhere = sum(one.dropped is not None for other, them in run.links.items() if other != name for one in them)
    if elsewhere:
        row["dropped_elsewhere"] = elsewhere
    return row | of_groups(run)


def of_groups(run: Run) -> dict[str, Value]:
    """Return the measures of the bottleneck by group."""
    read, every = run.scenario, run.links[run.scenario.bottleneck]
    media_names = {flow.name for flow in read.flows if flow.is_media and read.crosses(flow)}
    offered = [one for one in every if one.flow in media_names and one.arrival >= read.warm_up]
    row: dict[str, Value] = {}
    if offered:
        row["media_drop_rate"] = sum(one.dropped is not None for one in offered) / len(offered)
    if not read.links[read.bottleneck].is_fifo:
        return row
    span = read.duration - read.warm_up
    sent = links.ended(every, read.warm_up, read.duration)
    web = {flow.name for flow in read.flows if flow.is_web}
    if web:
        row["web_mbps"] = sum(one.bytes for one in sent if one.flow in web) * 8 / span / 1e6
    sharing = {flow.name for flow in lasting(run)}
    rate = media_rate(run)
    if rate and sharing:
        bytes_ = sum(one.bytes for one in sent if one.flow in sharing)
        row["t_over_mu_wire"] = bytes_ * 8 / len(sharing) / span / rate
    return row


def lasting(run: Run) -> list[Flow]:
    """Return the media and bulk flows that cross the bottleneck."""
    return [flow for flow in run.scenario.flows if not flow.is_web and run.scenario.crosses(flow)]


def total(rows: Iterable[dict[str, Value]], column: str) -> float:
    """Return the sum of a column."""
    values = [row[column] for row in rows]
    return math.fsum(value for value in values if isinstance(value, float | int))


def of_delivery(run: Run) -> dict[str, Value]:
    """Return the measures of throughput."""
    sharing = lasting(run)
    first = [flow for flow in sharing if flow.group == run.scenario.flows[0].group]
    row: dict[str, Value] = {}
    rate = media_rate(run)
    if rate and sharing:
        row["t_over_mu"] = mean_rate(run, sharing) / rate
    delivered = [flows.measured_bytes(run, run.transfers[flow.name]) for flow in sharing]
    if len(delivered) > 1 and any(delivered):
        # Jain, Chiu and Hawe 1984: the square of the sum, divided by the sum of the squares and the number.
        row["jain_index"] = sum(delivered) ** 2 / sum(one * one for one in delivered) / len(delivered)
    if 0 < len(first) < len(sharing) and (fair := mean_rate(run, sharing)):
        row["first_group_rate_ratio"] = mean_rate(run, first) / fair
    return row


def media_rate(run: Run) -> float | None:
    """Return the rate of the first media flow."""
    return next((bits_per_second(flow.settings["rate"]) for flow in run.scenario.flows if flow.is_media), None)


def mean_rate(run: Run, chosen: list[Flow]) -> float:
    """Return the mean rate of flows in the measured interval."""
    bits = [8 * flows.measured_bytes(run, run.transfers[flow.name]) for flow in chosen]
    return sum(bits) / len(bits) / (run.scenario.duration - run.scenario.warm_up)


def mean(rows: list[dict[str, Value]], column: str) -> float:
    """Return the mean of a column."""
    values = [row.get(column, 0.0) for row in rows]
    return math.fsum(value for value in values if isinstance(value, float | int)) / len(values)


def of_media(rows: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the means over media flows; datagrams have no timer."""
    if not rows:
        return {}
    row: dict[str, Value] = {key: mean(rows, key) for key in ("rto_count", "frozen_s", "interarrival_stddev_ms")}
    if timeouts := total(({"rto_count": 0, **one} for one in rows), "rto_count"):
        row["mean_freeze_s"] = total(({"frozen_s": 0.0, **one} for one in rows), "frozen_s") / timeouts
    return row


def of_viewers(rows: list[dict[str, Value]]) -> dict[str, Value]:
    """Return the means over viewers, where each of them was computed."""
    columns = ("units_lost", "lost_share", "playback_delay_s", "stalls")
    means = {key: mean(rows, key) for key in columns if rows and all(key in row for row in rows)}
    # Not a number where one of the viewers waits for what is missing.
    row: dict[str, Value] = {key: None if math.isnan(value) else value for key, value in means.items()}
    if rows and all("stalls" in one for one in rows) and (stalls := total(rows, "stalls")):
        stalling = [one for one in rows if one["stalls"]]
        row["mean_stall_s"] = total(stalling, "stalled_s") / stalls
        row["longest_stall_s"] = max(total([one], "longest_stall_s") for one in stalling)
    return row


def on_time(run: Run) -> dict[str, Value]:
    """Return the shares of flows on time at whole startup delays."""
    judged: dict[str, list[bool]] = {}
    for (_, delay), row in media.lateness(run).items():
        if row["due"]:
            judged.setdefault(f"on_time_share_{float(delay):g}s", []).append(bool(row["on_time"]))
    named = {f"on_time_share_{delay}s" for delay in (1, 2, 3, 5, 8, 10, 15, 20)}
    return {key: sum(them) / len(them) for key, them in judged.items() if key in named}
