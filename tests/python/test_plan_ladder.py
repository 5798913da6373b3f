"""`earlybird plan --ladder`: films in several renditions, and the players that choose among them."""

from __future__ import annotations

import math
from io import StringIO
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from rich.console import Console

import earlybird
from earlybird import InputError
from earlybird.clip import MediaError
from earlybird.planning.answer import answer
from earlybird.planning.ladder import PLAYERS, Ladder, Viewing, ladder_of_manifest, parse_ladder
from earlybird.planning.planner import Plan, PlanRequest
from earlybird.planning.session import scenario
from earlybird.planning.stream import StreamSpec, synthetic_clip
from earlybird.planning.view import Fitting, cells, explanation, fitting, headings

if TYPE_CHECKING:
    from pathlib import Path

LADDER = "400kb/s,800kb/s,1.6Mb/s,3Mb/s"
RATES = (400e3, 800e3, 1.6e6, 3e6)


def short_plan(**changed: Any) -> Plan:  # noqa: ANN401, as of `plan`
    """Plan for a few short sessions."""
    given: dict[str, Any] = {"ladder": LADDER, "goal": "vod", "rate": "10Mb/s", "rtt": "40ms", "duration": "60s"}
    return earlybird.plan(PlanRequest(**{**given, "seeds": range(1, 4), "beside": "none", **changed}), jobs=1)


@pytest.fixture(scope="module")
def lossy() -> Plan:
    return short_plan(rate="20Mb/s", rtt="60ms", loss="1%", transports=["bbr"])


def test_a_sender_was_kept_with_which_the_player_took_low_rates(lossy: Plan) -> None:
    cubic, bbr = lossy.results
    assert lossy.choice is bbr
    assert bbr.mean_rate > 1.5 * cubic.mean_rate
    assert lossy.is_worse(cubic)
    assert answer(lossy).startswith("Use bbr: ")
    assert " of the time" in answer(lossy)


def test_the_answer_has_shares_stalls_and_abandoned_segments(lossy: Plan) -> None:
    for result in lossy.results:
        assert math.fsum(result.shares) == pytest.approx(1)
        row: dict[str, Any] = lossy.to_dict()["senders"][result.candidate.name]  # type: ignore[index]
        assert row["time_shares"] == list(result.shares)
        assert row["abandoned_per_hour"] >= 0
        assert len(cells(lossy, result)) == 1 + len(headings(lossy))
    assert headings(lossy)[1:5] == ["0.4", "0.8", "1.6", "3"]
    assert "hls.js chooses" in explanation(lossy)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_names_and_headings_were_cut_in_a_terminal_of_80_columns(lossy: Plan, width: int) -> None:
    console = Console(width=width, file=StringIO())
    console.print(Fitting(lossy))
    shown = cast("StringIO", console.file).getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert "cubic (today) ✗ " in shown
    assert ("Not shown, as the terminal is too narrow: " in shown) == (width < 100)


def test_renditions_that_were_never_played_are_left_out_first() -> None:
    shown = [["sender", "startup", "0.4", "0.8", "sessions"], ["cubic", "1.0", "0 %", "100 %", "40"]]
    assert fitting(shown, 80) == [0, 1, 2, 3, 4]
    assert fitting(shown, 34) == [0, 1, 3, 4]
    assert fitting(shown, 29) == [0, 1, 3]


def test_a_web_server_was_set_without_the_limit_that_was_simulated(lossy: Plan) -> None:
    lines = "\n".join(lossy.instructions)
    simulated = scenario(lossy.path, lossy.stream, lossy.choice.candidate)["endpoint"]["unsent-limit"]
    assert f"net.ipv4.tcp_notsent_lowat={simulated}" in lines
    assert "net.ipv4.tcp_congestion_control=bbr" in lines
    assert "transmit" not in lines


@pytest.mark.parametrize("player", PLAYERS)
@pytest.mark.parametrize("goal", ["vod", "hls"])
def test_segments_were_abandoned_over_an_ample_line(player: str, goal: Any) -> None:  # noqa: ANN401, a literal
    plan = short_plan(player=player, goal=goal, rate="30Mb/s", transports=[], seeds=range(1, 3))
    [result] = plan.results
    assert (result.abandoned_per_hour, result.stalled_share) == (0, 0)
    assert result.shares[-1] > 0.5
    if goal == "hls":
        assert plan.delay > 18


def test_the_quality_is_that_worked_out_by_hand() -> None:
    tables = {
        "flows": {
            "flow": np.array(["film0"]),
            "startup_delay_s": np.array([2.0]),
            "stalls": np.array([1]),
            "stalled_s": np.array([3.0]),
        },
        "renditions": {
            "flow": np.array(["film0"] * 2),
            "played_s": np.array([10.0, 30.0]),
            "time_share": np.array([0.25, 0.75]),
            "segments_abandoned": np.array([0, 2]),
        },
    }
    seen = Viewing.of(Ladder((1e6, 2e6)), tables, "film0", counts_startup=True)
    # 70 Mb are played of the 80 that the highest rate has, less 10 Mb for 5 s of waiting.
    assert seen.shortfall == pytest.approx(1 - 60 / 80)
    assert (seen.stalls, seen.abandoned, seen.shares) == (1, 2, (0.25, 0.75))
    live = Viewing.of(Ladder((1e6, 2e6)), tables, "film0", counts_startup=False)
    assert live.shortfall == pytest.approx(1 - 64 / 80)


def test_an_abandoned_segment_counts_when_it_is_there_at_last() -> None:
    stream = StreamSpec(synthetic_clip(4e5, "vod"), "vod", 18.0, ladder=Ladder(RATES))
    written, delivered = np.array([0.0, 6.0, 6.0, 12.0]), np.array([1.0, math.inf, 9.0, 11.0])
    assert stream.segment_times(written, delivered).tolist() == [1.0, 9.0, 11.0]
    assert stream.application()["segments"] == {
        "ladder": ["400000b/s", "800000b/s", "1600000b/s", "3000000b/s"],
        "rule": "hls.js",
        "segment": "6s",
        "live": False,
    }


HLS = """#EXTM3U
#EXT-X-STREAM-INF:AVERAGE-BANDWIDTH=800000,BANDWIDTH=1000000,RESOLUTION=640x360
360.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=3000000,CODECS="avc1.64001f,mp4a.40.2"
720.m3u8
"""

DASH = """<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period>
<AdaptationSet contentType="video"><Representation id="1" bandwidth="700000"/>
<Representation id="2" bandwidth="2900000"/></AdaptationSet>
<AdaptationSet mimeType="audio/mp4"><Representation id="3" bandwidth="100000"/></AdaptationSet>
</Period></MPD>
"""


@pytest.mark.parametrize(("name", "text"), [("master.m3u8", HLS), ("film.mpd", DASH)])
def test_a_manifest_has_the_ladder(tmp_path: Path, name: str, text: str) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert ladder_of_manifest(file, None) == Ladder((800e3, 3e6), "hls.js")
    request = PlanRequest(clip=file, goal="hls", player="shaka", rate="10Mb/s", rtt="40ms")
    assert request.renditions == Ladder((800e3, 3e6), "shaka")
    assert request.film.mean_rate == pytest.approx(800e3, rel=0.01)


def test_a_manifest_of_one_rendition_is_no_ladder(tmp_path: Path) -> None:
    file = tmp_path / "one.m3u8"
    file.write_text(HLS[: HLS.index("#EXT-X-STREAM-INF:BANDWIDTH")], encoding="utf-8")
    with pytest.raises(MediaError, match="playlist of HLS with one rendition"):
        ladder_of_manifest(file, None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ladder": "3Mb/s,800kb/s"}, "from the lowest to the highest"),
        ({"ladder": "3Mb/s"}, "at least two rates"),
        ({"ladder": LADDER, "goal": "live"}, "--goal vod and hls"),
        ({"ladder": LADDER, "bitrate": "1Mb/s"}, "the ladder has the film's rates"),
        ({"ladder": LADDER, "clip": "film.mp4"}, "rates of its own"),
        ({"ladder": LADDER, "player": "vlc"}, "one of hls.js, dash.js, shaka"),
        ({"ladder": None, "bitrate": "1Mb/s", "player": "shaka"}, "give --ladder, or a manifest"),
        ({"ladder": LADDER, "rate": "300kb/s"}, "rate = 300 kb/s"),
    ],
)
def test_ladders_that_make_no_sense(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        short_plan(**given)


def test_a_list_is_a_ladder() -> None:
    assert parse_ladder(["400kb/s", "1Mb/s"], None).rates == (400e3, 1e6)
