"""Whether the terminal shows the point of a scenario, and no interval of one run."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird import ScenarioWarning, run
from earlybird.columns import format_milliseconds
from earlybird.sweeps import plan, without_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

SCENARIOS = REPOSITORY / "scenarios"

LOCKSTEP = """
duration = "20s"
[endpoint]
profile = "rfc"
transport = "sack"
[network.dumbbell]
bottleneck = { rate = "5 Mb/s", delay = "10 ms", queue = { packets = 20 } }
access = { rate = "16Mbit/s", delay = "5ms" }
[[flows]]
name = "file"
count = 2
from = "left"
to = "right"
application = { bulk = {} }
"""


def rows(finished: Finished) -> dict[str, str]:
    """Return the last cell of each line by what stands before it."""
    assert finished.code == 0, finished.err
    lines = (line.strip().rsplit("  ", 1) for line in finished.out.splitlines() if "  " in line.strip())
    return {left.strip(): right.strip() for left, right in lines}


def test_a_call_shows_what_was_lost_to_the_listener_and_its_playback_delay(earlybird: Program) -> None:
    shown = rows(earlybird("run", SCENARIOS / "audio-call.toml", "--set", "transport=sack"))
    assert shown["lost to the viewer"].endswith(" %")
    assert shown["playback delay, mean"] == "250 ms"
    assert not any("T/µ" in title for title in shown)


def test_a_queue_manager_shows_its_delay_and_utilisation(earlybird: Program) -> None:
    shown = rows(earlybird("run", SCENARIOS / "queue-codel.toml"))
    assert shown["queueing delay at the bottleneck, mean"].endswith(" ms")
    assert shown["utilisation of the bottleneck"].endswith(" %")
    assert shown["the bottleneck is the link"] == "left-right"


def test_web_sessions_show_no_sum_of_frozen_times(earlybird: Program) -> None:
    finished = earlybird("run", SCENARIOS / "web-traffic.toml", "--set", "duration=60s")
    assert "200 sessions, sack" in finished.out
    assert "frozen" not in finished.out
    assert rows(finished)["web traffic"].endswith("b/s")


def test_what_held_a_sender_back_is_reported(earlybird: Program) -> None:
    finished = earlybird("run", SCENARIOS / "audio-call.toml")
    assert rows(finished)["held back by"].startswith("the application ")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0 ms"), (6.66e-6, "0 ms"), (0.000813, "0.813 µs"), (1.41, "1.41 ms"), (2000, "2 s")]
)
def test_short_waits_are_not_written_with_five_zeros(value: float, text: str) -> None:
    assert format_milliseconds(value) == text


def test_seeds_that_change_nothing_are_reported_and_run_once(tmp_path: Path) -> None:
    with pytest.warns(ScenarioWarning, match="same run to the last bit.*lockstep decides.*start.uniform"):
        sweep = earlybird.sweep(LOCKSTEP, seeds=9, output=tmp_path)
    assert [run.seed for run in sweep.planned] == [1]
    assert (sweep.made, len(list(tmp_path.iterdir()))) == (1, 2)
    with pytest.warns(ScenarioWarning):
        assert earlybird.sweep(LOCKSTEP, seeds=9, output=tmp_path).made == 0


def test_a_sweep_of_one_run_prints_no_interval(earlybird: Program, tmp_path: Path) -> None:
    (tmp_path / "lockstep.toml").write_text(LOCKSTEP, encoding="utf-8")
    finished = earlybird("sweep", "lockstep.toml", "--set", "sweep.seeds=4")
    assert "1 runs, 1 of them made now" in finished.out
    assert "One run each" in finished.out
    assert "±" not in finished.out
    assert "let them start at random times" in finished.err


@pytest.mark.parametrize("width", [80, 120])
def test_the_headings_of_a_sweep_were_cut(
    earlybird: Program, small: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    queue, delay = "network.dumbbell.bottleneck.queue.packets", "network.dumbbell.access.delay"
    grid = f'sweep.grid={{ transport = ["sack"], "{queue}" = [20, 30], "{delay}" = ["5ms", "6ms"] }}'
    lines = earlybird("sweep", small, "--set", grid, "--set", "sweep.seeds=2").out.splitlines()
    headings = " ".join(" ".join(lines).split())
    for heading in ("queue.", "packets", "access.", "delay", "timeouts", "frozen", "drop rate", "at 2 s"):
        assert heading in headings
    assert "…" not in headings
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    "change",
    [
        {"flows.file.start.uniform": ["0s", "1s"]},
        {"network.dumbbell.bottleneck.loss": [{"bernoulli": {"probability": "1%"}}]},
        {"network.dumbbell.bottleneck.queue": {"red": {}}},
        {"flows.file.transport": "pert"},
    ],
)
def test_seeds_of_what_is_random_are_all_kept(tmp_path: Path, change: dict[str, object]) -> None:
    planned = plan(LOCKSTEP, seeds=3, overrides=change)
    assert without_duplicates(planned, output=tmp_path / "none") == (planned, frozenset())
    assert not (tmp_path / "none").exists()


def test_values_that_are_all_the_same_have_no_interval_of_rounding(earlybird: Program, small: Path) -> None:
    small.write_text(SMALL.replace("2Mb/s", "200Mb/s"), encoding="utf-8")
    finished = earlybird("sweep", small, "--set", "sweep.seeds=3", "--set", "pairs=1")
    assert "± 0.00 %" not in finished.out


UNREAD = LOCKSTEP.replace("count = 2", 'count = 2\nstart.uniform = ["0s", "1s"]').replace(
    'transport = "sack"', 'transport = "sack"\nbbr3 = { beta = 0.5 }'
)


def test_only_validate_reported_settings_that_nothing_reads(earlybird: Program, tmp_path: Path) -> None:
    (tmp_path / "unread.toml").write_text(UNREAD, encoding="utf-8")
    reported = "earlybird: warning: endpoint.bbr3.beta: `0.5` is declared but never used"
    for sub_command in ("validate", "run", "sweep"):
        finished = earlybird(sub_command, "unread.toml")
        assert (finished.code, finished.err.count(reported)) == (0, 1), sub_command
    with pytest.warns(ScenarioWarning, match=r"endpoint\.bbr3\.beta"):
        run(UNREAD, overrides={"duration": "5s"})


@pytest.mark.parametrize(("transports", "reported"), [(["sack", "cubic"], 1), (["sack", "bbr"], 0)])
def test_a_setting_that_one_run_of_a_sweep_reads_is_used(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, transports: list[str], reported: int
) -> None:
    warnings.simplefilter("always", ScenarioWarning)
    grid = {"flows.file.transport": transports}
    earlybird.sweep(UNREAD, grid=grid, overrides={"duration": "5s"}, output=tmp_path)
    assert ["endpoint.bbr3.beta" in str(warning.message) for warning in recwarn] == [True] * reported


def test_what_a_scenario_declares_for_other_transports_is_not_reported_and_what_was_typed_is(
    earlybird: Program, recwarn: pytest.WarningsRecorder
) -> None:
    fall_floyd = SCENARIOS / "fall-floyd-1996.toml"
    run(fall_floyd, overrides={"transport": "reno", "options": "fall96"})
    assert not recwarn.list
    err = earlybird("run", fall_floyd, "--set", "endpoint.bbr3.beta=0.5").err
    assert "endpoint.bbr3.beta: `0.5` is declared but never used" in err


TWO_QUEUES = """
duration = "20s"
endpoint = { mss = 1000, window = 200 }
[[network.links]]
from = "server"
to = "hub"
rate = "2Mb/s"
delay = "5ms"
queue = { packets = 20 }
[[network.links]]
from = "hub"
to = "viewer"
rate = "1800kb/s"
delay = "5ms"
queue = { packets = 20 }
[[flows]]
name = "file"
count = 2
from = "server"
to = "hub"
application = { bulk = {} }
[[flows]]
name = "camera"
from = "server"
to = "viewer"
application = { cbr = { rate = "300kb/s", packet = 1000 } }
"""


def test_the_slowest_link_was_nearly_idle_while_another_dropped_without_a_note(
    earlybird: Program, tmp_path: Path
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TWO_QUEUES, encoding="utf-8")
    shown = earlybird("run", file)
    assert rows(shown)["the bottleneck is the link"] == "hub-viewer"
    assert "The queue of server-hub dropped more" in " ".join(shown.out.split())
    named = earlybird("run", file, "--set", "measure.bottleneck=server-hub")
    assert rows(named)["the bottleneck is the link"] == "server-hub"
    assert "dropped more" not in named.out


def test_a_sweep_showed_no_drops_where_another_link_than_the_slowest_dropped(
    earlybird: Program, tmp_path: Path
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TWO_QUEUES, encoding="utf-8")
    swept = [str(file), "--output", str(tmp_path / "results"), "--set", "sweep.seeds=1"]
    reported = " ".join(earlybird("sweep", *swept).out.split())
    assert "In 1 of 1 runs other links dropped more" in reported
    named = earlybird("sweep", *swept, "--set", "measure.bottleneck=server-hub").out
    assert "other links dropped" not in named
    whole_path = earlybird("sweep", *swept, "--set", "flows.file.to=viewer", "--set", "network.links.0.rate=9Mb/s")
    assert "other links dropped" not in whole_path.out, "the slowest link drops most"


def test_what_a_flow_lost_at_other_links_than_the_bottleneck_was_not_in_its_column(
    earlybird: Program, tmp_path: Path
) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TWO_QUEUES, encoding="utf-8")
    (line,) = (row for row in earlybird("run", file).out.splitlines() if row.startswith("dropped by queues"))
    assert int(line.split()[3]) > 10


def test_the_json_of_a_run_without_films_was_an_error_if_it_kept_deliveries(earlybird: Program, tmp_path: Path) -> None:
    path = tmp_path / "lockstep.toml"
    path.write_text(LOCKSTEP.replace('"20s"', '"1s"\nmeasure.deliveries = true'), encoding="utf-8")
    finished = earlybird("run", path, "--json")
    assert finished.code == 0, finished.err
    assert json.loads(finished.out)["quality"] == []


@pytest.mark.parametrize(("rate", "dropped"), [("10Mb/s", "68.51 %"), ("4Mb/s", "0.00 %")])
def test_the_terminal_names_the_dropped_frames_of_encoders_as_obs_does(
    earlybird: Program, rate: str, dropped: str
) -> None:
    """Two encoders share an uplink of 10 Mb/s (sorayuki/obs-multi-rtmp#401)."""
    done = earlybird("run", str(REPOSITORY / "tests/python/field/two-ingests.toml"), "--set", f"rate={rate}")
    (line,) = (line for line in done.out.splitlines() if line.startswith("dropped frames"))
    assert line.split(maxsplit=2)[2] == dropped
