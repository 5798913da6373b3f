"""Sessions of a plan as runs of a study, and the page that is made of them."""

from __future__ import annotations

import runpy
import sys
from typing import Any

import numpy as np
import pytest

from conftest import REPOSITORY
from earlybird.errors import InputError
from earlybird.planning.planner import PlanRequest
from earlybird.planning.planner import plan as plan_for
from earlybird.planning.profiles import PROFILES
from earlybird.planning.selection import quantile_difference, quantile_estimate
from earlybird.planning.session import SRT_POLLING
from earlybird.planning.study_adapter import SessionCase
from earlybird.run_specs import ModelRun
from earlybird.study.language.definition import Part
from earlybird.study.reductions.modelled import observe_model
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import StudyRun
from earlybird.study.statements import estimation

sys.path.insert(0, str(REPOSITORY / "studies" / "how-long-confirmed"))
from confirmed import Wait, key, measure, upwards

CASE = SessionCase("bbr3-rack", 0.01, "60ms", 0.5, bitrate="1Mb/s", length=10.0)


def test_a_session_is_what_a_plan_plays_of_the_same_line() -> None:
    request = PlanRequest(
        bitrate="1Mb/s", rate="2Mb/s", rtt="60ms", loss="1%", duration="10s", transports=["bbr3-rack"], seeds=[7]
    )
    reported = plan_for(request)
    expected = next(one for one in reported.results if one.candidate.name == "bbr3-rack").sessions[0].delay_needed
    assert ModelRun(CASE).make(7).table("session")["need_s"].item() == expected


def test_what_no_delay_would_do_for_waits_for_the_whole_film() -> None:
    axes: dict[str, Any] = {"sender": "cubic", "loss": 0.2, "rtt": "60ms", "ratio": 0.5, "length": 20.0}
    run = StudyRun(Part("session", model="session"), axes, 1, axes)
    made = resolved(run).spec.make(1)
    assert made.table("session")["need_s"].item() == np.inf
    assert observe_model(run, made).values["session_startup_delay_s"] == 20.0


def test_round_trips_leave_out_the_largest_frame() -> None:
    axes: dict[str, Any] = {
        "sender": "srt",
        "loss": 0.0,
        "rtt": "100ms",
        "ratio": 0.8,
        "key_frame": 1.0,
        "length": 10.0,
    }
    run = StudyRun(Part("session", model="session"), axes, 1, axes)
    found = observe_model(run, resolved(run).spec.make(1)).values
    assert SessionCase(**axes).largest_frame_s == pytest.approx(0.8 * 0.04 * 1500 / 1448, rel=0.01)
    half_and_polling = 0.5 + SRT_POLLING / 0.1
    assert found["session_startup_delay_rtts"] == pytest.approx(half_and_polling, rel=0.01)


def test_nine_of_ten_seeds_are_counted_of_what_sessions_need_and_the_mean_of_all_else() -> None:
    by_seed = dict(enumerate([1.0] * 8 + [2.0, 60.0]))
    assert estimation.estimate("session_startup_delay_s", by_seed).mean == 2.0
    assert estimation.estimate("rto_count", by_seed).mean == pytest.approx(7.0)
    higher = {seed: value + 0.5 for seed, value in by_seed.items()}
    assert estimation.difference("session_startup_delay_s", by_seed, higher).mean == -0.5


def test_the_interval_of_a_difference_is_that_of_pairs() -> None:
    first = np.random.default_rng(1).exponential(size=40)
    found = quantile_difference(np.stack([first, first + 1], axis=1))
    assert (found.mean, found.low, found.high) == pytest.approx((-1, -1, -1))
    assert quantile_estimate(first).low < quantile_estimate(first).mean <= quantile_estimate(first).high


def test_the_page_is_read_upwards() -> None:
    def cell(loss: float, rtt: str, ratio: float) -> Wait:
        return Wait(SessionCase("cubic", loss, rtt, ratio), 0.3, 10)

    cells = [cell(loss, rtt, ratio) for loss in (0.003, 0.01) for rtt in ("20ms", "60ms") for ratio in (0.25, 0.5)]
    known = {key(one.case): one for one in cells}
    found = upwards(known, SessionCase("cubic", 0.005, "40ms", 0.3))
    assert found is not None
    assert (found.case.loss, found.case.rtt, found.case.ratio) == (0.01, "60ms", 0.5)
    assert upwards(known, SessionCase("cubic", 0.02, "40ms", 0.3)) is None


def test_a_delay_is_rounded_up_to_half_a_round_trip() -> None:
    case = SessionCase("cubic", 0.01, "100ms", 0.5)
    texts = [Wait(case, case.largest_frame_s + delay_needed, 10).text for delay_needed in (0.31, 0.35, 1.21)]
    assert texts == ["3.5", "3.5", "13"]
    assert Wait(case, 60.0, 10).text == "never"


def test_a_session_over_a_line_between_those_of_the_table_had_no_delay_of_it() -> None:
    settings = {"sender": "bbr3-rack", "line": "0.2 %, 40 ms, 0.4", "backend": "sim", "duration": "60s"}
    found = measure(settings, 1)
    assert found["session_table_delay_s"] == pytest.approx(0.22, abs=0.005)
    assert 0.1 < found["session_startup_delay_s"] < 0.3
    assert found["session_in_time_share"] == (found["session_startup_delay_s"] <= found["session_table_delay_s"])


def test_a_session_was_tried_where_the_table_has_no_delay() -> None:
    with pytest.raises(InputError, match="the table has no delay for cubic over 2 %, 100 ms"):
        measure({"sender": "cubic", "line": "2 %, 100 ms, 0.4", "backend": "sim", "duration": "60s"}, 1)


def plans() -> dict[str, Any]:
    """Return the program of the study of repeated plans."""
    return runpy.run_path(str(REPOSITORY / "studies" / "plan-confirmed" / "plans.py"))


def test_every_case_of_the_repeated_plans_is_a_plan_that_can_be_asked_for() -> None:
    assert {PlanRequest(**case).profile for case in plans()["CASES"]} <= {None, *PROFILES}


def test_a_recommendation_without_a_quicker_sender_did_not_hold() -> None:
    measure = plans()["measure"]
    line = {"bitrate": "300kb/s", "rate": "1Mb/s", "rtt": "60ms", "duration": "10s", "transports": ["cubic", "sack"]}
    measure.__globals__["CASES"] = (line,)
    found = measure({"case": 1, "sessions": 5}, 1)
    assert (found["plan_holds_share"], found["recommended"]) == (1.0, "cubic")
    assert found["plan_delay_s"] > 0.03
