"""Files that a mistake could overwrite: folders that are taken for results, files that a run writes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import SMALL
from earlybird import InputError, Result, ScenarioWarning, StoreError
from earlybird.outputs import Outputs
from test_cli_input import complaint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

SHORT = {"duration": "2s", "pairs": 1}


def test_loading_any_folder_never_advises_to_delete_it(tmp_path: Path) -> None:
    (tmp_path / "cat.jpg").touch()
    with pytest.raises(StoreError, match="there is no result in") as caught:
        Result.load(tmp_path)
    assert "elete" not in str(caught.value)


def test_loading_a_folder_of_results_names_one_of_them(tmp_path: Path) -> None:
    folder = earlybird.run(SMALL, overrides=SHORT).save(tmp_path / "one")
    with pytest.raises(StoreError, match=f"is a folder of results, not one of them.*{folder}"):
        Result.load(tmp_path)


def test_a_list_of_checksums_of_something_else_makes_no_result_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "checksums.sha256").write_text("0123  film.mkv\n", encoding="utf-8")
    (tmp_path / "film.mkv").touch()
    with pytest.raises(StoreError, match="holds something else"):
        earlybird.run(SMALL, overrides=SHORT).save(tmp_path)
    with pytest.raises(StoreError, match="there is no result"):
        Result.load(tmp_path)
    assert (tmp_path / "film.mkv").exists()


def test_saving_keeps_a_photograph_beside_an_older_result(tmp_path: Path) -> None:
    result = earlybird.run(SMALL, overrides=SHORT)
    (result.save(tmp_path / "one") / "cat.jpg").touch()
    with pytest.raises(StoreError, match="holds something else"):
        result.save(tmp_path / "one")
    assert (tmp_path / "one" / "cat.jpg").exists()


@pytest.mark.parametrize("option", ["--trace-out", "--qlog", "--link-trace-out", "--pcap"])
def test_an_output_never_replaces_the_scenario(earlybird: Program, small: Path, option: str) -> None:
    before = small.read_bytes()
    assert "would overwrite the scenario itself" in complaint(earlybird("run", small, option, small))
    assert small.read_bytes() == before


def test_two_outputs_never_go_to_one_file(earlybird: Program, small: Path, tmp_path: Path) -> None:
    file = tmp_path / "both"
    message = complaint(earlybird("run", small, "--trace-out", file, "--pcap", tmp_path / "." / "both"))
    assert "would overwrite what trace writes" in message
    assert not file.exists()


@pytest.mark.parametrize("option", ["--trace-out", "--qlog", "--link-trace-out", "--pcap"])
def test_an_output_never_replaces_what_something_else_wrote(
    earlybird: Program, small: Path, tmp_path: Path, option: str
) -> None:
    (tmp_path / "diary").write_text("Dear diary", encoding="utf-8")
    assert "not one that earlybird wrote" in complaint(earlybird("run", small, option, tmp_path / "diary"))
    assert (tmp_path / "diary").read_text(encoding="utf-8") == "Dear diary"


def test_what_an_earlier_run_wrote_is_replaced(tmp_path: Path) -> None:
    trace, qlog, link, pcap = (tmp_path / name for name in ("trace.csv", "run.qlog", "link.csv", "packets.pcapng"))
    outputs = Outputs(trace=trace, qlog=qlog, link_trace=link, pcap=pcap)
    for seed in (1, 2):
        with pytest.warns(ScenarioWarning, match="^--pcap: has headers as real networks do"):
            earlybird.run(SMALL, seed=seed, overrides=SHORT, outputs=outputs)
        assert all(file.stat().st_size > 100 for file in (trace, qlog, link, pcap))
    with pytest.raises(InputError, match="not one that earlybird wrote"):
        earlybird.run(SMALL, overrides=SHORT, outputs=Outputs(trace=pcap))


def test_a_device_may_take_several_outputs(small: Path) -> None:
    with pytest.warns(ScenarioWarning, match="^--pcap: has headers as real networks do"):
        earlybird.run(small, overrides=SHORT, outputs=Outputs(trace="/dev/null", pcap="/dev/null"))


def test_equal_runs_compare_equal_and_others_do_not(tmp_path: Path) -> None:
    first, second, other = (earlybird.run(SMALL, seed=seed, overrides=SHORT) for seed in (1, 1, 2))
    assert first == second == Result.load(first.save(tmp_path / "kept"))
    assert first != other
    assert first != earlybird.run(SMALL, overrides={**SHORT, "measure.deliveries": True})
    assert first != "a text"


def test_a_damaged_table_of_a_sweep_is_a_store_error_not_another_librarys(tmp_path: Path) -> None:
    sweep = earlybird.sweep(SMALL, seeds=1, grid={}, overrides=SHORT, output=tmp_path)
    (file,) = tmp_path.glob("*/result.json")
    file.write_bytes(file.read_bytes()[:-4] + b"????")
    with pytest.raises(StoreError, match=r"result\.json is damaged"):
        sweep.table("flows")


def test_study_and_compare_are_there_without_an_import_of_their_own() -> None:
    check = (
        "import earlybird; print(earlybird.compare.compare_media.__name__, earlybird.study.run_studies.__name__, "
        "earlybird.study.StudyInfo.__name__); earlybird.stdy"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert done.stdout == "compare_media run_studies StudyInfo\n"
    assert "AttributeError: module 'earlybird' has no attribute 'stdy'" in done.stderr


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_a_picture_of_a_run_never_replaces_what_something_else_wrote(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"run.{ending}"
    file.write_text("<!DOCTYPE html><title>My diary</title>", encoding="utf-8")
    with pytest.raises(InputError, match="not one that earlybird wrote"):
        earlybird.run(SMALL, overrides=SHORT, plot=file)
    file.unlink()
    for seed in (1, 2):
        earlybird.run(SMALL, seed=seed, overrides=SHORT, plot=file)
        assert file.stat().st_size > 10_000
