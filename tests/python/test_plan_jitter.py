"""`earlybird plan`: measured jitter is on the path that is simulated."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import earlybird
from earlybird.planning.advice import advice
from earlybird.planning.answer import delay_text, warnings
from earlybird.planning.candidates import candidate
from earlybird.planning.estimates import formula_estimate
from earlybird.planning.jitter import jitter_of
from earlybird.planning.measured import irtt, ping
from earlybird.planning.path import Measurements, completed, merged
from earlybird.planning.planner import CandidateResult, PlanRequest
from earlybird.planning.selection import quantile_estimate
from earlybird.planning.session import SRT_POLLING, SessionRunner
from earlybird.planning.stream import StreamSpec, synthetic_clip
from earlybird.planning.view import description, explanation

FIELD = Path(__file__).parent / "field"
SPIKES = FIELD / "ping-5g-spikes.txt"
"""600 pings every 0.2 s, 20.9 to 548.6 ms; 13.3 % take more than 450 ms, ten or so in a row (Haivision/srt#1630)."""
RATE = Measurements(rate=20e6)


def test_jitter_is_the_distribution_of_the_samples_and_their_correlation() -> None:
    found = ping.read(SPIKES).jitter
    assert found is not None
    assert (found.shortest, found.longest) == pytest.approx((0.0209, 0.5486), abs=1e-5)
    long = np.mean(np.array(found.quantiles) + found.shortest > 0.45)
    assert long == pytest.approx(0.133, abs=0.01)
    # 0.875 at a distance of 0.2 s.
    assert found.is_seen
    assert found.correlation_time == pytest.approx(1.5, abs=0.05)


def test_a_correlation_that_samples_do_not_show_is_the_longest_that_they_hide() -> None:
    samples = 0.05 + 0.02 * np.random.default_rng(1).random(400)
    found = jitter_of(samples.tolist(), 0.2)
    assert found is not None
    assert not found.is_seen
    assert np.exp(-0.2 / found.correlation_time) == pytest.approx(1.96 / np.sqrt(400))


def test_round_trips_that_hardly_differ_have_no_jitter() -> None:
    assert jitter_of([0.0604, 0.0607, 0.0611], 1.0) is None
    assert jitter_of([0.06], 1.0) is None


def test_jitter_belongs_to_the_round_trip_it_was_measured_with() -> None:
    given = merged([ping.read(SPIKES), Measurements(rate=1e6, round_trip=0.04)])
    assert given.jitter is None


@pytest.mark.parametrize("measured", [ping.read(SPIKES), irtt.read(FIELD / "down-only.json.gz")], ids=["ping", "irtt"])
def test_packets_get_the_measured_delays_and_no_more(measured: Measurements) -> None:
    """A round trip without jitter is the shortest one, so that what was measured is not added to the median."""
    path = completed(merged([RATE, measured]))
    assert path.jitter is not None
    flow = {"name": "probe", "from": "sender", "to": "viewer", "transport": "udp"}
    document = {
        "duration": "300s",
        "network": path.network(),
        "flows": [{**flow, "application": {"cbr": {"rate": "40kb/s", "packet": 1000}}}],
        "measure": {"deliveries": True},
    }
    frames = earlybird.run(document, seed=1).deliveries
    delays = (frames["delivered_s"] - frames["written_s"]).to_numpy()
    delays = delays[np.isfinite(delays)]
    expected = path.shortest_round_trip / 2 + np.array(path.jitter.quantiles)
    for share in (0.1, 0.5, 0.8):
        assert np.quantile(delays, share) == pytest.approx(np.quantile(expected, share), abs=0.004)
    assert delays.max() <= expected.max() + 0.001
    # Packets also wait for a slow one in front of them, which a ping of its own shows less often.
    assert np.mean(expected) * 0.9 < np.mean(delays) < np.mean(expected) * 1.35


@pytest.mark.parametrize(("name", "most"), [("cubic", 2.5), ("srt", 1.2)])
def test_a_path_of_500_ms_at_times_needs_more_than_500_ms(name: str, most: float) -> None:
    request = PlanRequest(
        bitrate="2Mb/s", rate="20Mb/s", measured=(ping.read(SPIKES),), baseline=name, transports=(), duration="60s",
        seeds=range(1, 11),
    )  # fmt: skip
    found = earlybird.plan(request, jobs=1)
    assert 0.5 < found.delay < most
    assert "(with round trips of up to 0.55 s, as measured" in found.answer
    assert "a round trip of 25.4 ms (20.9 to 548.6 ms)" in description(found)


@pytest.mark.parametrize(("beside", "jitter"), [("upload", False), ("none", True)])
def test_what_srts_first_packet_waits_in_a_queue_or_by_jitter_delays_all_of_the_film(beside: str, jitter: bool) -> None:  # noqa: FBT001
    """srt-live-transmit 1.5 beside a transfer: 0.90 s from writing to release with a latency of 810 ms and 77 ms."""
    samples = 0.08 + np.random.default_rng(1).exponential(0.02, 200)
    line = Measurements(rate=12e6, round_trip=0.08, jitter=jitter_of(samples.tolist(), 1.0) if jitter else None)
    film, srt = StreamSpec(synthetic_clip(3e6, "live"), "live", 30.0), candidate("srt")
    runner = SessionRunner(completed(line).with_traffic(beside), film, srt)
    sessions = [runner.play(seed) for seed in range(1, 11)]
    assert max(session.first_waited for session in sessions) > 0.03
    for session in sessions:
        released = session.delivered - session.due
        assert session.delay_needed == pytest.approx(released.min() + SRT_POLLING, abs=1e-5)
    needed = quantile_estimate(np.array([session.delay_needed for session in sessions]))
    found = CandidateResult(srt, needed, formula_estimate(completed(line), film, srt, 1e-4), tuple(sessions))
    assert found.startup_delay > found.sender_delay + 0.02


def test_the_table_had_a_shorter_delay_for_srt_than_the_answer_without_the_reason() -> None:
    request = PlanRequest(
        bitrate="2Mb/s", rate="20Mb/s", measured=(ping.read(SPIKES),), transports=("srt",), duration="10s", loss="0",
        beside="none", seeds=range(1, 31),
    )  # fmt: skip
    found = earlybird.plan(request, jobs=1)
    srt = found.results[1]
    assert srt.startup_delay > srt.best_delay + 0.1
    stated, best = delay_text(srt.startup_delay), delay_text(srt.best_delay)
    words = f"srt needs {stated} with one latency for all sessions, as a sender has; the table has the one"
    assert f"{words} that is best for each ({best})." in explanation(found)
    assert "one latency" not in explanation(dataclasses.replace(found, results=found.results[:1]))


def test_the_latency_of_a_relay_counts_from_the_shortest_round_trip() -> None:
    path = completed(merged([RATE, ping.read(SPIKES)]))
    film = StreamSpec(synthetic_clip(2e6, "live"), "live", 60.0)
    assert "latency=590" in "\n".join(advice(candidate("srt"), path, film, 0.6, None))


def test_long_round_trips_of_which_only_the_longest_is_known_were_not_mentioned(tmp_path: Path) -> None:
    """`ping -q`: the share of long round trips is not printed, so that they cannot be simulated."""
    summary = SPIKES.read_text().partition("--- ")[2]
    (tmp_path / "ping.txt").write_text(f"--- {summary}")
    request = PlanRequest(
        bitrate="1Mb/s", rate="20Mb/s", measured=(ping.read(tmp_path / "ping.txt"),), transports=(), duration="10s",
        loss="0", seeds=[1],
    )  # fmt: skip
    found = earlybird.plan(request, jobs=1)
    assert found.path.jitter is None
    assert any("Round trips of up to 0.55 s were measured, but" in text for text in warnings(found))
