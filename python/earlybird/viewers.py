"""Playback of all flows: one row per flow, one per transport, and lateness by startup delay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from earlybird.errors import InputError
from earlybird.player import LATE_SHARE_ALLOWED, Timeliness, play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from earlybird.result import Result

LATE_AT: Final = (1, 2, 5, 10)  # startup delays in seconds at which late frames are counted

PLAYER_STARTUP_DELAY: Final = 2.0  # startup delay in seconds of the player that pauses

CURVE_AT: Final = np.concatenate(
    [np.arange(0, 0.2, 0.005), np.arange(0.2, 2, 0.02), np.arange(2, 10, 0.05), np.arange(10, 30.01, 0.1)]
)
"""Startup delays in seconds at which the curve of late frames is drawn."""

NEEDS: Final = ("no_stall_startup_delay", "required_startup_delay")
"""Startup delays that a flow needs: for no late frame, and for fewer than 0.01 % of late frames."""

SENDER_COLUMNS: Final = ("frozen_s", "rto_count")


def judge_run(result: Result, group: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """
    Judge every film of a run: a row per flow, and frames late and due over all by startup delay.

    Flows have the startup delay needed for no late frame (`no_stall_startup_delay_s`) and for fewer than 0.01 %
    (`required_startup_delay_s`), frames late and due at each of `LATE_AT`, the stalls of a player that starts after
    `PLAYER_STARTUP_DELAY`, `frozen_s` and `rto_count`.
    """
    end = float(result.summary["duration_s"])
    rows, curves = [], []
    for name, written, delivered in films(result, group):
        timeliness = Timeliness(written, delivered, end)
        rows.append({"flow": name, **needs(timeliness), **pauses(written, delivered, end)})
        curves.append(curve_of(timeliness))
    if not rows:
        raise InputError(
            f"no flow `{group}` sent a frame in {end:g} s. Make the duration longer than their start times."
        )
    sender = result.flows.select("flow", *SENDER_COLUMNS)
    curve = pl.concat(curves).group_by("startup_delay_s", maintain_order=True).sum()
    return pl.DataFrame(rows).join(sender, on="flow", maintain_order="left"), curve


def films(result: Result, group: str) -> Iterator[tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Go through the flows of a group: name, times of writing, times of delivery."""
    deliveries = result.deliveries
    for name in result.flows.filter(pl.col("group") == group)["flow"]:
        frames = deliveries.filter(pl.col("flow") == name).sort("unit")
        if frames.height:
            yield name, frames["written_s"].to_numpy(), frames["delivered_s"].to_numpy()


def needs(timeliness: Timeliness) -> dict[str, float]:
    """Return the startup delay that a flow needs, and the late frames with less."""
    needed = {
        "no_stall_startup_delay_s": timeliness.needed_for(0.0),
        "required_startup_delay_s": timeliness.needed_for(LATE_SHARE_ALLOWED),
    }
    late = {f"late_{delay}s": timeliness.late(delay) for delay in LATE_AT}
    judged = {f"due_{delay}s": timeliness.judged(delay) for delay in LATE_AT}
    return {"frames": timeliness.frames, **needed, **late, **judged}


def pauses(written: np.ndarray[Any, Any], delivered: np.ndarray[Any, Any], end: float) -> dict[str, float]:
    """Return the playback of a flow in a player that stalls."""
    playback = play(written, delivered, startup_delay=PLAYER_STARTUP_DELAY, end=end)
    return {"stalls": len(playback.stalls), "stalled_s": playback.stalled, "played_s": playback.played}


def curve_of(timeliness: Timeliness) -> pl.DataFrame:
    """Count late and judged frames over the startup delay."""
    late = [timeliness.late(delay) for delay in CURVE_AT]
    judged = [timeliness.judged(delay) for delay in CURVE_AT]
    return pl.DataFrame({"startup_delay_s": CURVE_AT, "late": late, "due": judged})


def summarise(flows: pl.DataFrame, curve: pl.DataFrame) -> dict[str, float]:
    """Put the flows of one transport, of any number of runs, together: quantiles and means over flows."""
    stalls, stalled = total(flows, "stalls"), total(flows, "stalled_s")
    return {
        "flows": flows.height,
        "frames": int(total(flows, "frames")),
        **{f"{need}_median_s": float(np.median(flows[f"{need}_s"].to_numpy())) for need in NEEDS},
        **{f"{need}_p90_s": quantile(flows, f"{need}_s", 0.9) for need in NEEDS},
        "required_startup_delay_all_s": first_below(curve, LATE_SHARE_ALLOWED),
        **{f"late_{delay}s": late_share(flows, delay) for delay in LATE_AT},
        "stall_free": flows.filter(pl.col("stalls") == 0).height / flows.height,
        "stalls": stalls / flows.height,
        "mean_stall_s": stalled / stalls if stalls else math.nan,
        "stalled_s": stalled / flows.height,
        "stall_ratio": stalled / (stalled + total(flows, "played_s")),
        "frozen_s": total(flows, "frozen_s") / flows.height,
        "rto_count": total(flows, "rto_count") / flows.height,
    }


def total(flows: pl.DataFrame, column: str) -> float:
    """Add up a column."""
    return float(flows[column].sum())


def quantile(flows: pl.DataFrame, column: str, share: float) -> float:
    """Return the smallest value of a flow that at least `share` of the flows do not exceed."""
    # Between two flows no value is reached by that share: of four flows 90 % are all.
    return float(np.quantile(flows[column].to_numpy(), share, method="inverted_cdf"))


def late_share(flows: pl.DataFrame, delay: int) -> float:
    """Divide the late frames of all flows by those judged; not a number where none is."""
    judged = total(flows, f"due_{delay}s")
    return total(flows, f"late_{delay}s") / judged if judged else math.nan


def first_below(curve: pl.DataFrame, allowed: float) -> float:
    """Return the smallest startup delay of the curve with fewer late frames than allowed; infinite without one."""
    good = curve.filter(pl.col("late") < allowed * pl.col("due"))["startup_delay_s"]
    return float(good.to_numpy().min()) if len(good) else math.inf
