"""Observations of a study's runs: a few numbers per run about the observed flows."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earlybird.metrics import accumulating, studies
from earlybird.result import Result
from earlybird.study.language.definition import Group, Part
from earlybird.study.language.points import Scalar
from earlybird.study.reductions.ages import age_values
from earlybird.study.reductions.audio_gaps import audio_gaps
from earlybird.study.reductions.bursts import burst_values
from earlybird.study.reductions.equations import equation_values
from earlybird.study.reductions.packets import packet_values
from earlybird.study.reductions.queue import position_values
from earlybird.study.reductions.response import response_values
from earlybird.study.reductions.whole_runs import (
    added_delay,
    freeze_values,
    link_values,
    number,
    relative_values,
    repair_values,
)
from earlybird.study.reductions.window import window_values
from earlybird.study.runs.plan import StudyRun

REDUCTIONS: Final[Mapping[str, Callable[[pl.Expr], pl.Expr]]] = {
    "mean": pl.Expr.mean,
    "median": pl.Expr.median,
    "nanmedian": lambda column: column.drop_nans().median(),
    "p90": lambda column: column.quantile(0.9),
    "sum": pl.Expr.sum,
}
"""By their names in the register."""


@cache
def per_run() -> dict[str, pl.Expr]:
    """Return the expressions that reduce a run's table of flows to one number each, by metric."""
    entries = studies().items()
    plain = {name: REDUCTIONS[one.reduce](pl.col(one.column)) for name, one in entries if one.reduce}
    return plain | {
        "rto_after_fast_retransmit": (pl.col("rto_count") - pl.col("rto_without_fast_retransmit")).mean(),
        "interarrival_stddev_s": pl.col("interarrival_stddev_ms").mean() / 1000,
        "early_retransmits": (
            pl.col("early_retransmits_first_dupack") + pl.col("early_retransmits_second_dupack")
        ).mean(),
    }


@dataclass(frozen=True, slots=True)
class Observation:
    """One run, reduced."""

    part: str
    axes: Mapping[str, Scalar]
    seed: int
    flows: int  # number of observed flows
    load: float  # measured T/µ; NaN where nothing sets it
    values: Mapping[str, float]
    delays: NDArray[np.float64]  # startup delays in seconds
    success: NDArray[np.float64]  # share of flows in time at each of them
    late: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Share of late packets, and late units per flow, at each of them."""
    members: Mapping[str, "Observation"] = field(default_factory=dict)
    """The same of those flows only that belong to a group by themselves, for groups that have any."""


def observe(
    run: StudyRun, result: Result, trace: pl.DataFrame | None = None, groups: Iterable[Group] = ()
) -> Observation:
    """Reduce a result (and its first flow's packets) to means; counts and sums are scaled to the paper's duration."""
    flows = _scaled(result.flows.filter(pl.col("group") == run.part.flows), run.part, result)
    whole = _reduced(run, result, flows)
    values = dict(whole.values) | _special_values(run, whole.values["er_threshold_median_s"], result, trace)
    values |= link_values(result) | relative_values(run, result, values)
    if run.part.reference_duration:
        values |= freeze_values(result, flows)
    return replace(whole, values=values, members=_members(run, result, flows, groups) if run.part.partners else {})


def _reduced(run: StudyRun, result: Result, flows: pl.DataFrame) -> Observation:
    delays, success, late = _curves(result, flows["flow"])
    values = {name: number(value) for name, value in flows.select(**per_run()).row(0, named=True).items()}
    values |= _timer_values(result, flows)
    values["on_time_share_largest_fall"] = float(np.max(-np.diff(success), initial=0.0))
    values["t_over_mu"] = load = number(result.summary.get("t_over_mu"))
    return Observation(run.part.name, run.axes, run.seed, flows.height, load, values, delays, success, late)


def _members(run: StudyRun, result: Result, flows: pl.DataFrame, groups: Iterable[Group]) -> dict[str, Observation]:
    """Reduce the flows of a run by group, each flow by its own load and losses."""
    loaded = flows.with_columns(load=_own_loads(run.part, result, flows))
    parts = {group.name: loaded.filter(*_limits(group)) for group in groups if group.load or group.drop}
    return {name: _reduced(run, result, part) for name, part in parts.items() if part.height}


def _limits(group: Group) -> list[pl.Expr]:
    limits = {"load": group.load, "flow_drop_rate": group.drop}
    return [pl.col(name).is_between(*bounds, closed="left") for name, bounds in limits.items() if bounds]


def _own_loads(part: Part, result: Result, flows: pl.DataFrame) -> pl.Series:
    """Return each flow's T/µ; T is the mean of its throughput and its partner's, and so the run's T/µ is their mean."""
    partners = result.flows.filter(pl.col("group") == part.partners).select("index", partner="throughput_bps")
    both = flows.join(partners, on="index", how="left", maintain_order="left")
    throughput = both["throughput_bps"] + both["partner"]
    return throughput * (number(result.summary.get("t_over_mu")) / number(throughput.mean()))


def _scaled(flows: pl.DataFrame, part: Part, result: Result) -> pl.DataFrame:
    """Scale columns that grow with a flow's life to its life in the paper's run."""
    if part.reference_duration is None:
        return flows
    life = result.summary["duration_s"] - pl.col("start_s")
    return flows.with_columns(pl.col(accumulating()) * (part.reference_duration - pl.col("start_s")) / life)


def _curves(
    result: Result, flows: pl.Series
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the startup delays and, at each, the share of flows in time and the measures of lateness."""
    rows = result.lateness.filter(pl.col("flow").is_in(flows.implode()))
    late, due = pl.col("late").sum(), pl.col("due").sum()
    columns = (pl.col("on_time").cast(pl.Float64).mean(), (late / due).alias("share"), pl.col("late").mean())
    curve = rows.group_by("startup_delay_s").agg(*columns).sort("startup_delay_s")
    delays = curve["startup_delay_s"].to_numpy()
    measures = {"late_share": curve["share"].to_numpy(), "late_units": curve["late"].to_numpy()}
    if "deliveries" in result.tables:
        films = result.deliveries.filter(pl.col("flow").is_in(rows["flow"].implode())).partition_by("flow")
        measures["audio_gaps"] = np.mean([audio_gaps(film, delays) for film in films], axis=0)
    return delays, curve["on_time"].to_numpy(), measures


def _timer_values(result: Result, flows: pl.DataFrame) -> dict[str, float]:
    timers = result.timeouts.filter(pl.col("flow").is_in(flows["flow"].implode()))["rto_s"]
    return {"min_expired_rto_s": number(timers.min()), "max_expired_rto_s": number(timers.max())}


def _special_values(run: StudyRun, threshold: float, result: Result, trace: pl.DataFrame | None) -> dict[str, float]:
    """Reduce what only some parts have."""
    longest = run.part.longest_round_trip(float(run.axes.get("buffer", 0)))
    values = {"er_threshold_excess_s": threshold - longest}
    if "added_delay_p99_us" in result.summary:
        values |= added_delay(result)
    if "queue_delay_p95_ms" in result.summary:
        values["queue_delay_p95_s"] = result.summary["queue_delay_p95_ms"] / 1e3
    if "bursts" in result.tables:
        values |= burst_values(result)
    if "duplicates" in result.tables:
        values |= age_values(result.duplicates, longest)
    if "queue_positions" in result.tables:
        values |= position_values(result, run.part.flows, float(run.axes["buffer"]))
    if "series" in result.tables:
        values |= window_values(result.series, f"{run.part.flows}0")
        values |= response_values(result.series, f"{run.part.flows}0")
    if "transmissions" in result.tables:
        values |= repair_values(result)
    if trace is not None:
        values |= packet_values(trace, run.part.propagation)
        if "series" in result.tables:
            values |= equation_values(result.series, trace, f"{run.part.flows}0")
    return values
