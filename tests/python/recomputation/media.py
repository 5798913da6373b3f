"""Units of media: when they were written and when they were delivered."""

from __future__ import annotations

import dataclasses
import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import polars as pl

from .scenario import bits_per_second

if TYPE_CHECKING:
    from .links import Value
    from .runs import Run
    from .transfers import Transfer

LATE_SHARE_ALLOWED: Final = 1e-4


@dataclass(frozen=True)
class Units:
    """The units that an application wrote."""

    size: int
    interval: float
    written: list[float]
    delivered: list[float]
    """Infinite where a unit never came."""

    @classmethod
    def of(cls, run: Run, transfer: Transfer) -> Units:
        """Return the units of a source of constant bit rate."""
        settings, end = transfer.flow.settings, run.scenario.duration
        size = settings["packet"]
        interval = size * 8 / bits_per_second(settings["rate"])
        assert transfer.flow.start is not None
        written: list[float] = []
        while (at := transfer.flow.start + len(written) * interval) < end:
            written.append(at)
        return cls(size, interval, written, arrivals(transfer, size, len(written)))

    def of_table(self, deliveries: pl.DataFrame, flow: str) -> Units:
        """Return the same units with the times of the table `deliveries`, which have nanoseconds."""
        rows = deliveries.filter(pl.col("flow") == flow)
        return dataclasses.replace(self, written=rows["written_s"].to_list(), delivered=rows["delivered_s"].to_list())

    def delays(self, end: float) -> list[float]:
        """Return the delay of each unit, of those that never came their age at the end, in rising order."""
        return sorted(min(come, end) - at for at, come in zip(self.written, self.delivered, strict=True))


def arrivals(transfer: Transfer, size: int, count: int) -> list[float]:
    """Return when the last byte of each unit was delivered."""
    if not transfer.flow.is_tcp:
        return [transfer.units_arrived.get(number, math.inf) for number in range(count)]
    times: list[float] = []
    for time, upto in transfer.delivered:
        times += [time] * (min(upto // size, count) - len(times))
    return times + [math.inf] * (count - len(times))


def quantile(ordered: list[float], share: float) -> float:
    """Return the nearest-rank quantile."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else math.nan


def unit_columns(units: Units | None, end: float) -> dict[str, Value]:
    """Return the columns about units."""
    if units is None:
        return {"units_written": 0, "units_delivered": 0, "delay_p50_ms": math.nan, "interarrival_stddev_ms": math.nan}
    delays = units.delays(end)
    late_allowed = max(math.ceil(len(delays) * LATE_SHARE_ALLOWED) - 1, 0)
    come = sorted(time for time in units.delivered if time < math.inf)
    gaps = [after - before for before, after in pairwise(come)]
    return {
        "units_written": len(units.written),
        "units_delivered": len(come),
        "interarrival_stddev_ms": 1e3 * statistics.pstdev(gaps) if gaps else math.nan,
        "delay_p50_ms": 1e3 * quantile(delays, 0.5),
        "delay_p95_ms": 1e3 * quantile(delays, 0.95),
        "delay_p99_ms": 1e3 * quantile(delays, 0.99),
        "delay_p999_ms": 1e3 * quantile(delays, 0.999),
        "delay_max_ms": 1e3 * quantile(delays, 1.0),
        "required_startup_delay_s": delays[-1 - late_allowed] if delays else math.nan,
    }


def lateness(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the table `lateness`, whose third key is the start-up delay."""
    rows: dict[tuple[str, ...], dict[str, Value]] = {}
    end = run.scenario.duration
    for name, transfer in run.transfers.items():
        if not transfer.flow.is_media:
            continue
        units = Units.of(run, transfer)
        pairs = list(zip(units.written, units.delivered, strict=True))
        for delay in run.scenario.start_up_delays:
            due = [(at, come) for at, come in pairs if at + delay <= end + 1e-9]
            late = sum(come - at > delay for at, come in due)
            rows[name, str(delay)] = {"due": len(due), "late": late, "on_time": late < LATE_SHARE_ALLOWED * len(due)}
    return rows


def deliveries(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the table `deliveries`."""
    rows: dict[tuple[str, ...], dict[str, Value]] = {}
    for name, transfer in run.transfers.items():
        if transfer.flow.is_media:
            units = Units.of(run, transfer)
            for number, (at, come) in enumerate(zip(units.written, units.delivered, strict=True)):
                rows[name, str(number)] = {"bytes": units.size, "written_s": at, "delivered_s": come}
    return rows
