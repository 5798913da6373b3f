"""A scenario in real time: the same tables as of a simulation, and refusals before anything starts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

from earlybird import code_version
from earlybird.backends import warn_of_disturbance
from earlybird.errors import EarlybirdError, ScenarioError, ScenarioWarning
from earlybird.loading import resolve
from earlybird.outputs import Outputs
from earlybird.run_specs import ScenarioRun
from earlybird.runs import run
from earlybird.store import Store, run_key
from earlybird.sweeps import PlannedRun, complete, sweep
from test_capture import needs_tshark, read
from test_cli_input import complaint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird.backends import Backend
    from earlybird.pool import Job
    from earlybird.result import Result
    from test_cli_input import Program

# The load of this machine is not tested here.
pytestmark = pytest.mark.filterwarnings("ignore:the run was disturbed")

SCENARIO = """
title = "One transfer"
duration = "2s"
measure = { warm-up = "400ms", series = "100ms" }

[[network.links]]
from = "a"
to = "b"
rate = "10Mb/s"
delay = "20ms"
queue = { packets = 60 }

[[flows]]
name = "bulk"
from = "a"
to = "b"
transport = "cubic"
application = { bulk = {} }
"""


def in_real_time(scenario: str = SCENARIO, *, backend: Backend = "kernel", **options: object) -> Result:
    """Run a scenario in a backend in real time; skip the test with the reason where that is not allowed."""
    try:
        return run(scenario, backend=backend, **options)  # type: ignore[arg-type]
    except EarlybirdError as error:
        if "network namespace" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("backend", ["kernel", "live"])
def test_a_run_in_real_time_has_the_tables_of_a_simulation(backend: Backend, tmp_path: Path) -> None:
    real, simulated = in_real_time(backend=backend, output=tmp_path), run(SCENARIO)
    assert set(real.tables) == {*simulated.tables, "added_delay"}
    for name in simulated.tables:
        assert real.table(name).columns == simulated.table(name).columns
    assert real.summary["backend"] == backend
    assert "backend" not in simulated.summary
    assert 0 < real.table("flows")["throughput_bps"][0] <= 10e6 * 1448 / 1500 * 1.01
    assert real.summary["added_delay_p50_us"] <= real.summary["added_delay_p99_us"]
    assert Store(tmp_path).load(run_key(real.scenario, real.seed)) == real


def test_the_floor_of_the_timeout_is_set_on_the_kernels_sockets() -> None:
    speech = SCENARIO.replace("bulk = {}", 'cbr = { rate = "300kb/s", packet = 1000 }')
    longest = {}
    for floor in ("200ms", "30ms"):
        overrides = {"endpoint.rto.floor": floor, "endpoint.rto.linear-when-thin": True}
        series = in_real_time(speech, overrides=overrides).series
        longest[floor] = max(series.filter(quantity="rto_s")["value"].to_list())
    assert longest["30ms"] < 0.15 < longest["200ms"]


def test_our_own_endpoints_carry_frames_in_real_time() -> None:
    film = SCENARIO.replace("bulk = {}", 'cbr = { rate = "1Mb/s", packet = 2500 }').replace('"cubic"', '"mtcp"')
    real, simulated = in_real_time(film, backend="live"), run(film)
    of = [result.table("flows") for result in (real, simulated)]
    assert of[0]["units_written"][0] == of[1]["units_written"][0]
    assert of[0]["units_played"][0] >= 0.8 * of[1]["units_played"][0]


def test_the_world_is_part_of_what_a_run_is_kept_by() -> None:
    documents = [resolve(SCENARIO, {"backend": backend}).to_dict() for backend in ("sim", "kernel")]
    assert run_key(documents[0], 1) == run_key(resolve(SCENARIO).to_dict(), 1) != run_key(documents[1], 1)


def test_a_scenario_can_name_its_world_and_be_swept_in_it(tmp_path: Path) -> None:
    in_real_time(overrides={"duration": "600ms"})
    swept = sweep(f'backend = "kernel"\n{SCENARIO}', overrides={"duration": "1s"}, seeds=2, output=tmp_path)
    # Nothing of it is drawn at random, yet no run in real time repeats another.
    assert swept.made == 2
    assert swept.runs["backend"].to_list() == ["kernel", "kernel"]
    second = sweep(f'backend = "kernel"\n{SCENARIO}', overrides={"duration": "1s"}, seeds=2, output=tmp_path)
    assert second.made == 0


@pytest.mark.parametrize("parallel", [1, 2])
def test_runs_in_real_time_are_made_side_by_side_only_if_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    made = list[tuple[list[str], int]]()

    def note(jobs: Sequence[Job], _store: Store, workers: int, _done: object) -> None:
        made.append(([job.spec.backend for job in jobs], workers))

    monkeypatch.setattr("earlybird.sweeps.work_through", note)
    scenarios = [resolve(SCENARIO, {"backend": backend}) for backend in ("kernel", "sim", "live")]
    planned = [PlannedRun(ScenarioRun(scenario), 1) for scenario in scenarios]
    complete(planned, jobs=4, parallel=parallel, output=tmp_path)
    assert made == [(["sim"], 4), (["kernel", "live"], parallel)]


def test_what_the_kernel_cannot_do_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="pert-er") as raised:
        run(SCENARIO, backend="kernel", overrides={"flows.bulk.transport": "pert-er"}, output=tmp_path / "results")
    assert raised.value.path == "flows.bulk.transport"
    assert "cubic" in raised.value.allowed
    assert not (tmp_path / "results").exists()


def test_what_our_endpoints_cannot_do_in_real_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="ns2") as raised:
        run(
            SCENARIO,
            backend="live",
            overrides={"endpoint.profile": "ns2", "flows.bulk.transport": "sack"},
            output=tmp_path,
        )
    assert raised.value.path == "endpoint.profile"
    assert list(tmp_path.iterdir()) == []


def test_a_scenario_is_not_valid_in_a_world_that_cannot_do_it(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(f'backend = "kernel"\n{SCENARIO}', encoding="utf-8")
    assert program("validate", path).code == 0
    assert "flows.bulk.transport: `tahoe`" in complaint(
        program("validate", path, "--set", "flows.bulk.transport=tahoe")
    )


@pytest.mark.parametrize("backend", ["kernel", "live"])
def test_a_run_in_real_time_writes_the_traces_of_a_simulated_one(backend: Backend, tmp_path: Path) -> None:
    files, simulated = (
        {kind: tmp_path / place / kind for kind in ("trace", "qlog", "link_trace")} for place in ("real", "simulated")
    )
    for made in (files, simulated):
        made["trace"].parent.mkdir()
    short = {"duration": "1s"}
    in_real_time(backend=backend, overrides=short, outputs=Outputs(**files))  # type: ignore[arg-type]
    run(SCENARIO, overrides=short, outputs=Outputs(**simulated))  # type: ignore[arg-type]
    for kind in ("trace", "link_trace"):
        ours, theirs = (pl.read_csv(made[kind]) for made in (files, simulated))
        assert ours.columns == theirs.columns
        assert len(ours) > 100
    traces = [json.loads(made["qlog"].read_text(encoding="utf-8"))["traces"] for made in (files, simulated)]
    assert [trace["title"] for trace in traces[0]] == [trace["title"] for trace in traces[1]]
    assert min(len(trace["events"]) for trace in traces[0]) > 100


@needs_tshark
@pytest.mark.parametrize("backend", ["kernel", "live"])
def test_a_run_in_real_time_writes_packets_that_wireshark_reads(backend: Backend, tmp_path: Path) -> None:
    file = tmp_path / "packets.pcapng"
    in_real_time(backend=backend, overrides={"duration": "1s", "endpoint.mss": 1200}, outputs=Outputs(pcap=file))
    assert not read(file, "-Y", "_ws.malformed || ip.checksum.status == Bad")
    fields = ("-e", "frame.interface_name", "-e", "tcp.stream", "-e", "tcp.flags.syn", "-e", "tcp.len")
    rows = [row.split("\t") for row in read(file, "-Y", "tcp", "-T", "fields", *fields)]
    # The SYN leaves the near side, and gets to the far one; both see every packet of the connection but those lost.
    assert [row[0] for row in rows[:2]] == ["near", "far"]
    assert {row[1] for row in rows} == {"0"}
    assert [row[2] for row in rows].count("1") == 4
    near, far = ([int(row[3]) for row in rows if row[0] == side and int(row[3])] for side in ("near", "far"))
    assert len(near) >= len(far) > 100
    assert max(near) == 1200


@pytest.mark.filterwarnings("default")
def test_a_disturbed_run_is_warned_of() -> None:
    with pytest.warns(ScenarioWarning, match=r"7\.5 ms late or more, .* 0\.2 ms late .*, and 3"):
        warn_of_disturbance(
            {"disturbed": 1, "added_delay_p99_us": 7500.0, "host_lateness_p99_us": 200.0, "undelivered": 3}
        )
    warn_of_disturbance({"disturbed": 0})
    warn_of_disturbance({})


def test_the_command_line_takes_a_backend(program: Program, tmp_path: Path) -> None:
    in_real_time(overrides={"duration": "600ms"})
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    outcome = program("run", path, "--backend", "kernel", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["backend"] == "kernel"
    assert "in real time, backend `kernel`" in program("run", path, "--backend", "kernel").out


def test_ctrl_c_ends_a_run_at_once_and_keeps_nothing(tmp_path: Path) -> None:
    in_real_time(overrides={"duration": "600ms"})
    path, results = tmp_path / "scenario.toml", tmp_path / "results"
    path.write_text(SCENARIO, encoding="utf-8")
    arguments = ["run", str(path), "--backend", "kernel", "--set", "duration=60s", "--output", str(results)]
    process = subprocess.Popen([sys.executable, "-m", "earlybird", *arguments], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not results.is_dir() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=10)
    assert process.returncode == 130, reported
    assert list(results.iterdir()) == []


def test_a_result_in_real_time_is_kept_by_the_code_that_carries_it_too() -> None:
    assert len({code_version(backend) for backend in ("sim", "kernel", "live")}) == 3
    assert code_version() == code_version("sim") == run(SCENARIO).summary["code_version"]
