"""`earlybird plan`: the choice, the line, the sessions, the answer."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from scipy.stats import binom
from typer.testing import CliRunner

import earlybird
from earlybird import InputError
from earlybird.cli.application import application
from earlybird.executors import threads
from earlybird.loading import resolve
from earlybird.models import burst_delay, slow_start_delay
from earlybird.planning.advice import advice
from earlybird.planning.answer import answer, delay_text, warnings
from earlybird.planning.candidates import SHORT_TIMERS, candidate, candidates
from earlybird.planning.estimates import disagree, formula_estimate, tcp_throughput
from earlybird.planning.path import FEWEST_BYTES, Measurements, NetworkPath, completed, merged
from earlybird.planning.planner import CandidateResult, Plan, PlanRequest
from earlybird.planning.profiles import PROFILES
from earlybird.planning.sampler import PILOT, Sampler
from earlybird.planning.selection import NOTICEABLE_SECONDS, SAMPLE_SIZES, choose, quantile_estimate, rank
from earlybird.planning.session import Session, SessionRunner, first_place, scenario
from earlybird.planning.stream import StreamSpec, synthetic_clip
from earlybird.planning.view import description
from earlybird.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Conforms
    from earlybird.planning.stream import Goal

REPOSITORY = Path(__file__).parents[2]
CLIP = REPOSITORY / "media" / "test-clip.mp4"
LINE = completed(Measurements(rate=20e6, round_trip=0.06, loss=0.01))
BURST_LOSS = "Receiver Playout Buffer Requirement for TCP Video Streaming in the presence of Burst Packet Drops"


def short_plan(**changed: Any) -> Plan:  # noqa: ANN401, as of `plan`
    """Plan for a few short sessions."""
    given: dict[str, Any] = {"bitrate": "1Mb/s", "rate": "10Mb/s", "rtt": "40ms", "duration": "20s"}
    return earlybird.plan(PlanRequest(**{**given, "seeds": range(1, 4), **changed}), jobs=1)


@pytest.fixture(scope="module")
def lossless() -> Plan:
    return short_plan()


# The choice


def test_the_stated_delay_suffices_for_nine_of_ten_sessions_in_nineteen_of_twenty_plans() -> None:
    random = np.random.default_rng(7)
    true = NormalDist().inv_cdf(0.9)
    sessions = random.normal(size=(1000, SAMPLE_SIZES[0]))
    suffices = np.mean([quantile_estimate(delays_needed).high >= true for delays_needed in sessions])
    assert suffices >= 0.95  # 98.5 % of 40 sessions: the longest of them
    assert np.mean([quantile_estimate(delays_needed).low <= true for delays_needed in sessions]) >= 0.95


@pytest.mark.parametrize("count", [29, 40, 80, 160])
def test_the_interval_ends_at_the_quantiles_of_scipys_binomial(count: int) -> None:
    found = quantile_estimate(np.arange(1.0, count + 1))
    assert [found.low, found.high] == [binom.ppf(0.05, count, 0.9), binom.ppf(0.95, count, 0.9) + 1]


def test_too_few_sessions_leave_the_stated_delay_without_an_upper_end() -> None:
    delays_needed = np.linspace(0.1, 0.2, 28)
    assert math.isinf(quantile_estimate(delays_needed).high)
    assert quantile_estimate(np.append(delays_needed, 0.3)).high == 0.3


def test_the_preferred_sender_is_kept_unless_another_is_noticeably_quicker() -> None:
    assert choose([0.55, 0.50], NOTICEABLE_SECONDS) == 0
    assert choose([0.61, 0.50], NOTICEABLE_SECONDS) == 1
    assert choose([10.9, 10.0], NOTICEABLE_SECONDS) == 0
    assert choose([math.inf, 30.0], NOTICEABLE_SECONDS) == 1
    assert choose([math.inf, math.inf], NOTICEABLE_SECONDS) == 0


def test_what_never_differs_is_clear_at_the_first_check() -> None:
    found = rank(np.tile([0.5, 0.9], (SAMPLE_SIZES[0], 1)), NOTICEABLE_SECONDS)
    assert (found.choice, found.doubt, found.is_clear()) == (0, 0.0, True)
    assert (found.delays_needed[0].low, found.delays_needed[0].high) == (0.5, 0.5)


def test_nine_of_ten_sessions_do_with_the_delay() -> None:
    delays_needed = np.column_stack((np.arange(1, 101) / 100, np.full(100, 5.0)))
    found = rank(delays_needed, NOTICEABLE_SECONDS)
    assert found.delays_needed[0].mean == 0.9
    assert found.delays_needed[0].low < 0.9 < found.delays_needed[0].high


def test_noise_about_the_border_is_not_clear_and_leaves_both_in_the_race() -> None:
    random = np.random.default_rng(1)
    border = 0.5 + NOTICEABLE_SECONDS - 1.28 * 0.2  # nine of ten normal values lie below the mean and 1.28 deviations
    delays_needed = np.column_stack((border + 0.2 * random.standard_normal(40), np.full(40, 0.5), np.full(40, 9.0)))
    found = rank(np.abs(delays_needed), NOTICEABLE_SECONDS)
    assert not found.is_clear()
    assert found.contenders() == [0, 1]


def test_the_quickest_sender_stays_in_the_race_if_a_slow_one_would_be_chosen_without_it() -> None:
    # The first is within a tenth of the second, but not of the third, which is why the second is chosen.
    found = rank(np.tile([1.15, 1.09, 1.0], (20, 1)), 0.0)
    assert (found.choice, found.contenders()) == (1, [1, 2])


def test_a_quicker_sender_gets_no_more_sessions_if_a_preferred_one_hardly_needs_more() -> None:
    found = rank(np.tile([1.05, 1.0, 1.6], (20, 1)), NOTICEABLE_SECONDS)
    assert (found.choice, found.contenders()) == (0, [0])


def test_the_error_of_a_decision_between_equals_stays_below_what_is_stated() -> None:
    """Two senders just on the border: a clear choice at the first look is rare."""
    random = np.random.default_rng(7)
    clear = 0
    for _ in range(100):
        drawn = np.exp(0.5 * random.standard_normal((SAMPLE_SIZES[0], 2)))
        clear += rank(drawn * [1.1, 1.0], 0.0).is_clear()
    assert clear <= 20


# The line


def test_later_findings_count_and_all_facts_are_kept() -> None:
    found = merged(
        [Measurements(rate=1e6, loss=0.1, facts=("a",)), Measurements(loss=0.0, facts=("b",)), Measurements(rate=2e6)]
    )
    assert (found.rate, found.loss, found.facts) == (2e6, 0.0, ("a", "b"))


def test_a_rate_takes_the_place_of_a_trace() -> None:
    found = merged([Measurements(rate=1e6, trace=(1, 2)), Measurements(rate=2e6)])
    assert found.trace is None


def test_a_queue_holds_a_round_trip_unless_that_is_hardly_a_packet() -> None:
    assert LINE.queue == "150000B"
    assert completed(Measurements(rate=1e5, round_trip=0.02)).queue == f"{FEWEST_BYTES}B"


def test_losses_in_bursts_are_gilberts() -> None:
    line = completed(Measurements(rate=1e6, round_trip=0.1, loss=0.02, mean_burst=3))
    (link,) = line.network()["links"]
    assert link["loss"] == [{"gilbert": {"ratio": 0.02, "mean-burst": 3}}]
    assert "loss" not in link["reverse"]


@pytest.mark.parametrize(
    ("findings", "word"),
    [
        (Measurements(round_trip=0.1), "--rate"),
        (Measurements(rate=1e6), "--rtt"),
        (Measurements(rate=1e6, round_trip=0.1, loss=1.0), "loss"),
        (Measurements(rate=1e6, round_trip=0.1, mean_burst=0.5), "burst"),
    ],
)
def test_what_is_missing_is_asked_for(findings: Measurements, word: str) -> None:
    with pytest.raises(InputError, match=word):
        completed(findings)


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_a_line_with_its_source_and_a_valid_scenario(name: str) -> None:
    line = completed(PROFILES[name])
    assert any("assumed" in fact for fact in line.facts)
    assert all(fact.startswith(name) for fact in line.facts)
    document = scenario(line, StreamSpec(synthetic_clip(1e6, "live"), "live", 10.0), candidate("cubic"))
    assert resolve(document).to_dict()["endpoint"]["profile"] == "linux"


# The film


@pytest.mark.parametrize(("rate", "goal"), [(4e6, "live"), (64e3, "call"), (1e6, "call")])
def test_a_made_up_film_has_its_rate(rate: float, goal: Goal) -> None:
    assert synthetic_clip(rate, goal).mean_rate == pytest.approx(rate, rel=0.01)


def test_sound_is_even_and_film_has_key_frames() -> None:
    assert len(set(synthetic_clip(64e3, "call").sizes)) == 1
    sizes = synthetic_clip(1e6, "live").sizes
    assert sizes[0] == pytest.approx(5 * sizes[1], rel=0.01)


def test_a_stored_film_is_sent_in_segments_by_a_web_server() -> None:
    film = StreamSpec(synthetic_clip(1e6, "vod"), "vod", 20.0, segment=4.0)
    segments = film.application()["segments"]
    assert segments == {"ladder": ["1000072b/s"], "segment": "4s", "live": False}
    frames = film.delivered_frames(np.array([1.0, 2.0, 3.0]))
    assert frames[:100].tolist() == [1.0] * 100
    assert frames[299:301].tolist() == [3.0, math.inf]
    assert len(frames) == len(film.play_times) == 500


def test_of_a_long_film_the_beginning_is_sent_and_that_is_reported() -> None:
    found = short_plan(bitrate=None, clip=CLIP, duration="5s")
    assert found.stream.left_out == pytest.approx(7.0)
    assert found.stream.clip.length == 5.0
    assert "test-clip.mp4 (its first 5 s)" in description(found)


# Sessions


def test_a_film_over_an_empty_line_waits_only_for_its_first_frame() -> None:
    """8 Mb/s over 50 Mb/s and 100 ms: half a second, and no window in the way."""
    line = completed(Measurements(rate=50e6, round_trip=0.1))
    for name in ("cubic", "bbr", "pert-rack"):
        session = SessionRunner(line, StreamSpec(synthetic_clip(8e6, "live"), "live", 30.0), candidate(name)).play(1)
        assert 0.4 < session.delay_needed < 0.65, name
        assert session.limited_share == 0, name
        assert session.stalls(session.delay_needed) == 0, name


def test_a_film_that_falls_behind_has_no_delay_that_is_enough() -> None:
    line = completed(Measurements(rate=20e6, round_trip=0.1, loss=0.03))
    session = SessionRunner(line, StreamSpec(synthetic_clip(6e6, "live"), "live", 30.0), candidate("cubic")).play(1)
    assert session.delay_needed == math.inf
    assert session.delivered_share < 1


@pytest.mark.parametrize("name", ["srt", "earlybird-rt"])
def test_a_sender_that_gives_up_gets_the_shortest_delay_that_does(name: str) -> None:
    line = completed(Measurements(rate=5e6, round_trip=0.1, loss=0.02))
    runner = SessionRunner(line, StreamSpec(synthetic_clip(64e3, "call"), "call", 20.0), candidate(name), late=0.01)
    session = runner.play(1)
    assert 0.05 < session.delay_needed < 0.4
    assert math.isinf(runner.session(1, session.delay_needed * 0.7).delay_needed)


@pytest.mark.parametrize("guess", [0, 6, 12])
def test_the_shortest_sufficient_delay_does_not_depend_on_the_guess(guess: int) -> None:
    for first in range(14):
        assert first_place(lambda place, first=first: place >= first, 13, guess) == min(first, 13)  # type: ignore[misc]


def test_a_guess_near_the_delay_saves_runs() -> None:
    tried: list[int] = []

    def suffices(place: int) -> bool:
        tried.append(place)
        return place >= 70

    assert first_place(suffices, 143, 71) == 70
    assert len(tried) <= 3


def test_srts_handshake_counts_as_tcps_does() -> None:
    film = StreamSpec(synthetic_clip(4e6, "live"), "live", 20.0)
    line = completed(Measurements(rate=50e6, round_trip=0.1))
    _, srt = candidates(["srt"], "cubic", "live")
    needed = SessionRunner(line, film, srt).play(1).delay_needed
    first = 8 * int(film.clip.sizes[0]) / line.rate
    assert 2.5 * line.round_trip + first <= needed < 1.06 * (2.5 * line.round_trip + first)


def test_a_film_in_segments_waits_for_its_first_one() -> None:
    """6 s at 4 Mb/s over 20 Mb/s take 1.2 s; of a live film they have to be made first."""
    line = completed(Measurements(rate=20e6, round_trip=0.06))
    needed = {
        goal: SessionRunner(line, StreamSpec(synthetic_clip(4e6, goal), goal, 30.0), candidate("cubic")).play(1)
        for goal in ("vod", "hls")
    }
    assert 1.3 < needed["vod"].delay_needed < 1.8
    assert 7.3 < needed["hls"].delay_needed < 7.8
    assert all(session.delivered_share == 1 for session in needed.values())


def test_a_line_that_is_too_slow_for_segments_has_no_delay_that_is_enough() -> None:
    line = completed(Measurements(rate=20e6, round_trip=0.1, loss=0.03))
    film = StreamSpec(synthetic_clip(6e6, "vod"), "vod", 60.0)
    assert SessionRunner(line, film, candidate("cubic")).play(1).delay_needed == math.inf


def test_the_same_seed_gives_the_same_session_in_any_number_of_threads() -> None:
    film = StreamSpec(synthetic_clip(1e6, "live"), "live", 10.0)
    found = []
    for jobs in (1, 2):
        with threads(jobs) as team:
            race = Sampler(
                [SessionRunner(LINE, film, candidate(name)) for name in ("cubic", "bbr")], team, NOTICEABLE_SECONDS
            )
            race.sample([1, 2, 3])
            found.append([[session.delay_needed for session in one.values()] for one in race.sessions])
    assert found[0] == found[1]


@dataclasses.dataclass(frozen=True)
class Drawn:
    """Sessions that need a tenth of a second, or a second more in each of `rare`."""

    rare: int

    def play(self, seed: int) -> Session:
        """Return a session."""
        times = np.arange(2.0)
        return Session(1.1 if seed % self.rare == 0 else 0.1, times, times, 2.0, 0.0, 1.0, seed)

    def expect(self, sessions: Iterable[Session]) -> None:
        """Play the same sessions whatever is expected."""


@dataclasses.dataclass(frozen=True)
class Constant(Drawn):
    """Sessions that need `first` seconds up to the tenth seed, and `then` seconds afterwards."""

    first: float = 0.1
    then: float = 0.1

    def play(self, seed: int) -> Session:
        """Return a session."""
        times = np.arange(2.0)
        return Session(self.first if seed <= PILOT else self.then, times, times, 2.0, 0.0, 1.0, seed)


def test_a_sender_left_out_returns_if_the_one_ahead_needs_more_later() -> None:
    senders = [Constant(1, 0.1, 2.0), Constant(1, 0.5, 0.5), Constant(1, 9.0, 9.0)]
    with threads(1) as team:
        sampler = Sampler([cast("SessionRunner", sender) for sender in senders], team, NOTICEABLE_SECONDS)
        sampler.sample(range(1, PILOT + 1))
        sampler.sample(range(PILOT + 1, SAMPLE_SIZES[0] + 1))
    assert sampler.choice == 1
    assert [list(played) for played in sampler.sessions] == [
        list(range(1, SAMPLE_SIZES[0] + 1)),
        list(range(1, SAMPLE_SIZES[0] + 1)),
        list(range(1, PILOT + 1)),
    ]


@pytest.mark.parametrize(("rare", "sessions", "stated"), [(1000, 40, 0.1), (40, 80, 0.1), (12, 80, 1.1)])
def test_one_lost_syn_in_forty_sessions_decided_the_stated_delay(rare: int, sessions: int, stated: float) -> None:
    with threads(1) as team:
        sampler = Sampler([cast("SessionRunner", Drawn(rare))], team, NOTICEABLE_SECONDS)
        sampler.sample(range(1, SAMPLE_SIZES[0] + 1))
        sampler.refine()
    assert (len(sampler.sessions[0]), sampler.compared) == (sessions, SAMPLE_SIZES[0])
    assert sampler.delays_needed[0].high == stated


# Formulas


def test_delays_of_bursts_are_the_papers(conforms: Conforms) -> None:
    table = {0.02: (130, 250, 450, 210), 0.06: (190, 350, 550, 230), 0.2: (400, 700, 900, 300)}
    for round_trip, expected in table.items():
        found = [1e3 * burst_delay(lost, round_trip, 1 / 30, 0.2) for lost in (1, 2, 3, 4)]
        assert found == pytest.approx(expected, abs=0.5)
    conforms("Traffic", "delay of a burst of losses", BURST_LOSS, "FR, DR, DRTO, TO at three round trips", "12 of 12")


def test_slow_start_takes_a_round_for_each_doubling() -> None:
    fast = 1e9
    assert slow_start_delay(10, 0.1, fast) == pytest.approx(0.15)
    assert slow_start_delay(11, 0.1, fast) == pytest.approx(0.25)
    assert slow_start_delay(31, 0.1, fast) == pytest.approx(0.35)
    assert slow_start_delay(1000, 0.1, 1000.0) == pytest.approx(1.15)


def test_formulas_know_a_film_that_tcp_cannot_carry() -> None:
    film = StreamSpec(synthetic_clip(8e6, "live"), "live", 300.0)
    assert tcp_throughput(LINE) < 8e6
    assert math.isinf(formula_estimate(LINE, film, candidate("cubic"), 1e-4).delay)
    assert math.isfinite(formula_estimate(LINE, film, candidate("bbr"), 1e-4).delay)


def test_srts_table_is_its_guides() -> None:
    film = StreamSpec(synthetic_clip(64e3, "call"), "call", 300.0)
    for loss, trips in ((0.01, 3), (0.03, 4), (0.07, 5), (0.1, 6)):
        line = completed(Measurements(rate=5e6, round_trip=0.1, loss=loss))
        assert formula_estimate(line, film, candidate("srt"), 0.01).delay == pytest.approx((trips + 0.5) * 0.1)
    beyond = completed(Measurements(rate=5e6, round_trip=0.1, loss=0.2))
    assert math.isnan(formula_estimate(beyond, film, candidate("srt"), 0.01).delay)


def test_formulas_far_from_the_simulation_are_reported() -> None:
    assert disagree(1.0, 0.3)
    assert disagree(math.inf, 0.3)
    assert not disagree(0.5, 0.3)
    assert not disagree(0.03, 0.01)
    assert not disagree(math.nan, 0.3)


# The answer


def test_without_losses_today_s_sender_stays(lossless: Plan) -> None:
    assert lossless.choice is lossless.baseline
    assert lossless.answer.startswith("Stay with cubic, your sender today: start after ")
    assert lossless.answer.count(". ") == 1


def test_a_plan_printed_pages_in_a_notebook(lossless: Plan) -> None:
    assert re.fullmatch(r"<Plan: Stay with cubic, your sender today: start after [^\n]*\.>", repr(lossless))
    assert len(repr(lossless.results[0])) < 1000


def test_a_quicker_sender_is_set_beside_today_s() -> None:
    found = short_plan(bitrate="4Mb/s", rate="20Mb/s", rtt="60ms", loss="1%", transports=["bbr"])
    assert found.answer.startswith("Use bbr: start after ")
    assert "with cubic, your sender today, " in found.answer
    assert any("net.ipv4.tcp_congestion_control=bbr" in line for line in found.instructions)


def test_a_film_that_nothing_carries_is_reported_with_one_that_may_pass() -> None:
    found = short_plan(bitrate="8Mb/s", rate="10Mb/s", rtt="200ms", loss="5%", transports=[])
    assert found.answer.startswith("None of these senders carries")
    assert "a film of" in found.answer
    assert found.instructions == ["# no setting helps: send less, or over a better line"]


def test_delays_are_rounded_up() -> None:
    assert [delay_text(value) for value in (0.501, 0.5, 1.01, 1.0)] == ["0.51 s", "0.50 s", "1.1 s", "1.0 s"]
    assert delay_text(math.inf) == "no delay is enough"


def limited_share(share: float) -> Session:
    times = np.arange(10.0)
    return Session(0.3, times, times + 0.3, 12.0, share, 1.0, 1)


def test_a_sender_that_its_window_held_back_is_reported(lossless: Plan) -> None:
    bound = CandidateResult(
        lossless.baseline.candidate, lossless.baseline.delay_needed, lossless.baseline.formula, (limited_share(0.2),)
    )
    changed = Plan(lossless.stream, lossless.path, 1e-4, (bound,), bound, 0.0, is_clear=True, open_candidates=())
    assert any("held back by its window" in text for text in warnings(changed))
    assert not any("held back" in text for text in warnings(lossless))


def test_a_choice_that_is_open_is_reported_as_open(lossless: Plan) -> None:
    both = lossless.results[:2]
    changed = Plan(lossless.stream, lossless.path, 1e-4, both, both[0], 0.4, is_clear=False, open_candidates=both)
    assert "It cannot be told after 3 sessions of 20 s which of cubic and cubic+rto-min to take" in answer(changed)


def with_delays(plan: Plan, *delays: float, doubt: float) -> Plan:
    """Return a plan that is open between the two first senders, with these delays; the first is chosen."""
    both = tuple(
        dataclasses.replace(result, delay_needed=Estimate(delay, delay, delay, 3))
        for result, delay in zip(plan.results, delays, strict=False)
    )
    return Plan(plan.stream, plan.path, 1e-4, both, both[0], doubt, is_clear=False, open_candidates=both)


def test_a_sender_marked_as_noticeably_longer_was_called_as_good_as_the_chosen_one(lossless: Plan) -> None:
    both = lossless.results
    assert ": either does." in answer(with_delays(lossless, 0.20, 0.25, doubt=0.4))
    likely = answer(with_delays(lossless, 0.193, 0.408, doubt=0.05))
    assert "That is likely but not certain after 3 sessions of 20 s: 5 % of other seeds" in likely
    assert f"{both[1].candidate.name} (0.41 s) needed more in these." in likely
    open_one = answer(with_delays(lossless, 0.193, 0.408, doubt=0.4))
    assert "It cannot be told" in open_one
    assert "either does" not in open_one


def test_an_assumed_queue_that_decides_was_not_mentioned() -> None:
    """SRT over 12 Mb/s and 20 ms: the assumed queue of one BDP drops the packets of key frames (Haivision/srt#1519)."""
    line = {"bitrate": "4Mb/s", "rate": "12Mb/s", "rtt": "20ms", "loss": "2%", "transports": ["srt"]}
    found = short_plan(**line)
    assert found.path.queue_is_assumed
    assert found.larger_queue is not None
    assert found.larger_queue.delay < found.delay - NOTICEABLE_SECONDS
    sentence = (
        "The queue of 30 kB (20 ms) is assumed, it drops packets, and it decides: with one of 1000 packets use srt"
    )
    assert sentence in found.answer
    assert found.to_dict()["larger_queue"] is not None
    given = short_plan(**line, queue="30kB")
    assert given.larger_queue is None
    assert given.delay == found.delay
    assert "assumed" not in given.answer


def test_an_assumed_queue_that_drops_nothing_is_not_mentioned(lossless: Plan) -> None:
    assert lossless.path.queue_is_assumed
    assert lossless.larger_queue is None


def test_a_line_slower_than_the_film_is_refused_with_one_that_would_do() -> None:
    with pytest.raises(
        InputError, match=r"rate = 500 kb/s: the film has .* A line of .* would do, or a film of"
    ) as reported:
        short_plan(rate="500kb/s")
    needed_delay = str(reported.value).partition("A line of ")[2].partition(" would")[0]
    assert short_plan(rate=needed_delay.replace(" ", "")).delay < 60


# The instructions


def line_with(volume_s: float) -> NetworkPath:
    return completed(Measurements(rate=1e9, round_trip=volume_s))


def test_settings_are_those_of_the_sender() -> None:
    film = StreamSpec(synthetic_clip(4e6, "live"), "live", 300.0)

    def reported(name: str) -> str:
        return "\n".join(advice(candidate(name), LINE, film, 0.5))

    assert "tcp_congestion_control=cubic" in reported("cubic")
    assert "rto_min 50ms" in reported(SHORT_TIMERS)
    assert "rto_min" not in reported("cubic")
    assert "TCP_NOTSENT_LOWAT 50176" in reported("cubic")
    assert "echo tcp_bbr > /etc/modules-load.d/" in reported("bbr")
    assert "google" not in reported("bbr")
    assert "github.com/google/bbr, branch v3" in reported("bbr3")
    assert "transport=bbr3-rack&latency=470" in reported("bbr3")
    assert "earlybird kernel load pert" in reported("pert-rack")
    assert "latency=470" in reported("srt")
    assert "transport=earlybird-rt&latency=470" in reported("earlybird-rt")
    assert "tcp_wmem" not in reported("cubic")


def test_buffers_are_raised_where_the_line_holds_more() -> None:
    film = StreamSpec(synthetic_clip(4e6, "vod"), "vod", 300.0)
    reported = "\n".join(advice(candidate("cubic"), line_with(0.1), film, 0.5))
    assert "'net.ipv4.tcp_wmem=4096 16384 50000000'" in reported
    assert "TCP_NOTSENT_LOWAT" not in reported


def test_stored_films_are_not_sent_by_what_gives_up() -> None:
    assert not any(one.has_deadline for goal in ("vod", "hls") for one in candidates(None, "cubic", goal))
    for name in ("srt", "earlybird-rt", "udp", "quic"):
        with pytest.raises(InputError, match=f"transport = {name}: with --goal hls a web server sends whole segments"):
            candidates([name, "bbr"], "cubic", "hls")
    with pytest.raises(InputError, match="baseline = srt"):
        candidates(None, "srt", "vod")
    with pytest.raises(InputError, match="no transport `cubci`"):
        candidates(["cubci"], "cubic", "live")


def test_a_plan_of_segments_ends_with_a_web_servers_settings() -> None:
    found = short_plan(goal="vod", transports=["bbr"], segment="4s", loss="1%", bitrate="4Mb/s", rate="20Mb/s")
    assert found.choice.candidate.name == "bbr"
    assert any("nginx" in line for line in found.instructions)
    assert not any("transmit" in line for line in found.instructions)
    assert "vod in segments of 4 s" in description(found)


# The command


def test_the_command_prints_answer_table_and_settings() -> None:
    given = [str(CLIP), "--rate", "20M", "--rtt", "60ms", "--loss", "1%", "--seeds", "3", "--duration", "20s"]
    done = CliRunner().invoke(application, ["plan", *given])
    assert done.exit_code == 0, done.output
    for word in ("Stay with cubic", "bbr", "90 % interval", "What to do on the server", "tcp_congestion_control"):
        assert word in done.output


def test_json_has_all_of_it(tmp_path: Path) -> None:
    given = ["--bitrate", "1M", "--profile", "dsl", "--seeds", "3", "--duration", "20s", "--json"]
    files = {"--plot": tmp_path / "plan.png", "--write-scenario": tmp_path / "line.toml"}
    options = [str(part) for option in files.items() for part in option]
    for _ in range(2):  # the second run overwrites the files of the first
        done = CliRunner().invoke(application, ["plan", *given, *options])
        assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert set(document["senders"]) == {"cubic", "cubic+rto-min", "bbr", "srt", "pert-rack", "earlybird-rt"}
    assert document["path"]["rtt_s"] == 0.049
    assert document["delay_s"] == document["senders"][document["choice"]]["delay_s"]
    assert files["--plot"].read_bytes().startswith(b"\x89PNG")
    result = earlybird.run(files["--write-scenario"], seed=1)
    assert result.flows["units_delivered"].sum() > 400


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (["--rate", "1M", "--rtt", "10ms"], "what is sent"),
        ([str(CLIP), "--bitrate", "1M", "--rate", "1M", "--rtt", "10ms"], "what is sent"),
        ([str(CLIP), "--rtt", "10ms"], "how fast is the line"),
        ([str(CLIP), "--rate", "1M"], "how long is the round trip"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--loss", "200%"], "loss = 200%"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--loss", "1"], "Did you mean 1%?"),
        ([str(CLIP), "--rate", "1M", "--rtt", "soon"], "rtt = soon"),
        ([str(CLIP), "--rate", "1M", "--rtt", "2h"], "rtt = 7200s: a round trip of up to 60 s"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--queue", 5000 * "1"], "queue = 111"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--beside", 5000 * "1"], "beside = 111"),
        ([str(CLIP), "--rate", "fast", "--rtt", "10ms"], "rate"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--profile", "isdn"], "profile = isdn"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--max-late", "x"], "max-late = x"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--queue", "long"], "queue"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--transport", "cubci"], "cubci"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--plot", "plan.gif"], "plot = plan.gif"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--segment", "4s"], "segment = 4s: only films of --goal vod"),
        (["nothing.mp4", "--rate", "1M", "--rtt", "10ms"], "nothing.mp4"),
        ([str(CLIP), "--rate", "100k", "--rtt", "10ms"], "would do"),
        ([str(CLIP), "--rate", "1M", "--rtt", "10ms", "--write-scenario", str(CLIP)], "overwrite"),
    ],
)
def test_bad_input_is_one_line_and_code_2(given: list[str], word: str) -> None:
    done = CliRunner().invoke(application, ["plan", *given])
    assert done.exit_code == 2
    assert word in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_help_names_every_profile() -> None:
    reported = CliRunner().invoke(application, ["plan", "--help"], env={"COLUMNS": "200"}).output
    # A line may end at a hyphen.
    assert all(name in "".join(reported.split()) for name in PROFILES)
