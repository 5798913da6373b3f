"""The Python interface: scenarios in every form, results and their tables."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import polars as pl
import pytest

import earlybird
from conftest import SMALL
from earlybird import InputError, Result, ScenarioError, StoreError
from earlybird.loading import resolve
from earlybird.parameter import Parameter
from earlybird.scenario import (
    Application,
    Bulk,
    Cbr,
    Channel,
    Dumbbell,
    Endpoint,
    Flow,
    Network,
    Queue,
    Scenario,
    Start,
)

if TYPE_CHECKING:
    from pathlib import Path

TYPED = Scenario(
    title="two video flows and two file transfers",
    duration="5s",
    parameters={"pairs": 2, "transport": "sack"},
    endpoint=Endpoint(profile="ns2"),
    network=Network(
        dumbbell=Dumbbell(
            bottleneck=Channel(rate="2Mb/s", delay="15ms", queue=Queue(packets=20)),
            access=Channel(rate="10Mb/s", delay="5ms"),
        )
    ),
    flows=[
        Flow(
            name="video",
            count=Parameter("pairs"),
            from_="left",
            to="right",
            transport=Parameter("transport"),
            application=Application(cbr=Cbr(rate="300kb/s", packet=1000)),
            start=Start(uniform=["0s", "1s"]),
        ),
        Flow(
            name="file",
            count=Parameter("pairs"),
            from_="left",
            to="right",
            application=Application(bulk=Bulk()),
            start=Start(uniform=["0s", "1s"]),
        ),
    ],
)


def test_every_form_of_a_scenario_means_the_same(small: Path) -> None:
    document = tomllib.loads(SMALL)
    del document["sweep"]
    without_sweep = resolve(SMALL).to_dict()
    del without_sweep["sweep"]
    assert resolve(small) == resolve(str(small)) == resolve(SMALL)
    assert resolve(document) == resolve(json.dumps(document)) == resolve(TYPED)
    assert resolve(TYPED).to_dict() == without_sweep


def test_a_run_has_a_summary_and_tables() -> None:
    result = earlybird.run(SMALL, seed=5)
    assert result.seed == result.summary["seed"] == 5
    assert result.flows["flow"].to_list() == ["video0", "video1", "file0", "file1"]
    assert result.flows["throughput_bps"].min() > 0  # type: ignore[operator]
    assert set(result.lateness["group"]) == {"video"}
    assert "left-right" in result.links["link"].to_list()
    assert set(result.link_groups["group"]) >= {"video", "file"}
    assert result.timeouts.columns == ["flow", "time_s", "rto_s", "frozen_s"]


def test_overrides_take_python_values() -> None:
    result = earlybird.run(
        SMALL, overrides={"pairs": 1, "flows.file.count": 3, "measure.start-up-delays": ["1s", "2s"]}
    )
    assert result.flows.height == 4
    assert result.lateness["startup_delay_s"].to_list() == [1.0, 2.0]


def test_seeds_differ_and_repeat() -> None:
    first, second, other = (earlybird.run(SMALL, seed=seed).flows for seed in (1, 1, 2))
    assert first.equals(second)
    assert not first.equals(other)


def test_a_time_series_is_there_when_asked_for() -> None:
    series = earlybird.run(SMALL, overrides={"measure.series": "100ms"}).series
    assert series.columns == ["time_s", "subject", "quantity", "value"]
    assert {"cwnd", "queue_packets"} <= set(series["quantity"])


def test_duplicates_and_deliveries_are_there_when_asked_for() -> None:
    result = earlybird.run(SMALL, overrides={"measure.duplicates": True, "measure.deliveries": True})
    assert {"flow", "age_s", "er_threshold_s"} <= set(result.duplicates.columns)
    assert result.deliveries.filter(pl.col("delivered_s") < pl.col("written_s")).is_empty()


def test_repairs_are_there_when_asked_for() -> None:
    overrides = {"measure.transmissions": True, "network.dumbbell.bottleneck.loss": [{"list": {"packets": [50]}}]}
    rows = earlybird.run(SMALL, overrides=overrides).transmissions
    assert rows.columns == ["flow", "packet", "first_sent_s", "last_sent_s", "times_sent", "times_dropped"]
    assert rows.filter(
        (pl.col("last_sent_s") < pl.col("first_sent_s")) | (pl.col("times_sent") + pl.col("times_dropped") < 2)
    ).is_empty()
    assert rows["times_dropped"].sum() > 0


def test_a_table_that_was_not_measured_states_how_to_measure_it() -> None:
    with pytest.raises(InputError, match=r"no table 'series': ask for it with measure\.series = \"100ms\""):
        _ = earlybird.run(SMALL).series


def test_a_result_is_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    result = earlybird.run(SMALL)
    loaded = Result.load(result.save(tmp_path / "result"))
    assert loaded.tables == tuple(sorted(result.tables))
    assert all(loaded.table(name).equals(result.table(name)) for name in result.tables)
    assert loaded.summary == {key: value for key, value in result.summary.items() if key != "cpu_s"}


def test_saving_replaces_an_older_result_and_nothing_else(tmp_path: Path) -> None:
    earlybird.run(SMALL).save(tmp_path / "result")
    earlybird.run(SMALL, seed=2).save(tmp_path / "result")
    assert Result.load(tmp_path / "result").seed == 2
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "cat.jpg").touch()
    with pytest.raises(StoreError, match="holds something else"):
        earlybird.run(SMALL).save(tmp_path / "photographs")
    assert (tmp_path / "photographs" / "cat.jpg").exists()


def test_a_scenario_error_has_its_parts() -> None:
    with pytest.raises(ScenarioError) as caught:
        earlybird.run(SMALL, overrides={"transport": "sakc"})
    error = caught.value
    assert (error.path, error.value) == ("flows.video.transport", "sakc")
    assert "sack" in error.allowed
    assert "sack" in error.hint
    assert isinstance(error, ValueError)


def test_a_sweep_has_a_row_per_run_and_tables_of_all(tmp_path: Path) -> None:
    sweep = earlybird.sweep(
        SMALL, grid={"pairs": [1, 2], "transport": ["sack", "pert-er"]}, seeds=[4, 9], output=tmp_path
    )
    assert sweep.made == sweep.runs.height == 8
    assert sweep.runs.select("pairs", "transport", "seed").rows()[:3] == [
        (1, "sack", 4),
        (1, "sack", 9),
        (1, "pert-er", 4),
    ]
    flows = sweep.table("flows").collect()
    assert flows.height == 2 * 2 * (2 + 4)
    assert flows.filter(run_transport="pert-er", group="video")["transport"].unique().to_list() == ["pert-er"]
    assert flows.filter(run_transport="pert-er", group="file")["transport"].unique().to_list() == ["sack"]


def test_lists_in_a_grid_are_written_as_text(tmp_path: Path) -> None:
    delays = "measure.start-up-delays"
    sweep = earlybird.sweep(
        SMALL, grid={delays: [["1s"], ["1s", "2s"]]}, seeds=1, overrides={"pairs": 1}, output=tmp_path
    )
    assert sweep.runs[delays].to_list() == ['["1s"]', '["1s", "2s"]']


def test_an_invalid_point_of_a_grid_stops_the_sweep_before_it_starts(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="sakc"):
        earlybird.sweep(SMALL, grid={"transport": ["sack", "sakc"]}, output=tmp_path / "results")
    assert not (tmp_path / "results").exists()


def test_heavy_packages_are_loaded_only_when_needed() -> None:
    check = "import sys, earlybird.cli; print({'polars', 'scipy', 'vl_convert', 'av'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
