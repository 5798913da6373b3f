"""Playback of hand-made delivery times."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earlybird.player import Timeliness, play

PERIOD = 0.1
WRITTEN: NDArray[np.float64] = np.arange(100, dtype=np.float64) * PERIOD
END = 12.0


def delivered(*gaps: tuple[int, int, float]) -> NDArray[np.float64]:
    """Deliver each frame 0.05 s after it was written, but frames first … last − 1 of a silence not before its end."""
    times = WRITTEN + 0.05
    for first, last, until in gaps:
        times[first:last] = np.maximum(times[first:last], until)
    return times


def test_a_smooth_delivery_makes_no_frame_late_and_no_stall() -> None:
    timeliness = Timeliness(WRITTEN, delivered(), END)
    playback = play(WRITTEN, delivered(), startup_delay=0.1, end=END)
    assert timeliness.late(0.1) == 0
    assert timeliness.needed_for() == pytest.approx(0.05)
    assert playback.stalls == ()
    assert math.isnan(playback.mean_stall)
    assert playback.played == pytest.approx(END - 0.1)


def test_a_gap_longer_than_the_startup_delay_is_one_stall_that_shifts_the_rest() -> None:
    # Frame 20 is due at 2.0 + 1.0 s and comes at 4.0 s: one second of pause, after which playback runs 2 s behind.
    times = delivered((20, 40, 4.0))
    playback = play(WRITTEN, times, startup_delay=1.0, end=END)
    assert playback.stalls == pytest.approx((1.0,))
    assert playback.positions == pytest.approx((2.0,))
    assert playback.played == pytest.approx(END - 2.0)
    assert playback.stall_ratio == pytest.approx(1 / 11)


def test_late_frames_of_a_gap() -> None:
    # Delays from the silence: frame 20 takes 2.0 s, frame 21 1.9 s, … ; ten of them take longer than 1.05 s.
    timeliness = Timeliness(WRITTEN, delivered((20, 40, 4.0)), END)
    assert timeliness.late(1.05) == 10
    assert timeliness.judged(1.05) == 100
    assert timeliness.late_share(1.05) == pytest.approx(0.10)
    assert timeliness.needed_for() == pytest.approx(2.0)
    assert timeliness.needed_for(0.03) == pytest.approx(1.8)  # fewer than 3 of 100: two may be late


def test_frames_due_after_the_end_are_not_judged() -> None:
    timeliness = Timeliness(WRITTEN, delivered(), 10.0)
    assert timeliness.judged(5.05) == 50
    assert timeliness.judged(11.0) == 0
    assert math.isnan(timeliness.late_share(11.0))


def test_a_frame_never_delivered_is_late_and_stalls_to_the_end() -> None:
    times = delivered()
    times[50:] = np.inf
    timeliness = Timeliness(WRITTEN, times, END)
    playback = play(WRITTEN, times, startup_delay=1.0, end=END)
    assert timeliness.late(1.0) == 50
    assert timeliness.needed_for() == pytest.approx(7.0)  # written at 5 s, still missing at 12 s
    assert playback.stalls == pytest.approx((6.0,))
    assert playback.played == pytest.approx(5.0)


def test_a_frame_due_after_the_end_of_the_run_does_not_stall() -> None:
    times = delivered()
    times[90:] = np.inf
    assert play(WRITTEN, times, startup_delay=3.0, end=END).stalls == ()


def test_playback_goes_on_when_the_refill_is_there() -> None:
    # Frame 20 comes at 4.0 s, frame 25 not before 5.0 s: without a refill these are two stalls, with one of 0.6 s one.
    times = delivered((20, 40, 4.0), (25, 50, 5.0))
    without = play(WRITTEN, times, startup_delay=1.0, end=END, refill=0.0)
    with_refill = play(WRITTEN, times, startup_delay=1.0, end=END, refill=0.6)
    assert without.stalls == pytest.approx((1.0, 0.5))
    assert with_refill.stalls == pytest.approx((2.0,))


def test_times_need_not_start_at_zero() -> None:
    times = delivered((20, 40, 4.0))
    shifted = play(WRITTEN + 7, times + 7, startup_delay=1.0, end=END + 7)
    assert shifted.stalls == pytest.approx((1.0,))
    assert shifted.positions == pytest.approx((2.0,))
    assert shifted.played == pytest.approx(END - 2.0)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.floats(0, 3))
def test_pauses_without_refill_add_up_to_the_missing_startup_delay(extra: list[float], startup_delay: float) -> None:
    written = np.arange(len(extra), dtype=np.float64) * PERIOD
    times = np.maximum.accumulate(written + np.array(extra))
    end = 100.0
    stalled = play(written, times, startup_delay=startup_delay, end=end, refill=0.0).stalled
    needed = Timeliness(written, times, end).needed_for()
    assert stalled == pytest.approx(max(needed - startup_delay, 0), abs=1e-9)


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60), st.floats(0, 4))
def test_no_frame_is_late_with_the_startup_delay_needed(extra: list[float], allowed: float) -> None:
    written = np.arange(len(extra), dtype=np.float64) * PERIOD
    timeliness = Timeliness(written, np.maximum.accumulate(written + np.array(extra)), 100.0)
    share = allowed / 5
    needed = timeliness.needed_for(share)
    assert timeliness.late(needed) <= timeliness.allowed(share)
