"""Sweeps over several machines: whoever makes the runs, the bytes are those of one sweep."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import HUNG, SMALL, command, store_bytes
from earlybird import InputError, WorkerError
from earlybird.cluster import make_batch
from earlybird.shards import Shard
from earlybird.sweeps import plan, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

GRID = {"pairs": [1, 2, 3]}


def test_shards_have_each_run_once_and_some_of_each_seed() -> None:
    planned = plan(SMALL, grid=GRID, seeds=4)
    shares = [share(planned, Shard(index, 3)) for index in (1, 2, 3)]
    assert sorted(run.key for own in shares for run in own) == sorted(run.key for run in planned)
    assert [sorted({run.seed for run in own}) for own in shares] == [[1, 2, 3, 4]] * 3


def test_shards_in_one_folder_or_in_several_give_the_bytes_of_one_sweep(small: Path, tmp_path: Path) -> None:
    earlybird.sweep(small, grid=GRID, output=tmp_path / "one")
    awaited = [
        earlybird.sweep(small, grid=GRID, shard=f"{index}/4", output=tmp_path / "shared").awaited
        for index in range(1, 5)
    ]
    for index in range(1, 5):
        earlybird.sweep(small, grid=GRID, shard=f"{index}/4", output=tmp_path / str(index))
        shutil.copytree(tmp_path / str(index), tmp_path / "merged", dirs_exist_ok=True)
    assert awaited == [4, 2, 1, 0]
    one = store_bytes(tmp_path / "one")
    assert one
    assert one == store_bytes(tmp_path / "shared") == store_bytes(tmp_path / "merged")
    assert earlybird.sweep(small, grid=GRID, output=tmp_path / "merged").made == 0


def test_the_program_reports_what_other_shards_have_still_to_do(earlybird: Program, small: Path) -> None:
    first, second = (earlybird("sweep", small, "--shard", f"{index}/2", "--jobs", 1) for index in (1, 2))
    assert "2 runs, 2 of them made now" in first.out
    assert "2 runs of other shards have no result in results yet" in first.out
    assert "All other shards are in results too" in second.out
    assert "4 runs, 0 of them made now" in earlybird("sweep", small).out


@pytest.mark.parametrize("shard", ["5/4", "0/4", "1/0", "2", "a/b", "-1/3", "1/2/3", ""])
def test_a_shard_that_is_none_is_named(earlybird: Program, small: Path, shard: str) -> None:
    done = earlybird("sweep", small, "--shard", shard)
    assert (done.code, done.out) == (2, "")
    assert f"shard = {shard}: there is no such part; allowed: I/N" in done.err


def test_two_processes_may_make_the_same_run(small: Path, tmp_path: Path) -> None:
    line = command("sweep", small, "--jobs", 1, "--json", "--output", tmp_path / "results")
    both = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(2)]
    (first, _), (second, _) = (process.communicate(timeout=HUNG) for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert first == second
    assert len([*(tmp_path / "results").iterdir()]) == 4


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "nosuch://x:1", ""])
def test_an_address_without_a_scheduler_is_named(earlybird: Program, small: Path, address: str) -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    done = earlybird("sweep", small, "--dask", address)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"dask = {address}: no scheduler answers there" in done.err


def test_what_brings_dask_is_named_where_it_is_missing(
    earlybird: Program, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.setitem(sys.modules, "distributed.comm.addressing", None)
    done = earlybird("sweep", small, "--dask", "tcp://127.0.0.1:8786")
    assert (done.code, done.out) == (2, "")
    assert "pip install 'earlybird[dask]'" in done.err


def test_a_cluster_has_workers_of_its_own() -> None:
    with pytest.raises(InputError, match="leave out --jobs or --dask"):
        earlybird.sweep(SMALL, jobs=2, dask="tcp://127.0.0.1:8786")


def test_a_worker_with_another_version_makes_nothing() -> None:
    with pytest.raises(WorkerError, match=r"polars 0\.1"):
        make_batch((), {"earlybird": earlybird.code_version(), "polars": "0.1"})


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and workers, each a process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    scheduler = ["scheduler", "--host", address, "--no-dashboard"]
    worker = ["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(folder)]
    with (folder / "dask.log").open("wb") as log:
        started = [
            subprocess.Popen([sys.executable, "-m", "dask", *line], stdout=log, stderr=log)
            for line in [scheduler, *[worker] * workers]
        ]
        try:
            yield address, started[1:]
        finally:
            for process in started:
                process.kill()
                process.wait()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_bytes_of_this_machine(small: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    line = command("sweep", small, "--set", "sweep.seeds=60", "--set", "duration=60s", "--output", tmp_path / "cluster")
    with cluster(tmp_path, 3) as (address, workers):
        host, port = address.removeprefix("tcp://").split(":")
        wait_for(lambda: _answers(host, int(port)))
        sweep = subprocess.Popen([*line, "--dask", address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: sweep.poll() is not None or len([*tmp_path.glob("cluster/[0-9a-f]*")]) >= 10)
        workers[0].send_signal(signal.SIGKILL)
        out, err = sweep.communicate(timeout=HUNG)
    assert sweep.returncode == 0, err
    assert "120 runs, 120 of them made now" in out
    overrides = [("sweep.seeds", "60"), ("duration", "60s")]
    earlybird.sweep(small, overrides=overrides, output=tmp_path / "here")
    assert store_bytes(tmp_path / "cluster") == store_bytes(tmp_path / "here")


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is the case."""
    deadline = time.monotonic() + HUNG
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def _answers(host: str, port: int) -> bool:
    with socket.socket() as caller:
        return not caller.connect_ex((host, port))
