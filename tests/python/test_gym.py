"""The Gymnasium environment: its contract, its numbers, its determinism, and mistakes of those who use it."""

from __future__ import annotations

import json
import math
import runpy
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import REPOSITORY
from earlybird import InputError, ScenarioError, run

gymnasium = pytest.importorskip("gymnasium", exc_type=ImportError)

from gymnasium.utils.env_checker import check_env  # noqa: E402

from earlybird.gym import OBSERVATION, CongestionControl  # noqa: E402

LINE = """
duration = "8s"
[parameters]
loss = 0.0
rate = "10Mb/s"
[endpoint]
profile = "linux"
transport = "cubic-rack"
[[network.links]]
from = "a"
to = "b"
rate = "$rate"
delay = "20ms"
queue = { packets = 60 }
loss = [{ bernoulli = { probability = "$loss" } }]
[[flows]]
name = "film"
from = "a"
to = "b"
application = { bulk = {} }
[[flows]]
name = "others"
count = 2
from = "a"
to = "b"
application = { bulk = {} }
start = { at = "4s" }
"""
NAME = "earlybird/CongestionControl-v0"


def episode(
    environment: CongestionControl, exponent: float, seed: int = 1
) -> tuple[list[Any], list[float], dict[str, Any]]:
    """Run an episode with one action; return observations, rewards and the last information."""
    observation, _ = environment.reset(seed=seed)
    observations, rewards = [observation], []
    while True:
        observation, reward, terminated, truncated, info = environment.step(np.array([exponent], np.float32))
        observations.append(observation)
        rewards.append(reward)
        assert not terminated
        if truncated:
            return observations, rewards, info


def test_environment_follows_the_interface_of_gymnasium() -> None:
    environment = gymnasium.make(NAME, scenario=LINE, flow="film")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped)
    environment.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_vectors_of_environments_run_beside_each_other(mode: str) -> None:
    environments = gymnasium.make_vec(NAME, num_envs=2, vectorization_mode=mode, scenario=LINE, flow="film")
    environments.reset(seed=1)
    for _ in range(20):
        observations, rewards, *_ = environments.step(np.zeros((2, 1), np.float32))
    environments.close()
    assert observations.shape == (2, len(OBSERVATION))
    assert np.isfinite(rewards).all()


def test_same_seed_gives_the_same_episode_and_another_seed_another_one() -> None:
    environment = CongestionControl(LINE, flow="film", overrides={"loss": 0.02})
    first, repeated, other = (episode(environment, 0.02, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, repeated)
    assert len(first) != len(other) or not np.array_equal(first, other)


def test_constant_window_gets_window_per_round_trip() -> None:
    # RFC 5681's ten segments (RFC 6928) per round trip of 40 ms, and their transmission time.
    environment = CongestionControl(LINE, flow="film", overrides={"flows.others.start.at": "8s"})
    environment.reset(seed=1)
    information = [environment.step(np.zeros(1, np.float32))[4] for _ in range(50)]
    rates = [info["acked"] / info["length"] for info in information]
    assert {info["cwnd"] for info in information} == {10}
    assert np.mean(rates) == pytest.approx(10 / np.mean([info["rtt"] for info in information]), rel=0.1)
    environment.close()


def test_reward_is_the_logarithm_of_rate_less_delay_and_loss() -> None:
    environment = CongestionControl(LINE, flow="film", overrides={"loss": 0.02}, delay_weight=2, loss_weight=3)
    environment.reset(seed=1)
    for _ in range(40):
        _, reward, _, _, info = environment.step(np.array([0.05], np.float32))
        rate = info["acked"] * info["mss"] * 8e-6 / info["length"]
        loss = info["lost"] / max(info["lost"] + info["acked"], 1)
        utility = math.log(rate) - 2 * math.log(info["rtt"] / info["min_rtt"]) - 3 * loss
        assert reward == pytest.approx(info["length"] * utility)
    environment.close()


def test_larger_window_fills_the_queue_until_it_loses() -> None:
    observations, _, info = episode(CongestionControl(LINE, flow="film"), 0.3)
    by_name = dict(zip(OBSERVATION, np.max(observations, axis=0), strict=True))
    assert by_name["rtt"] > 0.5  # the queue's 72 ms of 60 packets beside 40 ms
    assert by_name["loss"] > 0
    assert info["summary"]["queue_drop_rate"] > 0
    assert info["tables"]["flows"]["group"][0] == "film"


def test_intervals_of_a_given_length() -> None:
    environment = CongestionControl(LINE, flow="film", interval=0.25)
    observations, _, _ = episode(environment, 0.0)
    # 8 s less the handshake and the last part.
    assert len(observations) in (31, 32, 33)


def test_values_are_drawn_by_the_seed_and_replaced_by_options() -> None:
    environment = CongestionControl(LINE, flow="film", draw={"rate": ["5Mb/s", "20Mb/s"], "loss": [0.0, 0.01]})
    drawn = [environment.reset(seed=seed)[1]["drawn"] for seed in range(12)]
    assert {values["rate"] for values in drawn} == {"5Mb/s", "20Mb/s"}
    assert drawn == [environment.reset(seed=seed)[1]["drawn"] for seed in range(12)]
    _, info = environment.reset(options={"rate": "7Mb/s"})
    assert info["drawn"]["rate"] == "7Mb/s"
    environment.close()


def test_path_without_any_acknowledgement_ends_at_once() -> None:
    environment = CongestionControl(LINE, flow="film", overrides={"loss": 0.999999999})
    observation, _ = environment.reset(seed=1)
    assert not observation.any()
    assert environment.step(np.zeros(1, np.float32))[2:4] == (False, True)


def test_closed_environments_leave_no_thread() -> None:
    def threads() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    before = threads()
    environments = [CongestionControl(LINE, flow="film") for _ in range(5)]
    for environment in environments:
        environment.reset(seed=1)
    assert threads() == before + 5
    assert threading.active_count() <= before
    for environment in environments:
        environment.close()
        environment.close()
    assert threads() == before


@pytest.mark.parametrize("action", [np.array([math.nan]), np.array([0.0, 0.0]), 0.5, "up", np.array([1.5]), None])
def test_what_is_no_action_is_refused_and_the_run_goes_on(action: Any) -> None:  # noqa: ANN401 -- any mistake
    environment = CongestionControl(LINE, flow="film")
    environment.reset(seed=1)
    with pytest.raises(InputError, match=r"is no action; allowed: an array of one number from -1 to 1\.") as refused:
        environment.step(action)
    assert "\n" not in str(refused.value)
    environment.step(np.zeros(1, np.float32))
    environment.close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"has 0 flows with transport `agent-rack`; allowed: one\. hint: flow = NAME .* film, others"),
        ({"flow": "others"}, r"has 2 flows with transport `agent-rack`"),
        ({"flow": "film", "interval": 0}, r"interval = 0: allowed: seconds above 0"),
        ({"flow": "film", "interval": math.nan}, r"interval = nan"),
        ({"flow": "film", "loss_weight": -1}, r"loss_weight = -1: allowed: 0 and more"),
        ({"flow": "film", "draw": {"rate": "5Mb/s"}}, r"draw\.rate = '5Mb/s': allowed: a list"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        CongestionControl(LINE, **arguments)
    assert "\n" not in str(refused.value)


def test_flow_that_does_not_exist_and_real_time_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"flows\.nope: .* allowed: film, others"):
        CongestionControl(LINE, flow="nope")
    environment = CongestionControl(LINE, flow="film", overrides={"backend": "live"})
    with pytest.raises(ScenarioError, match=r"does not run control `agent`"):
        environment.reset(seed=1)


def test_step_without_a_run_is_refused() -> None:
    with pytest.raises(InputError, match="hint: call reset first"):
        CongestionControl(LINE, flow="film").step(np.zeros(1, np.float32))


def test_transport_agent_outside_of_an_environment_is_refused() -> None:
    CongestionControl(LINE, flow="film")
    with pytest.raises(ScenarioError, match=r"earlybird\.gym: decides one connection only"):
        run(LINE, overrides={"flows.film.transport": "agent-rack"})


def test_example_trains_and_writes_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    example = REPOSITORY / "examples" / "train-control" / "train.py"
    program = runpy.run_path(str(example))
    scope = program["main"].__globals__
    scope.update(
        GENERATIONS=1, POPULATION=3, ELITE=2, TRAINED_ON=scope["TRAINED_ON"][:1], TESTED_ON=scope["TESTED_ON"][:2]
    )
    monkeypatch.setattr("sys.argv", ["train.py", str(tmp_path / "results.json")])
    program["main"]()
    figures = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [row["sender"] for row in figures["rows"]] == ["trained", *scope["OTHERS"]] * 2
    assert figures["steps"] > 0
