"""The picture of one run over time."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird import InputError, Result
from earlybird.loading import resolve
from earlybird.plots.chart import Curve, named
from earlybird.plots.run import MOST_FLOWS, _apart, clock, heading, line, measured, over_time, panels, stack
from earlybird.plots.style import PLAIN
from earlybird.plots.vega import specification
from pictures import legend, words

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished
    from earlybird.plots.run import Flows

    Program = Callable[..., Finished]


@pytest.fixture(scope="module")
def result() -> Result:
    """Make a run with all that is drawn."""
    return earlybird.run(measured(resolve(SMALL, {"duration": "40s", "pairs": 4})))


def test_run_had_no_picture(earlybird: Program, small: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.png"
    finished = earlybird("run", small, "--set", "duration=5s", "--plot", file)
    assert f"Picture written to {file}" in finished.out
    assert file.read_bytes().startswith(b"\x89PNG")


def test_a_picture_of_another_kind_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run\.jpg: a picture's name ends in \.png, \.svg or \.html"):
        earlybird.run(SMALL, plot=tmp_path / "run.jpg")


def test_a_kept_result_had_no_picture(earlybird: Program, result: Result, tmp_path: Path) -> None:
    finished = earlybird("plot", result.save(tmp_path / "kept"), "--output", tmp_path / "run.svg")
    assert (finished.code, finished.err) == (0, "")
    assert f"Picture written to {tmp_path / 'run.svg'}" in finished.out
    result.plot(tmp_path / "made.svg")
    assert (tmp_path / "run.svg").read_bytes() == (tmp_path / "made.svg").read_bytes()


@pytest.mark.parametrize(
    ("measured_too", "lacking", "panel"),
    [
        ({"measure.series": "100ms"}, "measure.deliveries=true", "congestion window (packets)"),
        ({"measure.deliveries": True}, "measure.series=10ms", "from written to delivered, each (s)"),
    ],
)
def test_what_was_not_measured_was_missing_without_a_word(
    tmp_path: Path, measured_too: dict[str, object], lacking: str, panel: str
) -> None:
    result = earlybird.run(SMALL, overrides={"duration": "5s", **measured_too})
    (reported,) = result.plot(tmp_path / "run.png").lacking
    assert lacking in reported
    assert [each.y.title for each in panels(result)[:1] if each.y] == [panel]
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_to_draw_is_reported_with_what_to_do(tmp_path: Path) -> None:
    result = earlybird.run(SMALL, overrides={"duration": "5s"})
    with pytest.raises(InputError, match=r"nothing to draw.*measure\.series=10ms.*measure\.deliveries=true"):
        result.plot(tmp_path / "run.png")
    assert not (tmp_path / "run.png").exists()


def test_a_picture_replaced_what_something_else_wrote(tmp_path: Path, result: Result) -> None:
    (tmp_path / "run.png").write_text("Dear diary", encoding="utf-8")
    with pytest.raises(InputError, match="not one that earlybird wrote"):
        result.plot(tmp_path / "run.png")


def test_a_picture_shows_windows_round_trips_the_queue_and_arrivals_with_their_units(result: Result) -> None:
    titles = [panel.y.title for panel in panels(result) if panel.y]
    assert titles == [
        "congestion window (packets)",
        "round-trip time, smoothed (ms)",
        "waiting at left-right (packets)",
        "from written to delivered, each (s)",
    ]
    window = [mark for mark in panels(result)[0].marks if isinstance(mark, Curve)]
    assert [line.name for line in window] == ["video0", "file0", "video1", "file1"]
    assert heading(result).endswith(f"(seed 1, {MOST_FLOWS} of 8 flows)")
    assert all(max(line.x) <= 40 and min(line.y) > 0 for line in window)


def test_a_picture_of_a_run_in_real_time_names_its_backend(result: Result) -> None:
    real = dataclasses.replace(result, summary={**result.summary, "backend": "live"})
    assert heading(real).endswith(f"(seed 1, {MOST_FLOWS} of 8 flows, in real time, backend `live`)")
    assert (clock(result), clock(real)) == ("simulated time (s)", "time (s)")


def test_a_picture_names_each_flow_once(result: Result) -> None:
    chart = stack(panels(result), "a run", "time")
    assert legend(specification(chart)) == ["video0", "file0", "video1", "file1"]


def test_a_picture_leaves_how_often_is_measured_to_the_scenario() -> None:
    def series(**overrides: str) -> str | None:
        return measured(resolve(SMALL, overrides)).series

    assert series(duration="40s") == "100ms"
    assert series(**{"duration": "40s", "measure.series": "1s"}) == "1s"


def test_frames_that_never_came_were_not_in_the_picture() -> None:
    scenario = REPOSITORY / "scenarios" / "real-time-and-sack.toml"
    result = earlybird.run(measured(resolve(scenario, {"duration": "21s"})))
    missing = result.deliveries["delivered_s"].is_infinite().sum()
    note = f"not delivered by the end: {missing} of {result.deliveries.height}"
    assert missing > result.deliveries.height / 2
    assert note in [text for text, _ in words(stack(panels(result), "a run", "time"))]


def test_web_sessions_have_no_line_of_their_own() -> None:
    scenario = REPOSITORY / "scenarios" / "web-traffic.toml"
    shown = panels(earlybird.run(measured(resolve(scenario, {"duration": "5s", "sessions": 1}))))
    assert [panel.y.title for panel in shown if panel.y] == ["waiting at left-right (packets)"]


def test_an_empty_queue_was_counted_in_hundredths_of_a_packet() -> None:
    empty = line("a-b", PLAIN, np.array([0.0, 1.0]), np.zeros(2))
    (panel,) = specification(stack([over_time("waiting", [empty])], "a run", "time"))["concat"]
    assert panel["encoding"]["y"]["scale"]["domain"] == [0, 1]


def test_lines_of_startup_delays_lay_over_each_other_where_packets_were_much_later() -> None:
    assert _apart([1.0, 2.0, 3.0], 0.5) == (1.0, 2.0, 3.0)
    assert _apart([1.0, 2.0, 3.0, 7.0, 8.0, 15.0], 7.0) == (7.0, 15.0)
    assert _apart([1.0, 2.0], 7.0) == ()


def test_the_flows_of_a_picture_could_not_be_chosen(result: Result) -> None:
    by_name = result.plot(flows=["video3", "file2"])
    rows = result.flows.filter(pl.col("flow").is_in(["video3", "file2"])).sort("flow", descending=True)
    assert result.plot(flows=rows).specification == by_name.specification
    assert [*named(by_name.chart)] == ["video3", "file2"]
    assert by_name.chart.title.endswith("(seed 1, 2 of 8 flows)")


@pytest.mark.parametrize(
    ("flows", "message"),
    [
        (["video4"], "flows = 'video4': there is no such flow; did you mean 'video"),
        ([], "flows: 0 are asked for; allowed: 1 to 10"),
        (pl.DataFrame({"link": ["left-right"]}), "flows: the table has no column `flow`; it has link"),
    ],
)
def test_flows_that_cannot_be_drawn_are_named(result: Result, flows: Flows, message: str) -> None:
    with pytest.raises(InputError, match=message):
        result.plot(flows=flows)


def test_a_film_that_stalled_was_drawn_without_its_stalls() -> None:
    scenario = resolve(REPOSITORY / "scenarios" / "adaptive-streaming.toml", {"duration": "80s", "rule": "throughput"})
    result = earlybird.run(scenario, overrides={"network.dumbbell.bottleneck.rate": "400kb/s"})
    assert result.stalls.height
    (panel,) = [each for each in panels(result) if each.y and each.y.title == "stalled so far (s)"]
    (film,) = [mark for mark in panel.marks if isinstance(mark, Curve)]
    assert film.y[-1] == pytest.approx(result.stalls["stalled_s"].sum())
    assert np.diff(np.asarray(film.x, dtype=float)).min() >= 0
