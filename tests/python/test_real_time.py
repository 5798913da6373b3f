"""The real-time mode from outside: its warning, its refusal, and what becomes of frames."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from earlybird import ScenarioWarning, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished

    Program = Callable[..., Finished]

CALL = REPOSITORY / "scenarios" / "audio-call.toml"
# 1.5 round trips of 100 ms and 3 periods of 20 ms are the least.
TOO_SHORT = "playback-delay=120ms"
RULE = "`120ms` is below 1.5 round trips + 3 periods (MTCP paper), here 1.5·100ms + 3·20ms"


def test_a_playback_delay_without_time_for_a_repair_is_run_with_a_warning(earlybird: Program) -> None:
    finished = earlybird("run", CALL, "--set", TOO_SHORT)
    assert finished.code == 0
    assert finished.err.startswith("earlybird: warning: flows.call.client.deadline.playback-delay: ")
    assert RULE in finished.err
    assert "210ms or more repairs" in finished.err
    assert finished.err.count("\n") == 1
    assert "drop rate at the bottleneck" in finished.out


def test_a_warning_does_not_change_the_json(earlybird: Program) -> None:
    finished = earlybird("run", CALL, "--set", TOO_SHORT, "--json")
    assert (finished.code, RULE in finished.err) == (0, True)
    assert json.loads(finished.out)["seed"] == 1


def test_validate_warns_too(earlybird: Program) -> None:
    finished = earlybird("validate", CALL, "--set", TOO_SHORT)
    assert (finished.code, RULE in finished.err) == (0, True)


def test_a_playback_delay_of_just_the_least_is_no_reason_to_warn(earlybird: Program) -> None:
    assert earlybird("validate", CALL, "--set", "playback-delay=210ms").err == ""
    assert "209ms" in earlybird("validate", CALL, "--set", "playback-delay=209ms").err


def test_in_python_it_is_a_warning_that_can_be_made_an_error() -> None:
    overrides = {"playback-delay": "120ms"}
    with pytest.warns(ScenarioWarning, match="MTCP paper") as caught:
        run(CALL, overrides=overrides)
    assert [str(one.message).count(RULE) for one in caught] == [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScenarioWarning)
        with pytest.raises(ScenarioWarning, match="MTCP paper"):
            run(CALL, overrides=overrides)


def test_an_application_without_frames_is_refused(earlybird: Program) -> None:
    finished = earlybird("run", CALL, "--set", "flows.call.application={ bulk = {} }")
    assert (finished.code, finished.out) == (2, "")
    assert "has no frames, which mtcp carries" in finished.err


def test_a_packet_above_the_mss_is_written_as_several_frames() -> None:
    for packet, frames in [(100, 1), (101, 2), (300, 3)]:
        application = {"cbr": {"rate": "40kb/s", "packet": packet, "packets": 50}}
        flows = run(CALL, overrides={"flows.call.application": application, "loss": 0, "playback-delay": "1s"}).flows
        assert flows["units_written"].item() == 50
        assert flows["frames_written"].item() == 50 * frames


def test_hosts_that_were_busy_now_and_then_brought_a_stream_down_to_nothing() -> None:
    """The receiver stands still for 130 ms thrice a second, which is no queue; a fiftieth is lost on the way."""
    outages = [(at, at + 0.13) for at in (3 + 0.33 * number for number in range(80))]
    steps = [
        {"at": f"{at:.4f}s", "rate": rate} for stop, go in outages for at, rate in ((stop, "1kb/s"), (go, "1Gb/s"))
    ]
    path = {"from": "source", "to": "host", "rate": "20Mb/s", "delay": "50ms", "queue": {"bytes": 200_000}}
    host = {"from": "host", "to": "viewer", "rate": "1Gb/s", "delay": "0.01ms", "queue": {"bytes": 2_000_000}}
    stream = {"cbr": {"rate": "4Mb/s", "packet": 1316}}
    found = run(
        {
            "duration": "30s",
            "endpoint": {"profile": "linux", "transport": "earlybird-rt"},
            "network": {
                "links": [path | {"loss": [{"bernoulli": {"probability": 0.02}}]}, host | {"rate-steps": steps}]
            },
            "flows": [
                {
                    "name": "media",
                    "from": "source",
                    "to": "viewer",
                    "application": stream,
                    "client": {"deadline": {"playback-delay": "450ms"}},
                }
            ],
        },
        seed=1,
    ).flows
    assert found["units_lost"][0] < 0.02 * found["units_written"][0]
