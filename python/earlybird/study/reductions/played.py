"""Observations of a play of a test bed, or of a run of a program."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from earlybird.metrics import studies
from earlybird.result import Result
from earlybird.study.reductions.observations import Observation
from earlybird.study.reductions.whole_runs import added_delay, number
from earlybird.study.reductions.window import window_values
from earlybird.study.runs.plan import StudyRun
from earlybird.testbed.play import FLOW

MEASURES: Final = {
    "player_startup_delay_s": "startup_delay_s",
    "player_stalls": "stalls",
    "player_stalled_s": "stalled_s",
    "player_frozen_picture_s": "frozen_s",
    "player_late_frames": "late_pictures",
    "player_dropped_frames": "frames_dropped",
    "player_audio_underruns": "starvations",
}
"""Metrics, and what they are called in a play's summary."""
OF_WINDOW: Final = ("cwnd_variation", "cwnd_change_per_s", "cwnd_falls")  # metrics of its samples


def observe_play(run: StudyRun, result: Result) -> Observation:
    """Reduce a play of one film to the quantities that studies ask for; NaN for what its client does not report."""
    values = {name: number(result.summary.get(key)) for name, key in MEASURES.items()}
    values |= added_delay(result) | dict.fromkeys(OF_WINDOW, math.nan) | window_values(result.series, FLOW)
    values["player_glitches"] = values["player_late_frames"] + values["player_audio_underruns"]
    return _observation(run, values)


def observe_program(run: StudyRun, result: Result) -> Observation:
    """Return what a program measured."""
    return _observation(run, {name: number(result.summary[name]) for name in studies().keys() & result.summary.keys()})


def _observation(run: StudyRun, values: Mapping[str, float]) -> Observation:
    nothing = np.empty(0)
    return Observation(run.part.name, run.axes, run.seed, 1, math.nan, values, nothing, nothing)
