"""Which measures the tables on the terminal show, under which name and in which unit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    """Write a time given in ms."""
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


SUMMARY_ROWS = (
    Column("bottleneck_packets", "packets through the bottleneck", number),
    Column("drop_rate", "drop rate at the bottleneck", percent),
    Column("mark_rate", "mark rate at the bottleneck", percent),
    Column("t_over_mu", "T/µ: throughput per flow ÷ media rate", ratio),
    Column("web_mbps", "web traffic", megabits),
    Column("cbr_drop_rate", "drop rate of the video flows", percent),
    Column("rto_count", "timeouts per video flow", number),
    Column("sft_s", "frozen waiting for timeouts, per video flow", seconds),
    Column("mean_freeze_s", "mean length of a freeze", seconds),
    Column("ipat_stddev_ms", "standard deviation of packet spacing", milliseconds),
    Column("bursts", "bursts of losses measured", number),
    Column("max_delay_s", "longest packet delay of a burst, mean", seconds),
    Column("max_delay_max_s", "longest packet delay of all bursts", seconds),
    Column("late_segments", "late packets per burst", number),
)

FLOW_COLUMNS = (
    Column("throughput_bps", "throughput", bit_rate),
    Column("packets_sent", "packets sent", number),
    Column("retransmissions", "sent again", number),
    Column("packets_dropped", "dropped at the bottleneck", number),
    Column("rto_count", "timeouts", number),
    Column("sft_s", "frozen waiting for timeouts", seconds),
    Column("delay_p50_ms", "packet delay: median", milliseconds),
    Column("delay_p99_ms", "packet delay: 99 %", milliseconds),
    Column("required_sud_s", "start-up delay needed for 99.99 % on time", seconds),
)

SWEEP_COLUMNS = (
    Column("t_over_mu", "T/µ", ratio),
    Column("drop_rate", "drop rate", percent),
    Column("rto_count", "timeouts\nper video", number),
    Column("sft_s", "frozen\nper video", seconds),
    Column("success_sud_2s", "on time\nat 2 s", whole_percent),
    Column("success_sud_10s", "on time\nat 10 s", whole_percent),
)


def success_delays(keys: Iterable[str]) -> list[Column]:
    """Return a column for each start-up delay at which success was judged."""
    matches = (re.fullmatch(r"success_sud_(.+)s", key) for key in keys)
    return [Column(match[0], f"{match[1]} s", whole_percent) for match in matches if match]
