"""Runs that would take all memory or all day: refused or warned of before, ended at once when asked."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import HUNG, REPOSITORY, SMALL, command
from earlybird import EarlybirdError, InputError, ScenarioError, ScenarioWarning
from earlybird.description import resolve
from earlybird.limits import cost_of, time_text
from test_cli_input import complaint
from test_sweep import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("measure.series=1ns", "measure.series", "1ns"),
        ("flows.video.count=4000000000", "flows.video.count", "4000000000"),
        ("duration=18446744073s", "flows.video.application", "cbr"),
    ],
)
def test_a_run_that_would_fill_the_memory_is_refused_with_its_setting(
    earlybird: Program, small: Path, setting: str, key: str, value: str
) -> None:
    started = time.process_time()
    message = complaint(earlybird("run", small, "--set", setting))
    assert message.startswith(f"earlybird: {key}: `{value}` makes the run take about")
    assert "GB of memory; allowed: what " in message
    assert "hint: " in message
    assert time.process_time() - started < 1


def test_a_sweep_refuses_what_one_of_its_runs_has_no_memory_for(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"measure\.series"):
        earlybird.sweep(SMALL, grid={"measure.series": ["1s", "1ns"]}, out=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_billion_seeds_are_refused_at_once(earlybird: Program, small: Path) -> None:
    message = complaint(earlybird("sweep", small, "--set", "sweep.seeds=1000000000"))
    assert "sweep.seeds: `1000000000` seeds make 2,000,000,000 runs" in message


def test_a_grid_of_millions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sweep\.grid: `1002001` combinations of its values"):
        earlybird.sweep(SMALL, grid={"pairs": range(1, 1002), "endpoint.window": range(1, 1002)}, out=tmp_path)


def test_a_run_of_hours_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.limits.LONG", 0.001)
    with pytest.warns(ScenarioWarning, match=r"duration: `5s` makes a run of about .* packets, which takes about"):
        earlybird.run(SMALL)


def test_the_estimate_is_above_what_a_run_takes_and_not_absurd() -> None:
    for scenario in ("dumbbell", "queue-codel", "web-traffic", "vbr-video", "random-loss", "audio-call"):
        path = REPOSITORY / "scenarios" / f"{scenario}.toml"
        overrides = {"duration": "20s", "measure.warm-up": "1s"}
        expected = cost_of(resolve(path, overrides))
        sent = earlybird.run(path, overrides=overrides).flows["packets_sent"].sum()
        assert sent <= 1.5 * expected.packets, scenario
        assert expected.packets <= 60 * sent, scenario


def test_a_run_that_grows_all_the_same_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.limits._resident", iter(range(0, 10**18, 10**15)).__next__)
    with pytest.raises(EarlybirdError, match="the run was ended as it took more than"):
        earlybird.run(SMALL, overrides={"duration": "2000s"})


@pytest.mark.parametrize(("seconds", "text"), [(5, "5 s"), (120, "2 min"), (7200, "2 h"), (1e10, "317 years")])
def test_times_are_told_roughly(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


LONG_RUN = ("--set", "duration=100000s", "--set", "measure.warm-up=1s")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("extra", [(), ("--set", "measure.series=2s")])
def test_a_request_to_end_is_answered_within_a_second_and_leaves_no_file(
    small: Path, tmp_path: Path, number: signal.Signals, code: int, extra: tuple[str, ...]
) -> None:
    capture = tmp_path / "packets.pcap"
    line = command("run", small, *LONG_RUN, *extra, "--pcap", capture, "--out", tmp_path / "results")
    run = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not capture.exists():
        assert run.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    asked = time.monotonic()
    os.killpg(run.pid, number)
    _, err = run.communicate(timeout=HUNG)
    assert time.monotonic() - asked < 3  # a second, where the machine has nothing else to do
    assert (run.returncode, err.splitlines()[-1]) == (code, "earlybird: interrupted.")
    assert "Traceback" not in err
    assert not capture.exists()
    assert not list((tmp_path / "results").iterdir())


def test_sigterm_ends_the_workers_of_a_sweep_and_keeps_what_is_finished(small: Path, tmp_path: Path) -> None:
    line = command("sweep", small, "--set", "sweep.seeds=400", "--set", "duration=100s", "--jobs", 2)
    sweep = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while len(list(tmp_path.glob("results/*/summary.json"))) < 2:
        assert sweep.poll() is None
        time.sleep(0.05)
    sweep.terminate()
    _, err = sweep.communicate(timeout=HUNG)
    assert sweep.returncode == 143
    assert "runs were finished and are kept in results" in err
    assert not list(tmp_path.glob("results/.*"))
    wait_for(lambda: not is_there(sweep.pid))


def is_there(group: int) -> bool:
    """Tell whether anybody of a group of processes is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_a_terminal_a_line_tells_how_far_a_run_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("earlybird.progress.BETWEEN_LINES", 0.05)
    earlybird.run(SMALL, overrides={"duration": "3000s"}, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("earlybird: simulating: ") and " % done" in line for line in lines)


def test_without_a_terminal_a_line_tells_how_far_a_sweep_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("earlybird.progress.BETWEEN_LINES", 0.05)
    earlybird.sweep(SMALL, jobs=1, out=tmp_path, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("earlybird: simulating: ") and " of 4 runs" in line for line in lines)
