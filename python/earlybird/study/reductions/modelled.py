"""Observations of a model's case, or of a session of a plan."""

import math

import numpy as np
from numpy.typing import NDArray

from earlybird.planning.study_adapter import SessionCase
from earlybird.result import Result
from earlybird.study.reductions.observations import Observation
from earlybird.study.runs.plan import StudyRun

RARE = 1e-4  # the share of late packets below which a video counts as in time


def observe_model(run: StudyRun, result: Result) -> Observation:
    """Reduce a model's result to the quantities that studies ask for, of one flow."""
    return _session(run, result) if run.part.model == SessionCase.name else _chain(run, result)


def _session(run: StudyRun, result: Result) -> Observation:
    """Reduce a session; what no delay would do for has to wait for the whole film."""
    case, nothing = SessionCase(**result.scenario["case"]), np.empty(0)
    wait = min(result.table("session")["need_s"].item(), case.length)
    trips = (wait - case.largest_frame_s) / case.round_trip
    values = {"session_startup_delay_s": wait, "session_startup_delay_rtts": trips}
    return Observation(run.part.name, run.axes, run.seed, 1, math.nan, values, nothing, nothing)


def _chain(run: StudyRun, result: Result) -> Observation:
    """Reduce a chain. Whether a flow is in time is not known: the model has shares of packets only."""
    summary, lateness = result.summary, result.lateness
    delays, late = lateness["startup_delay_s"].to_numpy(), lateness["late_share"].to_numpy()
    values = {
        "t_over_mu": float(run.axes["load"]),
        "model_throughput_packets_per_s": summary["throughput_pps"],
        "pftk_ratio": summary["throughput_pps"] / summary["pftk_pps"],
        "model_startup_delay_s": rare_delay(delays, late),
        "diffusion_startup_delay_s": summary["diffusion_delay_s"],
    }
    unknown = np.full(delays.shape, math.nan)
    late_share = {"late_share": late}
    return Observation(run.part.name, run.axes, run.seed, 1, values["t_over_mu"], values, delays, unknown, late_share)


def rare_delay(delays: NDArray[np.float64], late: NDArray[np.float64]) -> float:
    """Find the startup delay in seconds with 1 in 10,000 late, exponentially between neighbours; else NaN."""
    above = np.flatnonzero(late > RARE)
    if not above.size or above[-1] + 1 == late.size or late[above[-1] + 1] <= 0:
        return math.nan
    last = above[-1]
    left, right, level = math.log(late[last]), math.log(late[last + 1]), math.log(RARE)
    return float(delays[last] + (delays[last + 1] - delays[last]) * (left - level) / (left - right))
