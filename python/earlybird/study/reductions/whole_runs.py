"""Metrics of a run beside its observed flows: bottleneck, other flows, model, freezes and repairs."""

import math
from collections.abc import Mapping

import polars as pl

from earlybird.models import pftk_throughput
from earlybird.result import Result
from earlybird.study.language.definition import Part
from earlybird.study.runs.plan import StudyRun

MICROSECOND = 1e-6  # in seconds
FREEZE_TOLERANCE = 1e-6  # seconds; a freeze that begins so close to the timeout before it continues the same freeze


def freeze_values(result: Result, flows: pl.DataFrame) -> dict[str, float]:
    """Compare each flow's longest freeze, of timeouts that follow each other, with the startup delay it needs."""
    if not result.timeouts.height:  # its columns have no types then
        return {}
    begin = pl.col("time_s") - pl.col("frozen_s")
    follows = (begin - pl.col("time_s").shift(1).over("flow")).abs() < FREEZE_TOLERANCE
    series = (~follows.fill_null(value=False)).cum_sum().over("flow").alias("series")
    frozen = result.timeouts.select("flow", series, freeze="frozen_s")  # the flows have a column `frozen_s` too
    freezes = frozen.group_by("flow", "series").agg(pl.col("freeze").sum())
    both = flows.join(freezes.group_by("flow").agg(pl.col("freeze").max()), on="flow")
    ratio = both.select((pl.col("freeze") / pl.col("required_startup_delay_s")).median())
    return {"freeze_over_startup_delay": number(ratio.item())}


def link_values(result: Result) -> dict[str, float]:
    """Reduce the bottleneck's measures; Little's law gives the mean time in its queue."""
    link = result.links.row(by_predicate=pl.col("link") == result.summary["bottleneck"], named=True)
    packet_rate = link["packets_per_second"]
    return {
        "utilisation": link["utilisation"],
        "drop_rate": link["drop_rate"],
        "mean_queue_delay_s": link["mean_queue_delay_ms"] / 1e3,
        "queue_delay_littles_law_s": link["mean_queue_packets"] / packet_rate if packet_rate else math.nan,
    }


def added_delay(result: Result) -> dict[str, float]:
    """Return how late the emulated links were, of a run in real time."""
    return {"emulator_added_delay_p99_s": number(result.summary.get("added_delay_p99_us")) * MICROSECOND}


def relative_values(run: StudyRun, result: Result, values: Mapping[str, float]) -> dict[str, float]:
    """Set the observed flows beside all others, the model, and their deadlines."""
    everyone = number(result.flows["throughput_bps"].mean())
    squares = number((result.flows["throughput_bps"] ** 2).mean())
    late = result.lateness.filter(pl.col("group") == run.part.flows)
    relative = {
        "relative_throughput": values["throughput_bps"] / everyone if everyone else math.nan,
        "jain_index": everyone**2 / squares if squares else math.nan,
        "late_share_all_delays": _share_of(late, "late", "due"),
        "web_mbps": number(result.summary.get("web_mbps")),
    }
    if run.part.partners:
        relative["bulk_throughput_over_mu"] = _partner_load(run.part, result, values["throughput_bps"])
    if run.part.least_timeout:
        timeout = max(run.part.least_timeout, values["rto_unclamped_median_s"])
        loss, window = float(run.axes["loss"]), float(result.scenario["endpoint"]["window"])
        model = pftk_throughput(loss, run.part.propagation, timeout, window=window)
        relative["pftk_ratio"] = values["throughput_bps"] / 8000 / model
    return relative


def _partner_load(part: Part, result: Result, throughput: float) -> float:
    """Return the partners' mean throughput ÷ the rate of the video, from T/µ, where T is the mean of all."""
    partners = number(result.flows.filter(pl.col("group") == part.partners)["throughput_bps"].mean())
    return number(result.summary.get("t_over_mu")) * 2 * partners / (partners + throughput)


def _share_of(rows: pl.DataFrame, part: str, whole: str) -> float:
    """Divide the sums of two columns of whole numbers; NaN where there is nothing to divide by."""
    counted, every = (int(rows[column].sum()) for column in (part, whole))
    return counted / every if every else math.nan


def repair_values(result: Result) -> dict[str, float]:
    """Reduce when packets that were lost were sent first and last; those never sent again are not repaired at all."""
    repaired = result.transmissions.filter((pl.col("times_dropped") > 0) & (pl.col("times_sent") > 1))
    spans = repaired["last_sent_s"] - repaired["first_sent_s"]
    return {"repair_time_median_s": number(spans.median()), "repair_time_p95_s": number(spans.quantile(0.95))}


def number(value: object) -> float:
    """Return what is a number; NaN for anything else."""
    return float(value) if isinstance(value, int | float) else math.nan
