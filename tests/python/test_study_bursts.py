"""Reductions of a study of bursts: thresholds, growth, correlation, the worst burst."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import earlybird
from conftest import REPOSITORY
from earlybird.study.reductions import bursts
from earlybird.study.reductions.observations import Observation
from study_parts import DELAYS

if TYPE_CHECKING:
    from collections.abc import Mapping

# Three losses have a maximum of their own; from eight on, each loss more doubles the delay, or nearly.
DELAY_BY_BURST = {1: 0.2, 2: 0.4, 3: 1.2, 4: 0.3, 8: 1.5, 9: 3.0, 10: 5.4}


def runs(delays: Mapping[int, float]) -> list[Observation]:
    """Return a run for each length of the burst, in falling order."""

    def run(burst: int, delay: float) -> Observation:
        values = {"burst_delay_max_s": delay, "playout_buffer_s": min(delay - 0.1, 10.0)}
        return Observation("path", {"burst": burst}, 1, 1, math.nan, values, DELAYS, np.zeros(3))

    return [run(burst, delay) for burst, delay in reversed(list(delays.items()))]


def test_the_threshold_leaves_three_losses_aside() -> None:
    assert bursts.threshold(runs(DELAY_BY_BURST)) == 8
    assert math.isnan(bursts.threshold(runs({1: 0.2, 3: 1.2})))


def test_growth_is_that_from_the_threshold_on() -> None:
    assert bursts.least_growth(runs(DELAY_BY_BURST)) == pytest.approx(1.8)
    assert bursts.most_growth(runs(DELAY_BY_BURST)) == pytest.approx(2.0)
    assert math.isnan(bursts.least_growth(runs({1: 0.2, 3: 1.2})))


def test_the_correlation_leaves_out_buffers_at_their_limit() -> None:
    assert bursts.buffer_correlation(runs({**DELAY_BY_BURST, 14: 100.0})) == pytest.approx(1.0)
    assert math.isnan(bursts.buffer_correlation(runs({14: 100.0, 15: 200.0, 1: 0.2})))


def test_the_worst_of_ten_bursts_of_three_takes_two_repairs_and_a_timeout() -> None:
    overrides = {"burst": 3, "rtt": "100ms", "measure.deliveries": True}
    result = earlybird.run(REPOSITORY / "scenarios" / "burst-loss.toml", overrides=overrides)
    values = bursts.burst_values(result)
    assert (values["worst_burst_fast_retransmits"], values["worst_burst_timeouts"]) == (2, 1)
    assert values["burst_delay_max_s"] == pytest.approx(0.7508, abs=1e-4)
    assert values["worst_burst_model_excess_rtts"] == pytest.approx(1.0, abs=0.01)
    assert values["playout_buffer_s"] == pytest.approx(0.7508 - 0.0503, abs=1e-4)
    around = bursts.delays(result)
    assert around["delay_ms"].max() == pytest.approx(1000 * values["burst_delay_max_s"])
    assert around.filter(around["time_s"] < 0)["delay_ms"].max() == pytest.approx(50.26, abs=0.01)


def test_where_recoveries_overlap_one_burst_is_measured_in_isolation() -> None:
    overrides = {"burst": 14, "rtt": "20ms"}
    result = earlybird.run(REPOSITORY / "scenarios" / "burst-loss.toml", overrides=overrides)
    assert result.bursts["burst"].to_list() == [1]
    assert result.summary["late_segments_per_burst"] == 952
    assert (result.summary["playout_buffer_s"], result.summary["playout_buffer_segments"]) == (10.0, 300)
