"""Quality figures: by hand on a film whose deliveries are known, and of whole runs."""

import importlib
import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import earlybird
from earlybird.errors import InputError
from earlybird.quality import frame_rate, score, viewings
from earlybird.queue_hints import queue_hints
from earlybird.result import Result
from earlybird.window_hints import window_hints

REPOSITORY = Path(__file__).parents[2]
INGEST = REPOSITORY / "scenarios" / "obs-ingest.toml"


def result_of(delays: list[float], end: float) -> Result:
    """Make a result of one film of 10 frames a second, 12,500 bytes each, with these delays."""
    written = 1.0 + 0.1 * np.arange(len(delays))
    deliveries = {
        "flow": ["film0"] * len(delays),
        "unit": range(len(delays)),
        "bytes": [12_500] * len(delays),
        "written_s": written,
        "delivered_s": written + delays,
    }
    film = {"media": {"times": [0.0], "sizes": [12_500], "length": 0.1}}
    tables = {"deliveries": pl.DataFrame(deliveries), "flows": pl.DataFrame({"flow": ["film0"], "group": ["film"]})}
    sources = {name: (lambda table=table: table) for name, table in tables.items()}
    return Result({"flows": [{"name": "film", "application": film}]}, 1, {"duration_s": end}, sources)


def test_a_film_on_time_has_the_latency_of_its_startup_delay() -> None:
    (viewing,) = viewings(result_of([0.05] * 60, end=7.0), startup_delay=1.0)
    quality = viewing.quality()
    assert (quality.startup_delay_s, quality.stalls, quality.stalled_s, quality.stall_ratio) == (1.0, 0, 0.0, 0.0)
    assert quality.live_latency_s == pytest.approx(1.0)
    assert quality.bitrate_bps == pytest.approx(1e6, rel=0.02)
    assert (quality.switches, quality.frames_dropped, math.isnan(quality.mean_stall_s)) == (0, 0, True)
    assert quality.to_dict()["mean_stall_s"] is None


def test_a_start_that_comes_late_is_the_startup_delay() -> None:
    (viewing,) = viewings(result_of([1.5] * 60, end=9.0), startup_delay=1.0)
    assert viewing.quality().startup_delay_s == pytest.approx(1.5)


def test_a_stall_is_counted_and_adds_to_the_latency() -> None:
    # Frames 20 to 29 wait for a repair until 6 s: 20 was due at 1 + 2 + 1 = 4 s. Half a second of film comes with them.
    delays = [0.05] * 20 + [6.0 - (3.0 + 0.1 * number) for number in range(10)] + [0.05] * 70
    (viewing,) = viewings(result_of(delays, end=11.0), startup_delay=1.0)
    quality = viewing.quality()
    assert (quality.stalls, round(quality.stalled_s, 6)) == (1, 2.0)
    # 20 frames a second behind, and 50 three seconds: the film's fifth second is shown in the run's eleventh.
    assert quality.live_latency_max_s == pytest.approx(3.0)
    assert quality.live_latency_s == pytest.approx((20 * 1 + 50 * 3) / 70, rel=0.02)
    assert quality.stall_ratio == pytest.approx(2 / 9, rel=0.01)
    starved = [report["earlybird-t"] for report in viewing.cmcd() if "bs" in report]
    assert starved == [4.0, 5.0, 6.0]
    assert [report.get("pr", 1) for report in viewing.cmcd()][:6] == [1, 1, 0, 0, 1, 1]
    assert not any(report.get("pr") == 1 for report in viewing.cmcd())  # CTA-5004: only if it is not 1
    stalling = viewing.p1203()["I23"]["stalling"]
    assert stalling == [[0.0, 1.0], [2.0, 2.0]]


def test_what_never_came_while_later_frames_did_makes_no_pause() -> None:
    delays = [0.05] * 20 + [math.inf] * 5 + [0.05] * 35
    (viewing,) = viewings(result_of(delays, end=7.0), startup_delay=1.0)
    assert (viewing.quality().stalls, len(viewing.written)) == (0, 55)


def test_the_input_of_p1203_has_the_rate_of_each_second() -> None:
    (viewing,) = viewings(result_of([0.05] * 60, end=5.5), startup_delay=1.0)
    document = viewing.p1203(resolution="1280x720")
    segments = document["I13"]["segments"]
    assert [segment["start"] for segment in segments] == [0.0, 1.0, 2.0, 3.0]
    assert [segment["duration"] for segment in segments] == [1.0, 1.0, 1.0, 0.5]
    assert all(segment["bitrate"] == pytest.approx(1000, rel=0.11) for segment in segments)
    assert {segment["fps"] for segment in segments} == {10.0}
    assert {segment["resolution"] for segment in segments} == {"1280x720"}


@pytest.mark.parametrize(
    ("application", "rate"),
    [
        ({"cbr": {"rate": "300kb/s", "packet": 1250}}, 30.0),
        ({"cbr": {"rate": "300kb/s", "packet": 1250, "interval": 0.04}}, 25.0),
        ({"ingest": {"encoder": {"frame-rate": 60}}}, 60.0),
        ({"ingest": {}}, 30.0),
        ({"ingest": {"media": {"times": [0.0, 0.5], "length": 1.0}}}, 2.0),
    ],
)
def test_the_frame_rate_is_that_of_the_application(application: dict[str, object], rate: float) -> None:
    assert frame_rate(application) == rate


def test_a_score_needs_software_that_the_user_brings(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(InputError, match="pip install itu_p1203"):
        score({})
    seen = []

    class Standalone:
        def __init__(self, document: object) -> None:
            seen.append(document)

        def calculate_complete(self) -> dict[str, float]:
            return {"O46": 3.5}

    monkeypatch.setattr(importlib, "import_module", lambda _: SimpleNamespace(P1203Standalone=Standalone))
    assert (score({"I23": {}}), seen) == (3.5, [{"I23": {}}])


def test_obs_drops_frames_while_the_line_has_half_the_rate() -> None:
    result = earlybird.run(INGEST)
    (flow,) = result.flows.to_dicts()
    drops = result.encoder.filter(pl.col("dropped_frame_type") != "")
    first = {kind: drops.filter(dropped_frame_type=kind)["time_s"].to_numpy().min() for kind in ("B", "P")}
    assert flow["frames_dropped"] == drops.height == flow["b_frames_dropped"] + flow["p_frames_dropped"]
    # 700 ms of queue, and what socket and line hold before; P frames need 900 ms.
    assert 20.7 < first["B"] < first["P"] < 24
    # Sound and key frames are all sent: at least the rate of the line gets through.
    assert 0.15 < flow["frames_dropped_share"] < 0.35
    assert drops["time_s"].to_numpy().max() < 42
    assert result.summary["frames_dropped_share"] == flow["frames_dropped_share"]
    (viewing,) = viewings(result)
    assert viewing.quality().frames_dropped == drops.height


def test_dynamic_bitrate_follows_the_line_and_drops_nothing() -> None:
    result = earlybird.run(INGEST, overrides={"dynamic": True})
    rates = result.encoder.select("time_s", "bitrate_bps").to_numpy()
    (viewing,) = viewings(result)
    assert result.flows["frames_dropped"].to_list() == [0]
    assert viewing.quality().switches == len(rates) - 1 > 5
    during = rates[(rates[:, 0] > 23) & (rates[:, 0] < 40), 1]
    assert (during <= 3e6).all()
    # Four seconds between rises of 600 kb/s, once the line has its rate again.
    after = rates[rates[:, 0] > 42]
    assert np.diff(after[:, 1]) == pytest.approx(6e5)
    assert np.diff(after[:, 0]) == pytest.approx(4.0)


@pytest.mark.parametrize("backend", ["live", "kernel"])
def test_other_backends_refuse_live_streams(backend: str) -> None:
    with pytest.raises(earlybird.ScenarioError, match=r"flows\.stream\.application: `ingest` cannot be run"):
        earlybird.run(INGEST, backend=backend)  # type: ignore[arg-type]


FILM = """
duration = "40s"
[network.dumbbell]
bottleneck = { rate = "50Mb/s", delay = "50ms", queue = { bytes = 625000 } }
access = { rate = "1Gb/s", delay = "0s" }
"""


def film_over_a_long_line(profile: str) -> Result:
    """Send 8 Mb/s with a key frame five times as large as others every 2 s."""
    sizes = [round(8e6 * 2 / 8 / 52 * weight) for weight in [5] + [1] * 47]
    film = {"times": [round(number / 24, 6) for number in range(48)], "sizes": sizes, "length": 2.0}
    flow = f'[[flows]]\nname = "film"\nfrom = "left"\nto = "right"\n[flows.application]\nmedia = {{ {toml(film)} }}\n'
    return earlybird.run(f'{FILM}[endpoint]\nprofile = "{profile}"\n{flow}')


def toml(table: dict[str, object]) -> str:
    return ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())


@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_no_window_holds_a_film_back_on_a_long_line(profile: str) -> None:
    result = film_over_a_long_line(profile)
    assert result.flows["required_startup_delay_s"][0] < 0.7
    assert list(window_hints(result)) == []


def test_a_window_that_holds_a_film_back_is_reported() -> None:
    result = film_over_a_long_line("ns2")
    assert result.flows["required_startup_delay_s"][0] > 11
    (note,) = window_hints(result)
    assert note.startswith("film: its largest window, which the profile `ns2` sets to 64 segments,")


def test_no_window_is_reported_for_quic_which_has_no_share_of_it() -> None:
    flow = '[[flows]]\nname = "file"\nfrom = "left"\nto = "right"\n[flows.application]\nbulk = {}\n'
    result = earlybird.run(f'{FILM}[endpoint]\ntransport = "quic"\n{flow}')
    assert math.isnan(result.flows["limited_by_window"][0])
    assert list(window_hints(result)) == []


LADDER = REPOSITORY / "scenarios" / "adaptive-streaming.toml"


@pytest.mark.parametrize("rule", ["throughput", "bola", "l2a"])
def test_figures_of_a_ladder_are_those_of_its_own_viewer(rule: str) -> None:
    result = earlybird.run(LADDER, overrides={"rule": rule})
    (flow,) = result.flows.to_dicts()
    (viewing,) = viewings(result)
    quality = viewing.quality()
    assert quality.startup_delay_s == pytest.approx(flow["startup_delay_s"])
    assert quality.stalls == flow["stalls"]
    assert quality.stalled_s == pytest.approx(flow["stalled_s"], abs=1e-6)
    assert quality.switches == flow["bitrate_changes"] == result.encoder.height - 1 > 0
    # Nobody catches up: the viewer is behind by its startup and its stalls.
    assert quality.live_latency_max_s == pytest.approx(quality.startup_delay_s + quality.stalled_s)
    assert 6e5 < quality.bitrate_bps < 5e6
    rates = {report["br"] for report in viewing.cmcd()}
    assert rates <= {600, 1200, 2500, 5000}
    assert len(rates) > 1


def test_segments_are_those_of_p1203() -> None:
    result = earlybird.run(LADDER, overrides={"before": "20Mb/s", "after": "20Mb/s", "duration": "30s"})
    (viewing,) = viewings(result)
    segments = viewing.p1203()["I13"]["segments"]
    assert [segment["bitrate"] for segment in segments[3:-1]] == pytest.approx([5000.0] * (len(segments) - 4))
    assert {segment["duration"] for segment in segments[:-1]} == {2.0}


def test_a_film_that_is_not_live_has_no_live_latency() -> None:
    path = "flows.film.application.segments"
    result = earlybird.run(LADDER, overrides={f"{path}.live": False, f"{path}.buffer": "12s"})
    (viewing,) = viewings(result)
    reports = viewing.cmcd()
    assert {report["st"] for report in reports} == {"v"}
    assert not any("ltc" in report for report in reports)
    assert max(report["bl"] for report in reports) <= 12_000


@pytest.mark.parametrize("backend", ["live", "kernel"])
def test_other_backends_refuse_segments(backend: str) -> None:
    with pytest.raises(earlybird.ScenarioError, match=r"flows\.film\.application: `segments` cannot be run"):
        earlybird.run(LADDER, backend=backend)  # type: ignore[arg-type]


VIEWER = """
duration = "60s"
measure = {{ deliveries = true }}
endpoint = {{ transport = "cubic-rack", profile = "linux" }}
[network.dumbbell]
bottleneck = {{ rate = "2Mb/s", delay = "20ms", queue = {{ packets = 60 }}, loss = [{loss}] }}
access = {{ rate = "1Gb/s", delay = "5ms" }}
[[flows]]
name = "film"
from = "left"
to = "right"
application = {{ cbr = {{ rate = "1.9Mb/s", packet = 1000 }} }}
client = {{ {client} }}
"""


def viewer(client: str) -> str:
    """Return a scenario of a film over a lossy link, with this client."""
    return VIEWER.format(client=client, loss="{ bernoulli = { probability = 0.02 } }")


def test_one_viewer_had_two_numbers_of_stalls() -> None:
    """The table of flows counted the stalls of the scenario's client, `quality` those of a player of its own."""
    client = "rebuffer = { start = 100, resume = 50 }"
    result = earlybird.run(viewer(client))
    (viewing,) = viewings(result)
    flow = result.flows.row(0, named=True)
    quality = viewing.quality()
    assert flow["stalls"] > 2
    assert (quality.stalls, result.stalls.height) == (flow["stalls"], flow["stalls"])
    assert quality.stalled_s == pytest.approx(flow["stalled_s"])
    assert quality.startup_delay_s == pytest.approx(flow["startup_delay_s"])
    # Every frame shown had been delivered, and no frame waited longer than startup delay and stalls together.
    shown, delivered = viewing.shown[viewing.is_played], viewing.delivered[viewing.is_played]
    assert (delivered <= shown + 1e-6).all()
    assert quality.live_latency_max_s <= quality.startup_delay_s + quality.stalled_s + 1e-6
    assert viewing.is_played.sum() == pytest.approx(flow["units_played"], abs=1)


def test_a_viewer_that_skips_had_stalls() -> None:
    result = earlybird.run(viewer('deadline = { playback-delay = "300ms" }'))
    flow = result.flows.row(0, named=True)
    (viewing,) = viewings(result)
    quality = viewing.quality()
    assert flow["units_lost"] > 0
    assert (flow["stalls"], quality.stalls, quality.stalled_s) == (0, 0, 0.0)
    assert quality.live_latency_s == pytest.approx(0.3)


def test_a_queue_without_limit_is_reported() -> None:
    text = viewer('deadline = { playback-delay = "300ms" }').replace("1.9Mb/s", "6Mb/s")
    flood = text.replace('"cubic-rack"', '"udp"').replace(", queue = { packets = 60 }", "")
    (note,) = queue_hints(earlybird.run(flood))
    assert note.startswith("left-right: up to ")
    assert "`network.dumbbell.bottleneck.queue = " in note
    assert not list(queue_hints(earlybird.run(text.replace('"cubic-rack"', '"udp"'))))
