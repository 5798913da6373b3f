"""Small results of sweeps: one file holds all that several do, to the last bit, and damage is noticed."""

from __future__ import annotations

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import earlybird
from conftest import SMALL, store_bytes
from earlybird import Result, StoreError
from earlybird.files import CHECKSUMS, complete_files, files_of, write_files
from earlybird.result import Columns
from earlybird.small_results import MOST_VALUES

if TYPE_CHECKING:
    from pathlib import Path

SHORT = {"duration": "2s", "measure.warm-up": "1s"}


def of_columns(**columns: np.ndarray[Any, Any] | list[str]) -> Result:
    """Return a result with one table."""
    return Result({"duration": "1s"}, 1, {"seed": 1}, {"flows": Columns(columns)})


def kept(result: Result, folder: Path) -> Result:
    """Write a result in one file and read it back."""
    write_files(files_of(result, is_brief=True), folder)
    assert {path.name for path in folder.iterdir()} == {"result.json", CHECKSUMS}
    return Result.load(folder)


def test_runs_of_a_sweep_that_were_kept_in_nine_files_are_kept_in_one_with_its_checksum(tmp_path: Path) -> None:
    sweep = earlybird.sweep(SMALL, seeds=2, grid={}, overrides=SHORT, output=tmp_path / "swept")
    for run in sweep.planned:
        folder = tmp_path / "swept" / run.key
        assert {path.name for path in folder.iterdir()} == {"result.json", CHECKSUMS}
        old = earlybird.run(SMALL, seed=run.seed, overrides=SHORT).save(tmp_path / "old")
        assert Result.load(folder) == Result.load(old)
        assert complete_files(folder) == {path.name: path.read_bytes() for path in sorted(old.iterdir())}


def test_results_of_older_versions_are_read_beside_small_ones(tmp_path: Path) -> None:
    sweep = earlybird.sweep(SMALL, seeds=3, grid={}, overrides=SHORT, output=tmp_path)
    rows, runs = sweep.table("flows").collect(), sweep.runs
    first = tmp_path / sweep.planned[0].key
    Result.load(first).save(first)
    assert (first / "flows.parquet").exists()
    assert not (first / "result.json").exists()
    resumed = earlybird.sweep(SMALL, seeds=3, grid={}, overrides=SHORT, output=tmp_path)
    assert resumed.made == 0
    assert resumed.runs.equals(runs)
    assert resumed.table("flows").collect().equals(rows)
    assert resumed.table("timeouts").collect().equals(sweep.table("timeouts").collect())


@given(
    floats=st.lists(st.floats(), max_size=5),
    integers=st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5),
    flags=st.lists(st.booleans(), max_size=5),
    texts=st.lists(st.text(), max_size=5),
)
def test_every_number_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory,
    floats: list[float],
    integers: list[int],
    flags: list[bool],
    texts: list[str],
) -> None:
    rows = min(len(floats), len(integers), len(flags), len(texts))
    result = of_columns(
        a=np.array(floats[:rows], dtype=float),
        b=np.array(integers[:rows], dtype=np.int64),
        c=np.array(flags[:rows], dtype=bool),
        d=[text.encode("utf-8", "replace").decode() for text in texts[:rows]],
    )
    read = kept(result, tmp_path_factory.mktemp("kept") / "result")
    assert read.table("flows").schema == result.table("flows").schema
    assert read.table("flows").equals(result.table("flows"))
    assert read == result


def test_infinite_numbers_and_those_that_do_not_exist_are_kept_in_plain_json(tmp_path: Path) -> None:
    result = of_columns(wait_s=np.array([math.inf, -math.inf, math.nan, -math.nan, 0.1]))
    assert kept(result, tmp_path / "result").table("flows").equals(result.table("flows"))
    document = json.loads((tmp_path / "result" / "result.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert document["tables"]["flows"]["wait_s"] == ["inf", "-inf", None, "-nan", 0.1]


def test_long_tables_are_kept_as_parquet(tmp_path: Path) -> None:
    for rows, name in ((MOST_VALUES, "result.json"), (MOST_VALUES + 1, "flows.parquet")):
        files = files_of(of_columns(a=np.zeros(rows)), is_brief=True)
        write_files(files, tmp_path / str(rows))
        assert name in files
        assert Result.load(tmp_path / str(rows)).flows.height == rows


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ("scenario", 3, "it has not what a result has"),
        ("summary", {}, "it has no seed"),
        ("types", {}, "its table 'flows' is none"),
        ("types", {"flows": {"a": "object", "b": "str"}}, "a column of type 'object'"),
        ("tables", {"flows": {"a": [1.0], "b": []}}, "are not those of one table"),
        ("tables", {"flows": {"a": ["x"], "b": ["y"]}}, "could not convert"),
        ("tables", {"flows": {"a": [1.0], "b": [{}]}}, "it has other values than text in 'b'"),
    ],
)
def test_a_small_result_that_somebody_forged_is_damaged(tmp_path: Path, part: str, value: object, reason: str) -> None:
    folder = tmp_path / "result"
    kept(of_columns(a=np.array([1.0]), b=["y"]), folder)
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    content = json.dumps({**document, part: value}).encode()
    (folder / "result.json").write_bytes(content)
    (folder / CHECKSUMS).write_text(f"{hashlib.sha256(content).hexdigest()}  result.json\n", encoding="utf-8")
    with pytest.raises(StoreError, match=f"is damaged: .*{reason}"):
        _ = Result.load(folder).flows


def test_a_sweep_of_small_runs_is_the_same_over_any_number_of_workers(tmp_path: Path) -> None:
    for jobs in (1, 2):
        earlybird.sweep(SMALL, seeds=4, grid={}, overrides=SHORT, jobs=jobs, output=tmp_path / str(jobs))
    assert store_bytes(tmp_path / "1") == store_bytes(tmp_path / "2")


def test_tables_without_rows_keep_their_types(tmp_path: Path) -> None:
    result = of_columns(a=np.array([], dtype=float), b=np.array([], dtype=np.int64), c=[])
    assert kept(result, tmp_path / "result").flows.schema == pl.Schema({"a": pl.Float64, "b": pl.Int64, "c": pl.Null})
