"""Which measures tables for people show, on the terminal and in notebooks, under which name and in which unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from earlybird import statistics
else:
    statistics = LateModule("earlybird.statistics")

NOTHING = "–"


def number(value: float) -> str:
    """Write a number with three significant digits, but no fewer than it has before the point, in groups of three."""
    digits = 0 if value == int(value) else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}".replace(",", " ")


def ratio(value: float) -> str:
    """Write a ratio around one."""
    return f"{value:.2f}"


def percent(value: float) -> str:
    """Write a share in percent."""
    return f"{value * 100:.2f} %"


def whole_percent(value: float) -> str:
    """Write a share of flows, of which there are few."""
    return f"{value * 100:.0f} %"


def seconds(value: float) -> str:
    """Write a time in s, or in ms below one second."""
    return f"{number(value)} s" if value >= 1 or value == 0 else milliseconds(value * 1e3)


def milliseconds(value: float) -> str:
    """Write a time given in ms, short ones in µs; less than a packet takes on the fastest link is none."""
    if value < 0.1:
        return f"{number(value * 1e3)} µs" if value >= 1e-4 else "0 ms"
    return f"{number(value)} ms" if value < 1e3 else seconds(value / 1e3)


def bit_rate(value: float) -> str:
    """Write bits per second in kb/s, or Mb/s from 1 Mb/s on."""
    return f"{number(value / 1e6)} Mb/s" if value >= 1e6 else f"{number(value / 1e3)} kb/s"


def megabits(value: float) -> str:
    """Write Mb/s."""
    return bit_rate(value * 1e6)


@dataclass(frozen=True)
class Column:
    """A measure: its key in the results, its title, and how to write its values."""

    key: str
    title: str
    write: Callable[[float], str]

    def cell(self, value: float | None) -> str:
        """Write a value, or a dash where there is none."""
        return NOTHING if value is None or not math.isfinite(value) else self.write(value)

    def mean_cell(self, values: Sequence[float]) -> str:
        """Write a mean, and its interval on the next line."""
        estimate = statistics.student_interval(values)
        is_spread = estimate.is_bounded and min(values) < max(values)  # rounding makes an interval of equal values
        half = f"\n± {self.cell(estimate.half_width)}" if is_spread else ""
        return self.cell(estimate.mean) + half


VIEWER_ROWS = (
    Column("lost_share", "lost to the viewer", percent),
    Column("playback_delay_s", "playback delay, mean", seconds),
    Column("stalls", "stalls per viewer", number),
)
"""What a viewer who plays along saw: the point of a call."""

NETWORK_ROWS = (
    Column("utilisation", "utilisation of the bottleneck", percent),
    Column("mean_wait_ms", "queueing delay at the bottleneck, mean", milliseconds),
    Column("drop_rate", "drop rate at the bottleneck", percent),
    Column("dropped_elsewhere", "packets dropped at other links", number),
    Column("mark_rate", "mark rate at the bottleneck", percent),
    Column("bottleneck_packets", "packets through the bottleneck", number),
    Column("web_mbps", "web traffic", megabits),
    Column("fair_share", "first group's rate ÷ fair share", ratio),
)
"""What queue managers are judged by, and what every run has."""

MEDIA_ROWS = (
    Column("t_over_mu", "T/µ: mean throughput of films and files ÷ media rate", ratio),
    Column("cbr_drop_rate", "drop rate of the video flows at the bottleneck", percent),
    Column("rto_count", "timeouts per video flow", number),
    Column("sft_s", "frozen waiting for timeouts, per video flow", seconds),
    Column("mean_freeze_s", "mean length of a freeze", seconds),
    Column("ipat_stddev_ms", "standard deviation of packet spacing", milliseconds),
    Column("bursts", "bursts of losses measured", number),
    Column("max_delay_s", "longest packet delay of a burst, mean", seconds),
    Column("max_delay_max_s", "longest packet delay of all bursts", seconds),
    Column("late_segments", "late packets per burst", number),
)
"""What films are judged by whose viewers decide afterwards how long they would have waited."""

FLOW_COLUMNS = (
    Column("lost_share", "lost to the viewer", percent),
    Column("playback_delay_s", "playback delay, mean", seconds),
    Column("throughput_bps", "throughput", bit_rate),
    Column("packets_sent", "packets sent", number),
    Column("retransmissions", "sent again", number),
    Column("queue_drops", "dropped by queues", number),
    Column("random_losses", "lost on links by chance or by rule", number),
    Column("rto_count", "timeouts", number),
    Column("sft_s", "frozen waiting for timeouts", seconds),
    Column("delay_p50_ms", "packet delay: median", milliseconds),
    Column("delay_p99_ms", "packet delay: 99 %", milliseconds),
    Column("required_sud_s", "start-up delay needed for 99.99 % on time", seconds),
)

OF_ONE_CONNECTION = ("sft_s",)
"""Columns that mean nothing for web traffic, whose many short connections have them added up."""

LIMITS = (
    Column("limited_by_network", "the network", whole_percent),
    Column("limited_by_window", "its window", whole_percent),
    Column("limited_by_receiver", "the receiver's window", whole_percent),
    Column("limited_by_send_buffer", "its send buffer", whole_percent),
    Column("limited_by_application", "the application", whole_percent),
)
"""What holds a sender back, as shares of its time."""

SWEEP_COLUMNS: tuple[Column, ...] = (
    Column("t_over_mu", "T/µ", ratio),
    Column("drop_rate", "drop rate", percent),
    Column("rto_count", "timeouts\nper video", number),
    Column("sft_s", "frozen\nper video", seconds),
    Column("success_sud_2s", "on time\nat 2 s", whole_percent),
    Column("success_sud_10s", "on time\nat 10 s", whole_percent),
)

VIEWER_SWEEP_COLUMNS: tuple[Column, ...] = (
    Column("lost_share", "lost to\nthe viewer", percent),
    Column("playback_delay_s", "playback\ndelay", seconds),
    Column("stalls", "stalls\nper viewer", number),
    Column("drop_rate", "drop rate", percent),
    Column("rto_count", "timeouts\nper flow", number),
)

NETWORK_SWEEP_COLUMNS: tuple[Column, ...] = (
    Column("utilisation", "utilisation", percent),
    Column("mean_wait_ms", "queueing\ndelay", milliseconds),
    Column("drop_rate", "drop rate", percent),
    Column("mark_rate", "mark rate", percent),
    Column("web_mbps", "web\ntraffic", megabits),
)


def summary_rows(keys: Collection[str]) -> list[Column]:
    """Return what a run's summary shows, the point of its scenario first."""
    rows = (*VIEWER_ROWS, *NETWORK_ROWS) if "lost_share" in keys else (*MEDIA_ROWS[:1], *NETWORK_ROWS, *MEDIA_ROWS[1:])
    return [row for row in rows if row.key in keys]


def sweep_columns(keys: Collection[str]) -> list[Column]:
    """Return what a sweep shows of every point: what viewers saw, or how films fare, or what the queue does."""
    of_media = SWEEP_COLUMNS if "t_over_mu" in keys else NETWORK_SWEEP_COLUMNS
    columns = VIEWER_SWEEP_COLUMNS if "lost_share" in keys else of_media
    return [column for column in columns if column.key in keys]


def success_delays(keys: Iterable[str]) -> list[Column]:
    """Return a column for each start-up delay at which success was judged."""
    matches = (re.fullmatch(r"success_sud_(.+)s", key) for key in keys)
    return [Column(match[0], f"{match[1]} s", whole_percent) for match in matches if match]
