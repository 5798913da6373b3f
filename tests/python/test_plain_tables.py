"""The tables that `earlybird run` prints are made without data frames, and are the same as of these."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import SMALL
from earlybird import InputError, Result
from earlybird.cli.display import show_result
from earlybird.plain_tables import finite_mean, plain_columns
from earlybird.queue_hints import queue_hints
from earlybird.window_hints import window_hints

if TYPE_CHECKING:
    from pathlib import Path

PRINT = """
import atexit, sys
atexit.register(lambda: print("polars" in sys.modules))
from earlybird.cli import main
main()
"""


def test_a_short_run_waited_for_polars_before_it_printed(small: Path) -> None:
    line = [sys.executable, "-c", PRINT, "run", str(small), "--set", "duration=2s", "--set", "measure.warm-up=1s"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "Flows: mean of each group" in done.stdout
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("changes", [{}, {"endpoint.window": 2}])
def test_a_run_prints_the_same_from_data_frames(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object]
) -> None:
    made = earlybird.run(SMALL, overrides=changes)
    read = Result.load(made.save(tmp_path / "kept"))
    read.summary["cpu_s"] = made.summary["cpu_s"]
    show_result(made)
    first = capsys.readouterr().out
    show_result(read)
    assert capsys.readouterr().out == first
    assert [*window_hints(made)] == [*window_hints(read)]
    assert bool([*window_hints(made)]) == bool(changes)
    assert [*queue_hints(made)] == [*queue_hints(read)]
    for name in made.tables:
        assert [*plain_columns(made, name)] == made.table(name).columns == [*plain_columns(read, name)]


def test_a_table_that_was_not_measured_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no table 'series'"):
        plain_columns(earlybird.run(SMALL), "series")


def test_the_mean_leaves_out_what_is_no_number() -> None:
    assert finite_mean([1, 2.0, float("nan"), None]) == 1.5
    assert finite_mean([None, "text"]) is None
