"""A study's tables depend on its files and nothing else: not on interruptions, not on the number of workers."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from conftest import store_bytes
from earlybird.report.writer import write_report
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.loading import load
from earlybird.study.runs.execution import make_runs
from study_parts import STUDY, small_study

if TYPE_CHECKING:
    from pathlib import Path

RUNS = 24
SCRIPT = """
import sys
from pathlib import Path
from earlybird.study.runs.execution import make_runs
from earlybird.study.language.loading import load

make_runs([load(Path(sys.argv[1]))], "smoke", jobs=2, output=sys.argv[2])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of 24 runs, some seconds in all."""
    folder = small_study(tmp_path_factory.mktemp("study") / "small-study")
    longer = STUDY.replace("seeds = 2", f"seeds = {RUNS // 4}").replace('duration = "5s"', 'duration = "400s"')
    (folder / "study.toml").write_text(longer, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, bytes]:
    """The tables of one run from start to end."""
    assert make_runs([load(folder)], "smoke", jobs=1, output=folder.parent / "undisturbed").made == RUNS
    return tables(folder, folder.parent / "undisturbed")


def tables(study: Path, results: Path) -> dict[str, bytes]:
    """Write the report of results, and return every file of it."""
    report = results.parent / f"{results.name}-report"
    write_report(evaluate(load(study), "smoke", Store(results)), report)
    return store_bytes(report)


def kill_after(study: Path, results: Path, more: int, seconds: float) -> int:
    """Run the study, kill it a moment after so many more results, and return how many there are then."""
    before = len(finished(results))
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, study, results], start_new_session=True)
    deadline = time.monotonic() + 60
    while len(finished(results)) < before + more:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.002)
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    return len(finished(results))


def finished(results: Path) -> list[str]:
    """Return the names of whole results."""
    return [path.name for path in results.glob("*") if not path.name.startswith(".")]


@pytest.mark.slow
def test_killed_three_times_at_random_and_resumed_a_study_gives_the_same_tables(
    folder: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    chance, results = random.Random(), tmp_path / "results"
    kept = [kill_after(folder, results, chance.randint(1, 4), chance.uniform(0, 0.05)) for _ in range(3)]
    assert 0 < kept[0] < kept[1] < kept[2] < RUNS
    assert make_runs([load(folder)], "smoke", jobs=2, output=results).made == RUNS - kept[2]
    assert tables(folder, results) == undisturbed


def test_two_runs_of_a_study_give_the_same_tables_byte_by_byte(
    folder: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    make_runs([load(folder)], "smoke", jobs=2, output=tmp_path / "results")
    second = tables(folder, tmp_path / "results")
    assert {"verdicts.csv", "cells.csv", "runs.csv", "plots/frozen.csv", "plots/frozen.svg"} <= second.keys()
    assert second == undisturbed
