"""Formatting of the measures that tables for people show, on the terminal and in notebooks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from earlybird.lazy import LateModule
from earlybird.metrics import view

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from earlybird import statistics
    from earlybird.metrics import Entry
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


def format_seconds(value: float) -> str:
    """Write a time in s, or in ms below one second."""
    return f"{number(value)} s" if value >= 1 or value == 0 else format_milliseconds(value * 1e3)


def format_milliseconds(value: float) -> str:
    """Write a time given in ms, short ones in µs; less than a packet takes on the fastest link is none."""
    if value < 0.1:
        return f"{number(value * 1e3)} µs" if value >= 1e-4 else "0 ms"
    return f"{number(value)} ms" if value < 1e3 else format_seconds(value / 1e3)


def bit_rate(value: float) -> str:
    """Write bits per second in kb/s, or Mb/s from 1 Mb/s on."""
    return f"{number(value / 1e6)} Mb/s" if value >= 1e6 else f"{number(value / 1e3)} kb/s"


@dataclass(frozen=True)
class Column:
    """A measure: its key in the results, its title, and the format of its values."""

    key: str
    title: str
    write: Callable[[float], str]
    per_connection: bool = False  # whether it has no meaning for many connections together

    def cell(self, value: float | None) -> str:
        """Write a value, or a dash where there is none."""
        return NOTHING if value is None or not math.isfinite(value) else self.write(value)

    def mean_cell(self, values: Sequence[float]) -> str:
        """Write a mean, and its interval on the next line."""
        estimate = statistics.student_interval(values)
        is_spread = estimate.is_bounded and min(values) < max(values)  # rounding makes an interval of equal values
        half = f"\n± {self.cell(estimate.half_width)}" if is_spread else ""
        return self.cell(estimate.mean) + half


FORMATS: dict[str, Callable[[float], str]] = {
    "ratio": ratio,
    "share": percent,
    "s": format_seconds,
    "ms": format_milliseconds,
    "bit/s": bit_rate,
    "Mb/s": lambda value: bit_rate(value * 1e6),
}
"""Formats of values by unit; all others are plain numbers."""


def format_of(entry: Entry) -> Callable[[float], str]:
    """Return the function that writes the values of an entry; shares of few flows are whole percentages."""
    return whole_percent if entry.unit == "share" and entry.digits == 0 else FORMATS.get(entry.unit, number)


def columns_of(name: str, *, narrow: bool = False) -> list[Column]:
    """Return the columns of a view of the register."""
    entries = view(name).items()
    return [
        Column(key, one.heading if narrow else one.title, format_of(one), one.per_connection) for key, one in entries
    ]


def summary_rows(keys: Collection[str]) -> list[Column]:
    """Return the measures that a run's summary shows, those that its scenario is about first."""
    network = columns_of("network")
    # A scenario with viewers is about them; any other about T/µ, which decides all that its media measure.
    viewer, media = columns_of("viewer"), columns_of("media")
    rows = (*viewer, *network) if "lost_share" in keys else (*media[:1], *network, *media[1:])
    return [row for row in rows if row.key in keys]


def sweep_columns(keys: Collection[str]) -> list[Column]:
    """Return the measures that a sweep shows at every point: of viewers if it has any, of media or the network."""
    without_viewers = "media_sweep" if "t_over_mu" in keys else "network_sweep"
    columns = columns_of("viewer_sweep" if "lost_share" in keys else without_viewers, narrow=True)
    return [column for column in columns if column.key in keys]


def success_delays(keys: Iterable[str]) -> list[Column]:
    """Return a column for each startup delay at which success was judged."""
    matches = (re.fullmatch(r"on_time_share_(.+)s", key) for key in keys)
    return [Column(match[0], f"{match[1]} s", whole_percent) for match in matches if match]
