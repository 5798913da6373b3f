"""A film under several transports: the scenario, the runs, the table, the picture."""

import dataclasses
import io
import json
import math
import re
import shutil
from pathlib import Path

import av
import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from earlybird import InputError, ScenarioError
from earlybird.cli.application import application
from earlybird.compare import (
    DEFAULT_RATE,
    DEFAULT_TRANSPORTS,
    LOAD,
    Comparison,
    compare_media,
    default_duration,
    fit,
    line_for,
    read_network,
    with_film,
)
from earlybird.compare_plot import chart, save_plot
from earlybird.compare_view import render
from earlybird.formatting import format_seconds, format_share
from earlybird.media import read_clip
from earlybird.quantities import parse_rate
from earlybird.recommendation import recommendation
from earlybird.viewers import first_below, quantile, summarise

REPOSITORY = Path(__file__).parents[2]
CLIP = REPOSITORY / "media" / "test-clip.mp4"
NETWORK = REPOSITORY / "scenarios" / "compare.toml"

SMALL_NETWORK = """
title = "Two films over one narrow link"
duration = "40s"
[network.dumbbell]
bottleneck = { rate = "1Mb/s", delay = "15ms", queue = { packets = 8 } }
access = { rate = "10Mb/s", delay = "5ms" }
[[flows]]
name = "video"
count = 2
from = "left"
to = "right"
application = { bulk = {} }
start = { uniform = ["0s", "5s"] }
[[flows]]
name = "file"
from = "left"
to = "right"
application = { bulk = {} }
[measure]
warm-up = "4s"
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("network") / "narrow.toml"
    path.write_text(SMALL_NETWORK)
    return path


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def comparison(network: Path, out: Path) -> Comparison:
    return compare_media(
        CLIP, network=network, transports=["sack", "sack-er"], scale_to="300kb/s", seeds=2, jobs=1, output=out
    )


def test_the_default_network_takes_the_film_in_place_of_its_video(out: Path) -> None:
    document = with_film(read_network(NETWORK, 4, "60s"), read_clip(CLIP))
    flows = {flow["name"]: flow for flow in document["flows"]}
    assert flows["video"]["count"] == flows["file"]["count"] == 4
    assert len(flows["video"]["application"]["media"]["sizes"]) == 300
    assert flows["file"]["application"].keys() == {"bulk"}
    assert document["duration"] == "60s"
    assert document["measure"]["deliveries"] is True


def test_there_is_a_row_per_transport_seed_and_flow(comparison: Comparison) -> None:
    assert comparison.flows.height == 2 * 2 * 2
    assert comparison.flows.select("transport", "seed", "flow").is_duplicated().sum() == 0
    assert list(comparison.transports) == ["sack", "sack-er"]
    assert comparison.seeds == (1, 2)


def test_every_flow_sent_the_film_to_the_end(comparison: Comparison) -> None:
    # 25 frames a second from a start between 0 s and 5 s to the end at 40 s; the connection takes a moment to open.
    assert comparison.flows["frames"].is_between(34 * 25, 40 * 25).all()
    assert comparison.sent.mean_rate == pytest.approx(300e3, abs=1)


def test_more_startup_delay_makes_fewer_frames_late(comparison: Comparison) -> None:
    for values in comparison.transports.values():
        late = [values[f"late_{delay}s"] for delay in (1, 2, 5, 10)]
        assert late == sorted(late, reverse=True)
        assert 0 <= values["stall_free"] <= 1
        assert values["no_stall_startup_delay_median_s"] <= values["no_stall_startup_delay_p90_s"]


def test_a_flow_that_needs_less_than_two_seconds_does_not_stall(comparison: Comparison) -> None:
    calm = comparison.flows.filter(pl.col("no_stall_startup_delay_s") < 2)
    restless = comparison.flows.filter(pl.col("no_stall_startup_delay_s") > 2)
    assert (calm["stalls"] == 0).all()
    assert (restless["stalls"] > 0).all()


def test_finished_runs_are_not_repeated(comparison: Comparison, network: Path, out: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in out.rglob("checksums.sha256")}
    second = compare_media(
        CLIP, network=network, transports=["sack", "sack-er"], scale_to="300kb/s", seeds=2, jobs=1, output=out
    )
    assert {path: path.stat().st_mtime_ns for path in out.rglob("checksums.sha256")} == before
    assert second.flows.equals(comparison.flows)


def test_the_table_has_a_column_per_transport_and_fits_eighty_columns(comparison: Comparison) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(render(comparison))
    text = console.export_text()
    assert re.search(r"^ +sack +sack-er$", text, re.MULTILINE)
    assert "startup delay 10 s" in text
    assert "…" not in text


@pytest.mark.parametrize(("ending", "beginning"), [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_the_picture_has_the_same_bytes_each_time(
    comparison: Comparison, tmp_path: Path, ending: str, beginning: bytes
) -> None:
    first, second = tmp_path / "one" / f"film.{ending}", tmp_path / "two" / f"film.{ending}"
    for path in (first, second):
        save_plot(comparison, path)
    assert beginning in first.read_bytes()[:200]
    assert first.read_bytes() == second.read_bytes()


def test_the_json_has_no_number_that_json_cannot_represent(comparison: Comparison) -> None:
    text = json.dumps(comparison.to_dict(), allow_nan=False)
    assert json.loads(text)["transports"].keys() == {"sack", "sack-er"}
    assert json.loads(text)["clip"]["frames"] == 300


def test_a_network_without_video_is_refused(network: Path) -> None:
    document = read_network(network, None, None)
    document["flows"][0]["name"] = "film"
    with pytest.raises(InputError, match="no group of flows named `video`; it has film, file"):
        with_film(document, read_clip(CLIP))


def test_pairs_need_a_parameter_of_that_name(network: Path) -> None:
    with pytest.raises(InputError, match="declares no parameter `pairs`"):
        read_network(network, 4, None)


def test_an_unknown_transport_is_refused_before_anything_runs(network: Path, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="sack-er"):
        compare_media(CLIP, network=network, transports=["sack-err"], output=tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("rate", ["300", "300kB/s", "0kb/s", "-1kb/s", "fast", ""])
def test_what_is_not_a_rate_is_refused(rate: str) -> None:
    with pytest.raises(InputError, match="scale-to"):
        fit(read_clip(CLIP), rate, "10s")


@pytest.mark.parametrize(("text", "value"), [("300kb/s", 3e5), ("2.5 Mbit/s", 2.5e6), ("1Gb/s", 1e9), ("64b/s", 64.0)])
def test_rates_are_read_with_their_unit(text: str, value: float) -> None:
    assert parse_rate(text) == value


def test_a_film_is_cut_to_the_run_and_left_unscaled_on_request() -> None:
    assert fit(read_clip(CLIP), "clip", "3s").frames == 75
    assert fit(read_clip(CLIP), "clip", "60s").mean_rate == read_clip(CLIP).mean_rate


def test_the_summary_of_flows_counts_frames_not_flows() -> None:
    flow = {
        "frames": 100,
        "no_stall_startup_delay_s": 1.0,
        "required_startup_delay_s": 1.0,
        "played_s": 90.0,
        "rto_count": 0,
        "frozen_s": 0.0,
    }
    late = {f"late_{delay}s": 10 for delay in (1, 2, 5, 10)} | {f"due_{delay}s": 100 for delay in (1, 2, 5, 10)}
    calm = {**flow, **dict.fromkeys(late, 0), "stalls": 0, "stalled_s": 0.0}
    stalled = {
        **flow,
        **late,
        "no_stall_startup_delay_s": 3.0,
        "stalls": 2,
        "stalled_s": 3.0,
        "rto_count": 4,
        "frozen_s": 5.0,
    }
    curve = pl.DataFrame({"startup_delay_s": [0.0, 1.0], "late": [10, 0], "due": [100, 100]})
    summary = summarise(pl.DataFrame([calm, stalled]), curve)
    assert summary["late_2s"] == 0.10  # no frame of the calm flow was judged
    assert summary["stall_free"] == 0.5
    assert (summary["stalls"], summary["mean_stall_s"], summary["stalled_s"]) == (1.0, 1.5, 1.5)
    assert (summary["rto_count"], summary["frozen_s"]) == (2.0, 2.5)
    assert summary["no_stall_startup_delay_median_s"] == 2.0
    assert summary["required_startup_delay_all_s"] == 1.0


def test_nine_of_ten_of_four_flows_were_between_the_third_and_the_fourth() -> None:
    flows = pl.DataFrame({"required_startup_delay_s": [12.3, 3.1, 5.4, 4.2]})
    assert quantile(flows, "required_startup_delay_s", 0.9) == 12.3
    assert quantile(pl.concat([flows] * 5), "required_startup_delay_s", 0.75) == 5.4


def test_a_curve_that_never_gets_good_needs_forever() -> None:
    assert first_below(pl.DataFrame({"startup_delay_s": [0.0, 1.0], "late": [9, 1], "due": [10, 10]}), 1e-4) == math.inf


@pytest.mark.parametrize(("value", "text"), [(math.nan, "–"), (math.inf, "never"), (1.234, "1.23"), (12.34, "12.3")])
def test_seconds_are_written_with_three_digits(value: float, text: str) -> None:
    assert format_seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "none"), (1.0, "100.0 %"), (0.0312, "3.12 %"), (0.00002, "0.0020 %")]
)
def test_small_shares_can_be_distinguished_from_none(value: float, text: str) -> None:
    assert format_share(value) == text


def test_the_command_states_in_one_paragraph_what_is_wrong_with_a_film(tmp_path: Path) -> None:
    outcome = CliRunner().invoke(application, ["compare", "--media", str(tmp_path / "nowhere.mp4")])
    assert outcome.exit_code == 2
    assert outcome.stderr.strip().count("\n") == 0
    assert "does not exist" in outcome.stderr


def test_the_command_prints_json(comparison: Comparison, network: Path, out: Path) -> None:
    arguments = [
        "compare",
        "--media",
        str(CLIP),
        "--network",
        str(network),
        "--output",
        str(out),
        "--seeds",
        "2",
        "--scale-to",
        "300kb/s",
        "--json",
    ]
    outcome = CliRunner().invoke(application, [*arguments, "--transport", "sack", "--transport", "sack-er"])
    assert outcome.exit_code == 0
    assert json.loads(outcome.stdout)["transports"] == comparison.to_dict()["transports"]


def test_the_command_draws_the_picture_at_the_path_that_was_given(network: Path, out: Path, tmp_path: Path) -> None:
    arguments = [
        "compare",
        "--media",
        str(CLIP),
        "--network",
        str(network),
        "--output",
        str(out),
        "--transport",
        "sack",
    ]
    outcome = CliRunner().invoke(application, [*arguments, "--plot", str(tmp_path / "film.svg")])
    assert outcome.exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"film.svg"}


def test_settings_of_the_network_can_be_replaced() -> None:
    document = read_network(NETWORK, 4, "60s", {"endpoint.profile": "rfc", "endpoint.window": 32})
    assert (document["endpoint"]["profile"], document["endpoint"]["window"]) == ("rfc", 32)
    assert document["duration"] == "60s"


def test_a_film_is_compared_at_its_own_rate_under_the_rules_of_today_over_a_line_that_fits_it() -> None:
    film = read_clip(CLIP)
    settings = dict(line_for(fit(film, DEFAULT_RATE, "300s"), pairs=1))
    document = read_network(NETWORK, None, None, settings.items())
    rate = parse_rate(document["network"]["dumbbell"]["bottleneck"]["rate"])
    assert rate == pytest.approx(2 * LOAD * film.mean_rate, rel=1e-6)
    assert document["endpoint"]["profile"] == "linux"
    for transport in DEFAULT_TRANSPORTS:
        read_network(NETWORK, None, None, {**settings, "flows.video.transport": transport}.items())


@pytest.mark.parametrize(("length", "duration"), [(12.0, "300s"), (600.0, "630s"), (5400.0, "1200s")])
def test_a_run_is_as_long_as_the_film_within_limits(length: float, duration: str) -> None:
    assert default_duration(dataclasses.replace(read_clip(CLIP), length=length)) == duration


def shown(comparison: Comparison) -> str:
    """Return what the terminal shows."""
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render(comparison))
    return " ".join(console.export_text().split())


def test_a_film_that_is_cut_is_reported_as_cut(comparison: Comparison) -> None:
    assert "only the first" not in shown(comparison)
    assert "repeated 3 times" in shown(comparison)
    longer = dataclasses.replace(comparison, source=dataclasses.replace(comparison.source, length=100.0))
    assert "of its 100 s only the first 12 s are sent" in shown(longer)
    assert longer.to_dict()["sent"]["left_out_s"] == 88.0


def with_sound(folder: Path) -> Path:
    """Write the test clip with twelve seconds of uncompressed sound, 16,000 bytes a second."""
    path = folder / "sound.mkv"
    with av.open(str(CLIP)) as source, av.open(str(path), "w") as target:
        film = target.add_stream_from_template(source.streams.video[0])
        sound = target.add_stream("pcm_s16le", rate=8000, layout="mono")
        for packet in source.demux(source.streams.video[0]):
            if packet.size:
                packet.stream = film
                target.mux(packet)
        for second in range(12):
            frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), dtype=np.int16), format="s16", layout="mono")
            frame.pts, frame.sample_rate = 8000 * second, 8000
            target.mux(sound.encode(frame))
    return path


def test_the_sound_of_a_film_is_counted(tmp_path: Path) -> None:
    silent, loud = read_clip(CLIP), read_clip(with_sound(tmp_path))
    assert loud.frames == silent.frames
    assert loud.sizes.sum() - silent.sizes.sum() == 12 * 16_000
    assert loud.audio_rate == pytest.approx(128_000, rel=0.01)
    assert silent.audio_rate == 0
    assert loud.scaled_to(loud.mean_rate / 2).audio_rate == pytest.approx(64_000, rel=0.01)
    assert loud.first(6).audio_rate == pytest.approx(128_000, rel=0.2)


def made_up(needs: dict[str, list[float]], comparison: Comparison, load: float = 1.4) -> Comparison:
    """Change what nine of ten films need, seed by seed."""
    by_seed = {
        name: {seed: {"required_startup_delay_p90_s": need} for seed, need in enumerate(values, 1)}
        for name, values in needs.items()
    }
    transports = {
        name: {"required_startup_delay_p90_s": sum(values) / len(values), "t_over_mu": load}
        for name, values in needs.items()
    }
    return dataclasses.replace(comparison, transports=transports, by_seed=by_seed)


@pytest.mark.parametrize(
    ("needs", "load", "words"),
    [
        (
            {"sack": [4.0, 5.0, 6.0], "pert": [1.0, 1.1, 1.5]},
            1.4,
            "Take pert: nine of ten films need a startup delay of 1.20 s in place of 5.00 s with sack",
        ),
        (
            {"sack": [1.0, 1.1], "pert": [4.0, 5.0]},
            1.4,
            "Take sack: no other needs a shorter startup delay than its 1.05 s.",
        ),
        (
            {"sack": [4.0, 1.0, 6.0], "pert": [1.0, 4.0, 5.0]},
            1.4,
            "Stay with sack: pert needs the shortest startup delay, 3.33 s in place of 3.67 s, but that may be",
        ),
        (
            {"sack": [0.154, 0.151, 0.153], "pert": [0.149, 0.146, 0.148]},
            1.4,
            "Stay with sack: no other needs a startup delay that is noticeably shorter than its 0.15 s.",
        ),
        ({"sack": [4.0], "pert": [1.0]}, 1.4, "which may be chance: --seeds 4 tells."),
        ({"sack": [4.0, 5.0]}, 1.4, "With sack, nine of ten films need a startup delay of 4.50 s."),
        ({"sack": [40.0, 50.0]}, 1.4, "longer than viewers wait"),
        ({"sack": [40.0, 50.0]}, 0.5, "no transport carries this film here: flows get 50 % of what it needs"),
    ],
)
def test_a_comparison_closes_with_a_recommendation(
    comparison: Comparison, needs: dict[str, list[float]], load: float, words: str
) -> None:
    assert words in recommendation(made_up(needs, comparison, load))


def test_a_picture_of_short_delays_was_nearly_empty(comparison: Comparison) -> None:
    short = dataclasses.replace(
        comparison,
        flows=comparison.flows.with_columns(required_startup_delay_s=pl.lit(0.15)),
        transports={
            name: {**values, "required_startup_delay_all_s": 0.12} for name, values in comparison.transports.items()
        },
    )
    axis = chart(short).x
    assert axis.low == 0.05
    assert axis.high is not None
    assert axis.high < 1
    assert chart(comparison).x.low == 0.2


def test_the_recommendation_is_printed_and_part_of_the_json(comparison: Comparison) -> None:
    sentence = comparison.to_dict()["recommendation"]
    assert sentence.endswith(".")
    assert shown(comparison).endswith(sentence)


def test_the_picture_shows_intervals_where_there_are_several_seeds(comparison: Comparison) -> None:
    one = dataclasses.replace(
        comparison,
        curve=comparison.curve.filter(pl.col("seed") == 1),
        by_seed={name: {1: values[1]} for name, values in comparison.by_seed.items()},
        seeds=(1,),
    )
    (lines, bars), (lines_of_one, bars_of_one) = (
        [len(panel.marks) for panel in chart(each).panels] for each in (comparison, one)
    )
    assert lines == lines_of_one, "bands of several transports hide their lines"
    assert bars == bars_of_one + 2


def test_every_film_and_network_given_is_compared(network: Path, out: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.mp4"
    shutil.copy(CLIP, copy)
    arguments = ["compare", "--media", str(CLIP), "--media", str(copy), "--network", str(network), "--output", str(out)]
    arguments += ["--transport", "sack", "--plot", str(tmp_path / "picture.png")]
    outcome = CliRunner().invoke(application, arguments)
    assert outcome.exit_code == 0
    assert ("test-clip.mp4: h264" in outcome.stdout, "copy.mp4: h264" in outcome.stdout) == (True, True)
    assert {path.name for path in tmp_path.glob("*.png")} == {"picture-test-clip-narrow.png", "picture-copy-narrow.png"}
    both = CliRunner().invoke(application, [*arguments, "--json"])
    assert [document["clip"]["path"] for document in json.loads(both.stdout)] == [str(CLIP), str(copy)]


def test_a_picture_never_replaces_the_film_or_the_network(network: Path, tmp_path: Path) -> None:
    film = tmp_path / "film.png"
    shutil.copy(CLIP, film)
    arguments = ["compare", "--media", str(film), "--network", str(network), "--plot", str(film)]
    outcome = CliRunner().invoke(application, arguments)
    assert outcome.exit_code == 2
    assert "would overwrite the film" in outcome.stderr
    assert film.read_bytes() == CLIP.read_bytes()
