"""Output of successful commands."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest

import earlybird as package
from conftest import REPOSITORY, store_bytes
from earlybird import Result, _core

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

SUB_COMMANDS = [
    "run",
    "plan",
    "plot",
    "emulate",
    "transmit",
    "top",
    "sweep",
    "validate",
    "schema",
    "transports",
    "compare",
    "bench",
]
SUB_COMMANDS += ["study list", "study run", "study report"]

KEYS_OF_A_DUMBBELL = {
    "seed": int,
    "drop_rate": float,
    "bottleneck_packets": int | float,
    "rto_count": float,
    "frozen_s": float,
    "t_over_mu": float,
    "cpu_s": float,
}


@pytest.mark.parametrize("sub_command", SUB_COMMANDS)
def test_every_help_shows_an_example(earlybird: Program, sub_command: str) -> None:
    finished = earlybird(*sub_command.split(), "--help")
    assert finished.code == 0
    assert f"earlybird {sub_command}" in finished.out.partition("Examples:")[2]


def test_the_version_is_that_of_the_core(earlybird: Program) -> None:
    assert earlybird("--version").out == f"earlybird {_core.version()}\n"
    assert package.__version__ == _core.version()


def test_run_prints_measures_with_units(earlybird: Program, small: Path) -> None:
    finished = earlybird("run", small)
    assert (finished.code, finished.err) == (0, "")
    for word in ("two video flows", "seed 1", "the bottleneck is the link", "throughput", "kb/s", "2 × sack", " %"):
        assert word in finished.out


def test_run_prints_the_summary_as_json(earlybird: Program, small: Path) -> None:
    summary = json.loads(earlybird("run", small, "--json", "--seed", 3).out)
    assert summary["seed"] == 3
    for key, kind in KEYS_OF_A_DUMBBELL.items():
        assert isinstance(summary[key], kind), key


def test_run_keeps_the_result_in_a_folder_of_its_own(earlybird: Program, small: Path, tmp_path: Path) -> None:
    finished = earlybird("run", small, "--set", "pairs=1", "--output", tmp_path / "kept")
    (folder,) = (tmp_path / "kept").iterdir()
    assert str(folder) in finished.out
    result = Result.load(folder)
    assert result.scenario["parameters"] == {"pairs": 1, "transport": "sack"}
    assert result.flows.height == 2


def test_the_same_seed_gives_the_same_bytes(earlybird: Program, small: Path, tmp_path: Path) -> None:
    for name in ("first", "second"):
        earlybird("run", small, "--output", tmp_path / name)
    assert store_bytes(tmp_path / "first") == store_bytes(tmp_path / "second") != {}


def test_trace_has_the_columns_of_the_event_format(earlybird: Program, small: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    assert earlybird("run", small, "--trace-out", trace, "--trace-flow", "file1").code == 0
    with trace.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["time", "event", "seq", "cwnd", "ssthresh", "backoff", "timeouts"]
    assert {"snd", "ack", "dlv"} <= {row["event"] for row in rows}


def test_pcap_is_written(earlybird: Program, small: Path, tmp_path: Path) -> None:
    capture = tmp_path / "packets.pcapng"
    assert f"Packets written to {capture}" in earlybird("run", small, "--pcap", capture).out
    assert capture.stat().st_size > 1000


def test_sweep_prints_rows_per_point_of_the_grid(earlybird: Program, small: Path) -> None:
    finished = earlybird("sweep", small, "--jobs", 2)
    assert finished.code == 0
    assert "Mean over 2 seeds" in finished.out
    assert "4 runs, 4 of them made now" in finished.out


def test_sweep_prints_rows_as_json(earlybird: Program, small: Path) -> None:
    rows = json.loads(earlybird("sweep", small, "--json", "--set", "sweep.seeds=[7]").out)
    assert [(row["pairs"], row["seed"]) for row in rows] == [(1, 7), (2, 7)]


def test_a_setting_takes_the_place_of_the_grid(earlybird: Program, small: Path) -> None:
    rows = json.loads(earlybird("sweep", small, "--json", "--set", "pairs=3", "--set", "sweep.seeds=1").out)
    assert [row["media_flows"] for row in rows] == [3]


@pytest.mark.parametrize("scenario", sorted((REPOSITORY / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_the_scenarios_of_the_repository_are_valid(earlybird: Program, scenario: Path) -> None:
    finished = earlybird("validate", scenario)
    assert (finished.code, finished.err) == (0, "")
    assert "is valid" in finished.out


def test_validate_prints_the_complete_scenario(earlybird: Program, small: Path) -> None:
    document = json.loads(earlybird("validate", small, "--json", "--set", "transport=pert").out)
    assert document["flows"][0]["transport"] == "pert"
    assert document["measure"]["deliveries"] is False


def test_schema_is_a_json_schema(earlybird: Program) -> None:
    schema = json.loads(earlybird("schema").out)
    assert "duration" in schema["properties"]


def test_study_list_names_the_first_study(earlybird: Program) -> None:
    assert "early-retransmission" in earlybird("study", "list").out
