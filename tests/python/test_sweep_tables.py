"""One table of all runs of a sweep."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import polars as pl
import pytest

import earlybird
from conftest import SMALL
from earlybird import InputError, StoreError, SweepResult
from earlybird.files import files_of, write_files
from earlybird.loading import resolve
from earlybird.result import Result
from earlybird.run_specs import ScenarioRun
from earlybird.store import Store
from earlybird.sweeps import PlannedRun

if TYPE_CHECKING:
    from pathlib import Path


def kept(folder: Path, *tables: pl.DataFrame) -> SweepResult:
    """Return a sweep of as many runs as tables of flows are given, one per seed."""
    store, spec = Store(folder), ScenarioRun(resolve(SMALL))
    planned = [PlannedRun(spec, seed, {"pairs": seed}) for seed in range(1, len(tables) + 1)]
    for run, table in zip(planned, tables, strict=True):
        result = Result({}, run.seed, {"seed": run.seed}, {"flows": table.clone})
        write_files(files_of(result), store.folder(run.key))
    return SweepResult(planned, store)


def test_a_table_of_many_runs_took_a_query_for_each(tmp_path: Path) -> None:
    runs = 500
    first = earlybird.run(SMALL).save(tmp_path / "one")
    store, spec = Store(tmp_path), ScenarioRun(resolve(SMALL))
    planned = [PlannedRun(spec, seed) for seed in range(1, runs + 1)]
    for run in planned:
        shutil.copytree(first, store.folder(run.key))
    started = time.process_time()
    flows = SweepResult(planned, store).table("flows").collect()
    assert time.process_time() - started < 2, "4.7 s with a query per run, and over 170 s of 5000"
    assert flows["seed"].to_list() == [seed for seed in range(1, runs + 1) for _ in range(4)]


def test_a_run_at_two_points_of_a_grid_is_there_twice(tmp_path: Path) -> None:
    durations = ["2s", "2000ms"]
    sweep = earlybird.sweep(SMALL, grid={"duration": durations}, seeds=1, jobs=1, output=tmp_path)
    assert len({run.key for run in sweep.planned}) == 1
    assert sweep.table("flows").collect()["duration"].to_list() == [one for one in durations for _ in range(4)]


def test_tables_whose_types_differ_are_put_together(tmp_path: Path) -> None:
    sweep = kept(tmp_path, pl.DataFrame({"rto_s": [1, 2]}), pl.DataFrame({"rto_s": [0.5]}))
    assert sweep.table("flows").collect().rows() == [(1, 1, 1.0), (1, 1, 2.0), (2, 2, 0.5)]


def test_a_damaged_file_of_a_table_is_named(tmp_path: Path) -> None:
    sweep = kept(tmp_path, pl.DataFrame({"rto_s": [1]}), pl.DataFrame({"rto_s": [2]}))
    (tmp_path / sweep.planned[1].key / "flows.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match=r"flows\.parquet is damaged"):
        sweep.table("flows")


def test_a_table_that_no_run_measured_states_how(tmp_path: Path) -> None:
    sweep = kept(tmp_path, pl.DataFrame({"rto_s": [1]}))
    with pytest.raises(InputError, match=r"no table 'series': ask for it with measure\.series"):
        sweep.table("series")
