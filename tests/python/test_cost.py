"""The cost of studies, estimated from the packets of their runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from earlybird.cli.display import show_costs
from earlybird.store import Store
from earlybird.study.language.loading import load
from earlybird.study.runs.cost import Cost, estimate, together
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_costs_add_up_and_are_shown_in_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    costs = [Cost("one", "medium", 100, 50_000.0, 240.0, 2), Cost("two", "medium", 10, 10_000.0, 120.0, 2)]
    both = together("all", costs)
    assert (both.runs, both.wall_s, round(both.speed, 1)) == (110, 180.0, 333.3)
    show_costs([cost.row() for cost in (*costs, both)], "as measured")
    reported = capsys.readouterr().out
    for words in (["one", "medium", "100", "417", "2.0", "min"], ["all", "medium", "110", "333", "3.0", "min"]):
        assert words in [line.split() for line in reported.splitlines()]


def test_a_dry_run_makes_no_run_of_the_study_and_counts_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, made = load(small_study(tmp_path / "small-study")), Store(tmp_path / "results")
    monkeypatch.setattr("earlybird.pool._work", None)
    (cost,) = estimate([study], "smoke", made=made, jobs=2)
    assert (cost.runs, cost.simulated_s, cost.jobs) == (8, 40.0, 2)
    assert 0 < cost.wall_s < 60
    assert not made.root.exists()
    monkeypatch.undo()
    make_runs([study], "smoke", jobs=1, output=made.root)
    (nothing,) = estimate([study], "smoke", made=made)
    assert (nothing.runs, nothing.wall_s, nothing.speed) == (0, 0.0, 0.0)
    (every,) = estimate([study], "smoke")
    assert every.runs == 8
