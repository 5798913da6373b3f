"""Results on disk: damage is noticed, and a full disk leaves nothing half-done."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import earlybird
from conftest import SMALL, store_bytes
from earlybird import StoreError
from earlybird.files import CHECKSUMS
from earlybird.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Finished

    Program = Callable[..., Finished]


@pytest.mark.parametrize("name", ["flows.parquet", "summary.json", "scenario.json", "checksums.sha256"])
@pytest.mark.parametrize("damage", ["cut", "changed", "missing"])
def test_damage_is_noticed(tmp_path: Path, name: str, damage: str) -> None:
    folder = earlybird.run(SMALL).save(tmp_path / "result")
    spoil(folder / name, damage)
    with pytest.raises(StoreError, match=r"(result/\S+ is damaged: .*makes it again|there is no result in)"):
        Store(tmp_path).verify("result")


def test_a_damaged_result_is_reported_and_repeated(program: Program, small: Path, tmp_path: Path) -> None:
    one_run = ("sweep", small, "--set", "pairs=1", "--set", "sweep.seeds=1", "--jobs", 1)
    program(*one_run)
    whole = store_bytes(tmp_path / "results")
    (file,) = tmp_path.glob("results/*/result.json")
    spoil(file, "cut")
    finished = program(*one_run)
    assert finished.code == 0
    assert f"{file.relative_to(tmp_path)} is damaged: its content has changed" in finished.err
    assert "It is deleted and its run repeated now." in finished.err
    assert store_bytes(tmp_path / "results") == whole


def spoil(file: Path, damage: str) -> None:
    """Damage a file in one of three ways."""
    content = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(content[: len(content) // 2] if damage == "cut" else content[:-2] + b"?" + content[-1:])


def test_loading_a_damaged_result_prints_what_to_do(tmp_path: Path) -> None:
    folder = earlybird.run(SMALL).save(tmp_path / "result")
    spoil(folder / "links.parquet", "cut")
    result = earlybird.Result.load(folder)
    assert result.flows.height == 4
    with pytest.raises(StoreError, match=r"links\.parquet is damaged.*makes it again"):
        _ = result.links


def full_disk(path: Path, content: bytes) -> int:
    """Fail as `Path.write_bytes` does when no space is left."""
    raise OSError(28, "No space left on device", str(path))


def test_a_full_disk_is_reported_and_leaves_nothing_half_done(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(StoreError, match=r"No space left on device; free some space.*Runs finished before are kept"):
        earlybird.run(small, output=tmp_path / "results")
    assert not list((tmp_path / "results").iterdir())


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for a result or two."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=160k", "tmpfs", str(folder)]
    mounted = (
        os.geteuid() == 0 and subprocess.run(["mount", *options], capture_output=True, check=False).returncode == 0
    )
    if not mounted:
        pytest.skip("needs the right to mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.root
def test_a_sweep_on_a_full_disk_keeps_what_is_finished(program: Program, small: Path, tiny_disk: Path) -> None:
    finished = program("sweep", small, "--set", "sweep.seeds=20", "--jobs", 2, "--output", tiny_disk)
    kept = [path for path in tiny_disk.iterdir() if not path.name.startswith(".")]
    assert finished.code == 2
    assert "No space left on device" in finished.err
    assert "Traceback" not in finished.err
    assert kept
    assert all(json.loads((path / "result.json").read_text(encoding="utf-8")) for path in kept)


def sealed(folder: Path, **files: bytes) -> Path:
    """Replace files of a result, and write the list of checksums anew as somebody would who forges one."""
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_bytes(content)
    names = sorted(path.name for path in folder.iterdir() if path.name != CHECKSUMS)
    lines = (f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    (folder / CHECKSUMS).write_text("".join(lines), encoding="utf-8")
    return folder


def test_the_result_of_another_scenario_under_a_runs_name_was_taken_for_it(tmp_path: Path) -> None:
    first, second = (earlybird.sweep(SMALL, grid={"pairs": [pairs]}, seeds=1, output=tmp_path) for pairs in (1, 2))
    place, other = (tmp_path / sweep.planned[0].key for sweep in (first, second))
    shutil.rmtree(place)
    shutil.copytree(other, place)
    with pytest.raises(StoreError, match="that of another run than its name says"):
        _ = first.runs
    repeated = earlybird.sweep(SMALL, grid={"pairs": [1]}, seeds=1, output=tmp_path)
    assert repeated.made == 1
    assert repeated.runs.equals(first.runs)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"summary_json": b"[" * 100_000}, "it is not JSON"),
        ({"scenario_json": b"3"}, "not an object"),
        ({"summary_json": b"{}"}, "it has no seed"),
        ({"flows_parquet": b"PAR1"}, "it is not a table"),
        ({"flows_parquet": b"PAR1" + bytes(1000) + b"PAR1"}, "it is not a table"),
    ],
)
def test_a_result_that_somebody_forged_is_damaged(tmp_path: Path, files: dict[str, bytes], reason: str) -> None:
    folder = sealed(earlybird.run(SMALL).save(tmp_path / "result"), **files)
    with pytest.raises(StoreError, match=f"is damaged: .*{reason}"):
        _ = earlybird.Result.load(folder).flows


def test_a_table_of_a_few_bytes_with_a_million_million_rows_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.BytesIO()
    pl.DataFrame({"a": [0] * 3_000_000}).write_parquet(file)
    assert len(file.getvalue()) < 1e5
    folder = sealed(earlybird.run(SMALL).save(tmp_path / "result"), flows_parquet=file.getvalue())
    monkeypatch.setattr("earlybird.files.memory_limit", lambda: 20e6)
    with pytest.raises(StoreError, match=r"3e.06 values do not fit into memory"):
        _ = earlybird.Result.load(folder).flows


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_among_a_results_files_is_not_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    folder = earlybird.run(SMALL).save(tmp_path / "result")
    (folder / "flows.parquet").unlink()
    make(folder / "flows.parquet")
    with pytest.raises(StoreError, match="is damaged"):
        Store(tmp_path).verify("result")


def test_a_list_of_checksums_that_names_files_elsewhere_is_damaged(tmp_path: Path) -> None:
    folder = earlybird.run(SMALL).save(tmp_path / "result")
    secret = tmp_path / "secret.parquet"
    secret.write_bytes(b"secret")
    with (folder / CHECKSUMS).open("a", encoding="utf-8") as file:
        file.write(f"{hashlib.sha256(b'secret').hexdigest()}  ../secret.parquet\n")
    with pytest.raises(StoreError, match=r"'\.\./secret\.parquet' in its list"):
        earlybird.Result.load(folder)
