"""The papers' equations for round trips, against vectors that were computed by hand, and in a run."""

from __future__ import annotations

import polars as pl
import pytest

from earlybird.models import early_thresholds, printed_timeouts, queueing_delays, retransmission_timeouts
from earlybird.study.reductions.equations import equation_values

SIX = (0.050, 0.070, 0.070, 0.060, 0.050, 0.050)


def test_the_threshold_of_six_round_trips() -> None:
    expected = [0.150, 0.148750, 0.147422, 0.140435, 0.132317, 0.126104]
    assert list(early_thresholds(SIX)) == pytest.approx(expected, abs=1e-6)


def test_the_timeout_of_a_constant_round_trip_shrinks_to_it() -> None:
    timeouts = list(retransmission_timeouts([0.1] * 100))
    assert timeouts[0] == pytest.approx(0.3)
    assert timeouts[-1] == pytest.approx(0.1)
    assert list(retransmission_timeouts([0.1] * 100, 0.001))[-1] == pytest.approx(0.101)


def test_the_timeout_as_printed_grows_to_120_round_trips() -> None:
    assert list(printed_timeouts([0.1] * 300))[-1] == pytest.approx(12.0)


def test_the_smoothed_delay_after_a_hundred_round_trips() -> None:
    assert list(queueing_delays([0.050, *[0.070] * 100]))[-1] == pytest.approx(0.0126794, abs=1e-7)


def test_a_run_is_compared_with_the_equations_at_each_time() -> None:
    events = [(0.0, "snd", 0), (0.1, "ack", 0), (0.1, "snd", 1), (0.2, "ack", 1)]
    trace = pl.DataFrame(events, schema=["time", "event", "seq"], orient="row")
    samples = [(0.15, "rto_s", 0.3), (0.25, "rto_s", 0.25), (0.05, "rto_s", 9.0), (0.25, "er_threshold_s", 0.29)]
    rows = [(time, "a0", quantity, value) for time, quantity, value in samples]
    series = pl.DataFrame(rows, schema=["time_s", "subject", "quantity", "value"], orient="row")
    values = equation_values(series, trace, "a0")
    assert values["rto_equation_difference_s"] == pytest.approx(0.0)
    assert values["er_threshold_equation_difference_s"] == pytest.approx(0.01)
