"""The Markov chain of a sender, and the live video that it streams, against values that were computed independently."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import pytest

from earlybird import InputError
from earlybird.models import StreamingChain, pftk_throughput, streaming_chain
from earlybird.models.rounds import AfterLoss, Normal, Rules, State, Timeout, explore
from earlybird.models.streaming import _lags, _late

if TYPE_CHECKING:
    from conftest import Conforms

OTHER = "none: another program of the same chain"


@pytest.fixture(scope="module")
def chain() -> StreamingChain:
    """Return the chain of the reference path: 2 % loss, 100 ms, a timeout of 400 ms, an ACK for two packets."""
    return streaming_chain(loss=0.02, round_trip=0.1, timeout=0.4, per_ack=2)


def test_throughput_and_late_share_of_another_implementation(chain: StreamingChain, conforms: Conforms) -> None:
    assert chain.throughput == pytest.approx(42.3, abs=0.05)
    assert chain.variance_rate == pytest.approx(1200, rel=0.03)
    late = [chain.late_share(chain.throughput / load, [2, 4], steps=2_000_000) for load in (1.2, 1.6)]
    assert late[0] == pytest.approx([0.29, 0.096], rel=0.1)
    assert late[1] == pytest.approx([0.038, 0.002], rel=0.3)
    conforms("Congestion control", "streaming chain", OTHER, "throughput, variance, late packets", "6 of 6 to 30 %")


def test_the_diffusion_form_of_the_startup_delay(chain: StreamingChain) -> None:
    delays = [chain.diffusion_delay(chain.throughput / load, 1e-4) for load in (1.2, 1.6, 2.0)]
    assert delays == pytest.approx([22, 13, 12], abs=0.5)


@pytest.mark.parametrize(("loss", "below"), [(1e-7, 1e-4), (1e-5, 0.001), (1e-4, 0.01), (0.001, 0.05)])
def test_with_few_losses_the_first_state_is_hardly_ever_visited_and_the_shares_were_wrong(
    loss: float, below: float
) -> None:
    model = pftk_throughput(loss, 0.1, 0.2, window=64)
    assert streaming_chain(loss, 0.1, 0.2).throughput / model == pytest.approx(1 - below / 2, abs=below / 2)


def test_the_variance_is_that_of_long_stretches_of_steps(chain: StreamingChain) -> None:
    arrived, seconds = np.zeros(1024), np.zeros(1024)
    for sent, rounds in islice(chain._blocks(1), 32):
        arrived += sent.sum(axis=0)
        seconds += rounds.sum(axis=0) * chain.round_trip
    beyond = arrived - chain.throughput * seconds
    assert np.var(beyond) / seconds.mean() == pytest.approx(chain.variance_rate, rel=0.15)


def test_a_stored_video_of_a_sender_without_losses_is_late_in_its_first_round_only() -> None:
    steady = streaming_chain(loss=1e-7, round_trip=0.1, timeout=0.2, window=10)
    late = steady.stored_late_share(50, [0.0, 0.02, 0.1], length=2, videos=1)
    assert late == pytest.approx([0.05, 0.04, 0], abs=1e-3), "100 are due in all, 5, 4 or none when the first 10 come"


def test_the_longer_a_stored_video_the_smaller_the_share_that_is_late(chain: StreamingChain) -> None:
    short, long = (chain.stored_late_share(35, [2.0], length, videos=1)[0] for length in (20, 200))
    assert 0.01 < long < short < 0.5


def test_a_stored_video_without_a_length_is_an_error(chain: StreamingChain) -> None:
    with pytest.raises(InputError, match="length = 0: packets per second and seconds, both above 0"):
        chain.stored_late_share(35, [2.0], 0)


def test_the_same_seed_gives_the_same_shares(chain: StreamingChain) -> None:
    first, second, other = (chain.late_share(30, [1.0], steps=1, seed=seed)[0] for seed in (1, 1, 2))
    assert first == second != other


def test_a_video_as_fast_as_its_sender_is_an_error(chain: StreamingChain) -> None:
    with pytest.raises(InputError, match=r"rate = 42\.5: .* below the throughput of 42\.27 packets per second"):
        chain.late_share(42.5, [1.0])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"loss": 0.0}, "loss = 0.0"),
        ({"round_trip": 0.0}, "round_trip = 0.0"),
        ({"timeout": 0.05}, "timeout = 0.05"),
        ({"window": 0}, "window = 0"),
        ({"per_ack": 3}, "per_ack = 3"),
    ],
)
def test_values_that_no_path_has_are_errors(wrong: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        streaming_chain(**{"loss": 0.02, "round_trip": 0.1, "timeout": 0.2, **wrong})  # type: ignore[arg-type]


STEPS: list[tuple[int, State, int, State]] = [
    (1, Normal(5), 5, Normal(6)),
    (2, Normal(5), 5, Normal(5, waits=True)),
    (2, Normal(5, waits=True), 5, Normal(6)),
    (1, Normal(64), 64, Normal(64)),
    (1, Normal(4, threshold=20), 4, Normal(8, threshold=20)),
    (2, Normal(5, threshold=20), 5, Normal(8, threshold=20)),
    (1, Normal(16, threshold=20), 16, Normal(20)),
    (1, Normal(9), 4, AfterLoss(9, 4)),
    (1, AfterLoss(9, 4), 3, Normal(4)),
    (1, AfterLoss(9, 4), 2, Timeout(1, 4)),
    (1, AfterLoss(3, 0), 0, Timeout(1, 2)),
    (1, Timeout(1, 4), 0, Timeout(2, 4)),
    (1, Timeout(7, 4), 0, Timeout(7, 4)),
    (1, Timeout(3, 4), 1, Normal(2, threshold=4)),
    (1, Timeout(3, 2), 1, Normal(2)),
]


@pytest.mark.parametrize(("per_ack", "state", "arrived", "following"), STEPS)
def test_where_a_step_leads(per_ack: int, state: State, arrived: int, following: State) -> None:
    assert Rules(2.0, 64, per_ack).after(state, arrived) == following


def test_timeouts_double_six_times() -> None:
    rules = Rules(2.5, 64, 1)
    assert [rules.rounds(Timeout(number, 2)) for number in (1, 2, 7)] == [2.5, 5.0, 160.0]
    assert (rules.rounds(AfterLoss(5, 0)), rules.rounds(AfterLoss(5, 1))) == (0.0, 1.0)


def test_a_window_never_exceeds_the_largest() -> None:
    states = explore(Rules(2.0, 10, 1))
    assert max(state.window for state in states if isinstance(state, Normal)) == 10


def test_a_sender_cannot_be_ahead_of_the_source() -> None:
    written, arrived = np.full((3, 1), 2.0), np.array([[5], [0], [1]], np.int16)
    before, after = _lags(np.array([1.0]), written, arrived)
    assert (before.ravel().tolist(), after.ravel().tolist()) == ([3.0, 2.0, 4.0], [0.0, 2.0, 3.0])
    assert _late(before, after, np.array([2.5, 3.5])).tolist() == [1.5, 0.5]
    assert math.isclose((before - after).sum(), 4.0)
