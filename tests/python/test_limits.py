"""Runs that would take all memory or all day: refused or warned of before, ended at once when asked."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import earlybird
from conftest import HUNG, REPOSITORY, SMALL, command
from earlybird import EarlybirdError, InputError, ScenarioError, ScenarioWarning
from earlybird.limits import cost_of, time_text
from earlybird.loading import resolve
from test_cli_input import complaint
from test_sweep import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from conftest import Finished

    Program = Callable[..., Finished]


def test_four_billion_flows_are_refused_with_the_largest_count(earlybird: Program, small: Path) -> None:
    message = complaint(earlybird("run", small, "--set", "flows.video.count=4000000000"))
    assert message.startswith("earlybird: flows.video.count: `4000000000` is too large; allowed: 1 to 100000")


@pytest.mark.parametrize(
    ("setting", "key", "value"),
    [
        ("measure.series=1ns", "measure.series", "1ns"),
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
        earlybird.sweep(SMALL, grid={"measure.series": ["1s", "1ns"]}, output=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_a_billion_seeds_are_refused_at_once(earlybird: Program, small: Path) -> None:
    message = complaint(earlybird("sweep", small, "--set", "sweep.seeds=1000000000"))
    assert "sweep.seeds: `1000000000` seeds make 2,000,000,000 runs" in message


def test_a_grid_of_millions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sweep\.grid: `1002001` combinations of its values"):
        earlybird.sweep(SMALL, grid={"pairs": range(1, 1002), "endpoint.window": range(1, 1002)}, output=tmp_path)


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
def test_times_are_reported_roughly(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


LONG_RUN = ("--set", "duration=100000s", "--set", "measure.warm-up=1s")
TICK = 1 / os.sysconf("SC_CLK_TCK")


class Ended(NamedTuple):
    """The end of a program that was asked to end."""

    code: int
    err: str
    waited: float
    """Seconds on the clock from the request to the end."""
    worked: float
    """Seconds for which its processes worked after the request, whatever else the machine had to do."""


def ask_to_end(line: Sequence[str], folder: Path, is_ready: Callable[[int], bool], number: signal.Signals) -> Ended:
    """
    Start a program in a folder, ask it to end once it is ready, and check that it leaves nothing but its results.

    `is_ready` gets the number of its group of processes.
    """
    temporary = folder / "temporary"
    temporary.mkdir()
    before = _of_children()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    program = subprocess.Popen(
        line, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not is_ready(program.pid):
        assert program.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    worked, asked = before + sum(seconds_of(program.pid)), time.monotonic()
    os.killpg(program.pid, number)
    _, err = program.communicate(timeout=HUNG)
    waited = time.monotonic() - asked
    wait_for(lambda: not is_there(program.pid))
    assert not list(temporary.iterdir())
    return Ended(program.returncode, err, waited, _of_children() - worked)


def _of_children() -> float:
    """Return the seconds that this process's children worked that have ended, and theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds_of(group: int) -> list[float]:
    """Return for each of a group's processes how long it and its children worked so far."""
    seconds = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = file.read_text(encoding="utf-8").rpartition(")")[2].split()
            seconds += [TICK * sum(map(int, fields[11:15]))] if int(fields[2]) == group else []
    return seconds


NUMBERS = pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


@NUMBERS
@pytest.mark.parametrize("extra", [(), ("--set", "measure.series=2s")])
def test_a_request_to_end_is_answered_within_a_second_and_leaves_no_file(
    small: Path, tmp_path: Path, number: signal.Signals, code: int, extra: tuple[str, ...]
) -> None:
    capture = tmp_path / "packets.pcapng"
    line = command("run", small, *LONG_RUN, *extra, "--pcap", capture, "--output", tmp_path / "results")
    ended = ask_to_end(line, tmp_path, lambda _: capture.exists(), number)
    assert ended.worked < 1
    assert ended.waited < 3  # a second, where the machine has nothing else to do
    assert (ended.code, ended.err.splitlines()[-1]) == (code, "earlybird: interrupted.")
    assert "Traceback" not in ended.err
    assert not capture.exists()
    assert not list((tmp_path / "results").iterdir())


SWEEP = ("--set", "sweep.seeds=400", "--set", "duration=1000s", "--jobs", 2)
STUDY_RUN = ("run", "modern-readings", "--scale", "full", "--jobs", 2, "--output", "results")


@NUMBERS
@pytest.mark.parametrize(("sub_command", "finished"), [("sweep", 2), ("study", 0)])
def test_workers_went_on_when_their_program_was_asked_to_end(
    small: Path, tmp_path: Path, number: signal.Signals, code: int, sub_command: str, finished: int
) -> None:
    line = command("sweep", small, *SWEEP) if sub_command == "sweep" else command("study", *STUDY_RUN)
    results, workers = tmp_path / "results", 2

    def is_ready(group: int) -> bool:
        return len(seconds_of(group)) > workers and len(list(results.glob("*/checksums.sha256"))) >= finished

    ended = ask_to_end(line, tmp_path, is_ready, number)
    assert ended.worked < 1
    assert ended.code == code
    assert "runs were finished and are kept in results" in ended.err
    assert "Traceback" not in ended.err
    assert not list(results.glob(".*"))


def is_there(group: int) -> bool:
    """Return whether anybody of a group of processes is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_without_a_terminal_a_line_reports_how_far_a_run_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("earlybird.progress.BETWEEN_LINES", 0.05)
    earlybird.run(SMALL, overrides={"duration": "3000s"}, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("earlybird: simulating: ") and " % done" in line for line in lines)


def test_without_a_terminal_a_line_reports_how_far_a_sweep_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("earlybird.progress.BETWEEN_LINES", 0.05)
    earlybird.sweep(SMALL, jobs=1, output=tmp_path, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("earlybird: simulating: ") and " of 4 runs" in line for line in lines)
