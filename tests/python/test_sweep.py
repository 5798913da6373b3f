"""Sweeps go on after anything: nothing finished is lost or made twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rich.progress import Task, TaskID

import earlybird
from conftest import HUNG, SMALL, command, store_bytes
from earlybird import WorkerError, run_specs
from earlybird.pool import Job, batches
from earlybird.progress import RateColumn
from earlybird.store import Store
from earlybird.sweeps import missing_jobs, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Finished

    Program = Callable[..., Finished]

RUNS = 10
LONG = [f"sweep.seeds={RUNS}", "duration=1500s"]
"""A sweep of some seconds."""


@pytest.fixture
def long_sweep(small: Path) -> Iterator[subprocess.Popen[str]]:
    """A sweep under way, in a process group of its own, with results in the folder `results`."""
    settings = [part for setting in [*LONG, "pairs=2"] for part in ("--set", setting)]
    process = subprocess.Popen(
        command("sweep", small, "--jobs", 2, *settings),
        cwd=small.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def finished_runs(folder: Path) -> dict[str, int]:
    """Return when each result was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("results/*") if not path.name.startswith(".")}


def wait_for(condition: Callable[[], object], seconds: float = HUNG) -> None:
    """Wait until something is the case."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def workers(process: subprocess.Popen[str]) -> list[int]:
    """Return the process numbers of a sweep's workers."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        return []
    return [int(child) for child in children.read_text(encoding="ascii").split() if _is_worker(child)]


def _is_worker(process: str) -> bool:
    try:
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def second(small: Path) -> list[dict[str, object]]:
    """Run the sweep to its end and return its rows."""
    settings = {"pairs": 2, **dict(setting.split("=") for setting in LONG)}
    overrides = [(key, str(value)) for key, value in settings.items()]
    return earlybird.sweep(small, overrides=overrides, jobs=2, output=small.parent / "results").runs.to_dicts()


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(
    long_sweep: subprocess.Popen[str], small: Path
) -> None:
    wait_for(lambda: len(finished_runs(small.parent)) >= 2)
    os.killpg(long_sweep.pid, signal.SIGINT)
    _, err = long_sweep.communicate(timeout=HUNG)
    kept = finished_runs(small.parent)
    assert long_sweep.returncode == 130
    assert "Traceback" not in err
    assert f"{len(kept)} of {RUNS} runs were finished and are kept in results" in err
    assert 2 <= len(kept) < RUNS
    assert not list(small.parent.glob("results/.*"))
    assert len(second(small)) == RUNS
    assert finished_runs(small.parent).items() >= kept.items()


def test_ctrl_c_ends_a_run(small: Path) -> None:
    run = subprocess.Popen(
        command("run", small, "--set", "duration=1000000s"), stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    time.sleep(1)
    os.killpg(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=HUNG)
    assert (run.returncode, err.splitlines()[-1]) == (130, "earlybird: interrupted.")


def test_a_killed_worker_costs_nothing_but_time(long_sweep: subprocess.Popen[str], small: Path) -> None:
    wait_for(lambda: finished_runs(small.parent) and workers(long_sweep))
    os.kill(workers(long_sweep)[0], signal.SIGKILL)
    out, err = long_sweep.communicate(timeout=HUNG)
    assert long_sweep.returncode == 0, err
    assert f"{RUNS} runs, {RUNS} of them made now" in out
    assert len(finished_runs(small.parent)) == RUNS


def test_workers_that_are_killed_repeatedly_end_the_sweep(long_sweep: subprocess.Popen[str], small: Path) -> None:
    wait_for(lambda: finished_runs(small.parent))
    while long_sweep.poll() is None:
        for worker in workers(long_sweep):
            os.kill(worker, signal.SIGKILL)
        time.sleep(0.02)
    _, err = long_sweep.communicate()
    assert long_sweep.returncode == 2
    assert "Traceback" not in err
    assert "a worker process was killed" in err
    assert "kept in results" in err
    assert finished_runs(small.parent)


def test_workers_leave_with_the_sweep(long_sweep: subprocess.Popen[str]) -> None:
    wait_for(lambda: len(workers(long_sweep)) == 2)
    left = workers(long_sweep)
    long_sweep.kill()
    long_sweep.wait()
    wait_for(lambda: not any(_is_worker(str(worker)) for worker in left))


def test_what_killed_processes_leave_is_cleared(small: Path, tmp_path: Path) -> None:
    finished = subprocess.run(["true"], check=True)
    gone = subprocess.Popen(["true"])
    gone.wait()
    leftover = tmp_path / "results" / f".0123456789abcdef0123.{os.uname().nodename}.{gone.pid}"
    leftover.mkdir(parents=True)
    earlybird.sweep(small, seeds=1, overrides={"pairs": 1}, output=tmp_path / "results")
    assert finished.returncode == 0
    assert not leftover.exists()


def test_what_another_machine_is_writing_is_not_touched(small: Path, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    being_written = tmp_path / "results" / f".0123456789abcdef0123.another-machine.{gone.pid}"
    being_written.mkdir(parents=True)
    earlybird.sweep(small, seeds=1, overrides={"pairs": 1}, output=tmp_path / "results")
    assert being_written.exists()


def test_a_sweep_makes_only_what_is_missing(small: Path, tmp_path: Path) -> None:
    first = earlybird.sweep(small, seeds=1, output=tmp_path)
    more = earlybird.sweep(small, seeds=2, output=tmp_path)
    none = earlybird.sweep(small, seeds=2, output=tmp_path)
    assert (first.made, more.made, none.made) == (2, 2, 0)
    assert more.runs.equals(none.runs)


def test_of_each_seed_the_longest_runs_are_begun_first(small: Path, tmp_path: Path) -> None:
    jobs = missing_jobs(plan(small, grid={"duration": ["1s", "9s", "5s"]}), Store(tmp_path / "results"))
    lengths = [(job.seed, job.spec.document()["duration"]) for job in jobs]
    assert lengths == [(1, "9s"), (1, "5s"), (1, "1s"), (2, "9s"), (2, "5s"), (2, "1s")]


def test_short_runs_are_submitted_together_and_long_ones_singly() -> None:
    spec = run_specs.TestbedRun("{}")
    jobs = [Job(str(number), spec, number, seconds) for number, seconds in enumerate([3.0, 0.4, *[0.1] * 100])]
    handed = list(batches(jobs, 2))
    assert [len(batch) for batch in handed[:3]] == [1, 2, 5]
    assert [job for batch in handed for job in batch] == jobs
    assert len(list(batches(jobs[2:20], 2))) >= 16, "few runs are shared out between all workers"


@pytest.fixture
def forty_seconds() -> Task:
    """A task that has been under way for so long."""
    task = Task(TaskID(0), "simulating", total=None, completed=0, _get_time=lambda: 40.0)
    task.start_time = 0.0
    return task


def test_the_time_left_follows_from_the_work_and_not_from_the_number_of_runs(forty_seconds: Task) -> None:
    rate = RateColumn(work=100.0)
    rate.count(80.0)
    assert str(rate.render(forty_seconds)) == "runs, 1.5/min, 0:00:10 left"


def test_runs_that_were_found_made_take_no_time(forty_seconds: Task) -> None:
    rate = RateColumn(work=5)
    rate.leave_out(3)
    rate.count(1.0)
    assert str(rate.render(forty_seconds)) == "runs, 1.5/min, 0:00:40 left"


def test_the_number_of_workers_does_not_change_a_byte(small: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        earlybird.sweep(small, jobs=jobs, output=tmp_path / str(jobs))
    one, two = store_bytes(tmp_path / "1"), store_bytes(tmp_path / "2")
    assert len([name for name in one if name.endswith("result.json")]) == 4
    assert one == two


def test_title_and_sweep_do_not_make_another_run(small: Path, tmp_path: Path) -> None:
    earlybird.sweep(small, seeds=1, grid={}, output=tmp_path)
    renamed = SMALL.replace("two video flows", "some video flows")
    assert earlybird.sweep(renamed, seeds=1, grid={"pairs": [2]}, output=tmp_path).made == 0


def test_a_script_needs_no_main_guard(small: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import earlybird\nprint(earlybird.sweep({str(small)!r}, jobs=2).made)\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_a_worker_error_names_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.pool._work", _die)
    with pytest.raises(WorkerError, match=r"seed 1\)"):
        earlybird.sweep(SMALL, seeds=1, jobs=1, output=tmp_path)


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
