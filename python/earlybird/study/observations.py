"""What each run of a study showed about the flows it observes, reduced to a few numbers per run."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earlybird.models import pftk_throughput
from earlybird.result import Result
from earlybird.study.ages import age_values
from earlybird.study.bursts import burst_values
from earlybird.study.definition import Group, Part, Scalar
from earlybird.study.packets import packet_values
from earlybird.study.plan import StudyRun
from earlybird.study.queue import position_values
from earlybird.study.response import response_values
from earlybird.study.silence import silences
from earlybird.study.window import window_values

PER_LIFE = ("rto_count", "rto_untriggered", "sft_s", "sft_timer_s")
"""Columns that grow with the length of the run."""

PER_RUN = {
    "rto": pl.col("rto_count").mean(),
    "rto-untriggered": pl.col("rto_untriggered").mean(),
    "rto-repeated": (pl.col("rto_count") - pl.col("rto_untriggered")).mean(),
    "sft": pl.col("sft_s").mean(),
    "sft-timer": pl.col("sft_timer_s").mean(),
    "drop-rate": pl.col("drop_rate").mean(),
    "ipat": pl.col("ipat_stddev_ms").mean() / 1000,
    "required-delay": pl.col("required_sud_s").median(),
    "required-delay-90": pl.col("required_sud_s").quantile(0.9),
    "rto-base": pl.col("rto_fine_median_s").drop_nans().median(),
    "threshold": pl.col("er_threshold_median_s").drop_nans().median(),
    "early-second": pl.col("early_retransmits_second").mean(),
    "early": (pl.col("early_retransmits_first") + pl.col("early_retransmits_second")).mean(),
    "throughput": pl.col("throughput_bps").mean(),
    "bandwidth": pl.col("throughput_bps").sum(),
    "lost": pl.col("lost_share").mean(),
    "lost-units": pl.col("units_lost").mean(),
    "skipped": pl.col("segments_skipped").mean(),
    "discarded": pl.col("frames_discarded").mean(),
    "repeats": pl.col("retransmissions").mean(),
}
"""One number per run from its table of flows."""


SAME_MOMENT = 1e-6
"""Seconds; a freeze that begins so close to the timeout before it goes on with the same silence."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One run, reduced."""

    part: str
    axes: Mapping[str, Scalar]
    seed: int
    flows: int
    """Number of observed flows."""
    load: float
    """Measured T/µ; NaN where nothing sets it."""
    values: Mapping[str, float]
    delays: NDArray[np.float64]
    """Start-up delays in seconds."""
    success: NDArray[np.float64]
    """Share of flows in time at each of them."""
    late: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Share of late packets, and late units per flow, at each of them."""
    members: Mapping[str, "Observation"] = field(default_factory=dict)
    """The same of those flows only that belong to a group by themselves, for groups that have any."""


def observe(
    run: StudyRun, result: Result, trace: pl.DataFrame | None = None, groups: Iterable[Group] = ()
) -> Observation:
    """
    Reduce a result to what studies ask for.

    Parameters
    ----------
    run
        The run that was planned.
    result
        What it gave.
    trace
        The packets of its first flow, for parts that trace.
    groups
        Those into which single flows are put, for parts that allow it.

    Returns
    -------
    Observation
        Means over the observed flows; counts and sums scaled to the duration of the paper's run.
    """
    flows = _scaled(result.flows.filter(pl.col("group") == run.part.flows), run.part, result)
    whole = _reduced(run, result, flows)
    values = dict(whole.values) | _special_values(run, whole.values["threshold"], result, trace)
    values |= _link_values(result) | _relative_values(run, result, values)
    if run.part.reference_duration:
        values |= _freeze_values(result, flows)
    return replace(whole, values=values, members=_members(run, result, flows, groups) if run.part.partners else {})


def _reduced(run: StudyRun, result: Result, flows: pl.DataFrame) -> Observation:
    """Reduce what some of a run's flows showed."""
    delays, success, late = _curves(result, flows["flow"])
    values = {name: _number(value) for name, value in flows.select(**PER_RUN).row(0, named=True).items()}
    values |= _timer_values(result, flows)
    values["success-falls"] = float(np.max(-np.diff(success), initial=0.0))
    values["load"] = load = _number(result.summary.get("t_over_mu"))
    return Observation(run.part.name, run.axes, run.seed, flows.height, load, values, delays, success, late)


def _members(run: StudyRun, result: Result, flows: pl.DataFrame, groups: Iterable[Group]) -> dict[str, Observation]:
    """Reduce the flows of a run group by group, each flow where it belongs by its own load and losses."""
    loaded = flows.with_columns(load=_own_loads(run.part, result, flows))
    parts = {group.name: loaded.filter(*_limits(group)) for group in groups if group.load or group.drop}
    return {name: _reduced(run, result, part) for name, part in parts.items() if part.height}


def _limits(group: Group) -> list[pl.Expr]:
    limits = {"load": group.load, "drop_rate": group.drop}
    return [pl.col(name).is_between(*bounds, closed="left") for name, bounds in limits.items() if bounds]


def _own_loads(part: Part, result: Result, flows: pl.DataFrame) -> pl.Series:
    """Return each flow's T/µ; T is the mean of its throughput and its partner's, and so the run's T/µ is their mean."""
    partners = result.flows.filter(pl.col("group") == part.partners).select("index", partner="throughput_bps")
    both = flows.join(partners, on="index", how="left", maintain_order="left")
    throughput = both["throughput_bps"] + both["partner"]
    return throughput * (_number(result.summary.get("t_over_mu")) / _number(throughput.mean()))


def _scaled(flows: pl.DataFrame, part: Part, result: Result) -> pl.DataFrame:
    """Scale what grows with a flow's life to the life it would have had in the paper's run."""
    if part.reference_duration is None:
        return flows
    life = result.summary["duration_s"] - pl.col("start_s")
    return flows.with_columns(pl.col(PER_LIFE) * (part.reference_duration - pl.col("start_s")) / life)


def _curves(
    result: Result, flows: pl.Series
) -> tuple[NDArray[np.float64], NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    """Return the start-up delays and, at each, the share of flows in time and the measures of lateness."""
    rows = result.lateness.filter(pl.col("flow").is_in(flows.implode()))
    late, evaluated = pl.col("late").sum(), pl.col("evaluated").sum()
    columns = (pl.col("success").cast(pl.Float64).mean(), (late / evaluated).alias("share"), pl.col("late").mean())
    curve = rows.group_by("sud_s").agg(*columns).sort("sud_s")
    delays = curve["sud_s"].to_numpy()
    measures = {"late-share": curve["share"].to_numpy(), "late-units": curve["late"].to_numpy()}
    if "deliveries" in result.tables:
        films = result.deliveries.filter(pl.col("flow").is_in(rows["flow"].implode())).partition_by("flow")
        measures["silences"] = np.mean([silences(film, delays) for film in films], axis=0)
    return delays, curve["success"].to_numpy(), measures


def _timer_values(result: Result, flows: pl.DataFrame) -> dict[str, float]:
    timers = result.timeouts.filter(pl.col("flow").is_in(flows["flow"].implode()))["timer_s"]
    return {"timer-least": _number(timers.min()), "timer-most": _number(timers.max())}


def _freeze_values(result: Result, flows: pl.DataFrame) -> dict[str, float]:
    """Compare each flow's longest freeze, of timeouts that follow each other, with the start-up delay it needs."""
    if not result.timeouts.height:  # its columns have no types then
        return {}
    begin = pl.col("time_s") - pl.col("freeze_s")
    follows = (begin - pl.col("time_s").shift(1).over("flow")).abs() < SAME_MOMENT
    silence = (~follows.fill_null(value=False)).cum_sum().over("flow").alias("silence")
    frozen = result.timeouts.select("flow", "freeze_s", silence)
    longest = (
        frozen.group_by("flow", "silence").agg(pl.col("freeze_s").sum()).group_by("flow").agg(pl.col("freeze_s").max())
    )
    both = flows.join(longest, on="flow")
    return {"freeze-of-delay": _number(both.select((pl.col("freeze_s") / pl.col("required_sud_s")).median()).item())}


def _link_values(result: Result) -> dict[str, float]:
    """Reduce what the bottleneck saw; Little's law gives the mean wait."""
    link = result.links.row(by_predicate=pl.col("link") == result.summary["bottleneck"], named=True)
    packet_rate = link["packets_out"] / result.summary["duration_s"]
    return {
        "utilisation": link["utilisation"],
        "link-drop-rate": link["drop_rate"],
        "queue-delay": link["mean_queue_packets"] / packet_rate if packet_rate else math.nan,
    }


def _relative_values(run: StudyRun, result: Result, values: Mapping[str, float]) -> dict[str, float]:
    """Set the observed flows beside all others, the model, and their deadlines."""
    everyone = _number(result.flows["throughput_bps"].mean())
    late = result.lateness.filter(pl.col("group") == run.part.flows)
    relative = {
        "fair-share": values["throughput"] / everyone if everyone else math.nan,
        "late": _share_of(late, "late", "evaluated"),
        "web-rate": _number(result.summary.get("web_mbps")),
    }
    if run.part.partners:
        relative["partner-load"] = _partner_load(run.part, result, values["throughput"])
    if run.part.least_timeout:
        timeout = max(run.part.least_timeout, values["rto-base"])
        loss, window = float(run.axes["loss"]), float(result.scenario["endpoint"]["window"])
        model = pftk_throughput(loss, run.part.propagation, timeout, window=window)
        relative["pftk-ratio"] = values["throughput"] / 8000 / model
    return relative


def _partner_load(part: Part, result: Result, throughput: float) -> float:
    """Return the mean throughput of the partners ÷ the rate of the video, which T/µ knows: T is the mean of all."""
    partners = _number(result.flows.filter(pl.col("group") == part.partners)["throughput_bps"].mean())
    return _number(result.summary.get("t_over_mu")) * 2 * partners / (partners + throughput)


def _share_of(rows: pl.DataFrame, part: str, whole: str) -> float:
    """Divide the sums of two columns of whole numbers; NaN where there is nothing to divide by."""
    counted, every = (int(rows[column].sum()) for column in (part, whole))
    return counted / every if every else math.nan


def _special_values(run: StudyRun, threshold: float, result: Result, trace: pl.DataFrame | None) -> dict[str, float]:
    """Reduce what only some parts have."""
    longest = run.part.longest_round_trip(float(run.axes.get("buffer", 0)))
    values = {"threshold-excess": threshold - longest}
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
        values |= _repair_values(result)
    if trace is not None:
        values |= packet_values(trace, run.part.propagation)
    return values


def _repair_values(result: Result) -> dict[str, float]:
    """Reduce when packets that were lost were sent first and last; those never sent again are not repaired at all."""
    repaired = result.transmissions.filter((pl.col("dropped") > 0) & (pl.col("sent") > 1))
    spans = repaired["last_s"] - repaired["first_s"]
    return {"repair": _number(spans.median()), "repair-95": _number(spans.quantile(0.95))}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
