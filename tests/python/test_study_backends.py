"""Studies whose runs take place in real time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from conftest import SMALL
from earlybird.errors import EarlybirdError, ScenarioError
from earlybird.store import Store
from earlybird.study.language.loading import load
from earlybird.study.runs.execution import make_runs, planned_runs, results
from earlybird.study.runs.plan import plan
from study_parts import STUDY, small_study

if TYPE_CHECKING:
    from pathlib import Path

    from earlybird.study.language.definition import Study

# The load of this machine is not tested here.
pytestmark = pytest.mark.filterwarnings("ignore:the run was disturbed")


NOT_RUN: Final = """
[scales.full]
seeds = 1
duration = "1s"
[[grids]]
part = "main"
scales = ["full"]
n = [1, 2]
transport = ["sack", "sack-er"]
"""
"""Columns that the study's statements use, at a scale that is not run here."""


def in_backends(folder: Path, *backends: str, profile: str = "rfc") -> Study:
    """Write a study of one run of a second in each backend, and read it."""
    small_study(folder)
    folder.joinpath("small.toml").write_text(SMALL.replace('"ns2"', f'"{profile}"'), encoding="utf-8")
    axis = '[axes.backend]\nkey = "backend"\ndefault = "sim"\n[parts.main]'
    text = STUDY.replace("[parts.main]", axis).replace(
        'n = [1, 2]\ntransport = ["sack", "sack-er"]', f"backend = {[*backends]}"
    )
    text = text.replace("seeds = 2", "seeds = 1").replace('duration = "5s"', 'duration = "1s"') + NOT_RUN
    folder.joinpath("study.toml").write_text(text, encoding="utf-8")
    return load(folder)


def test_a_study_names_the_backends_of_its_runs_and_is_resumed(tmp_path: Path) -> None:
    study = in_backends(tmp_path / "study", "sim", "live")
    try:
        outcome = make_runs([study], "smoke", output=tmp_path / "results")
    except EarlybirdError as error:
        if "network namespace" not in str(error):
            raise
        pytest.skip(str(error))
    assert (outcome.runs, outcome.made) == (2, 2)
    simulated, real = (results(run, Store(tmp_path / "results")) for run in plan(study, "smoke"))
    assert simulated is not None
    assert real is not None
    assert ("backend" in simulated.summary, real.summary["backend"]) == (False, "live")
    assert real.table("flows").columns == simulated.table("flows").columns
    assert make_runs([study], "smoke", output=tmp_path / "results").made == 0


def test_a_study_in_a_world_that_is_none_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"backend: `kernal` is not one .* did you mean `kernel`\?"):
        list(planned_runs(in_backends(tmp_path / "study", "kernal"), "smoke"))


def test_a_study_in_a_world_that_cannot_do_it_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    study = in_backends(tmp_path / "study", "sim", "kernel", profile="ns2")
    with pytest.raises(ScenarioError, match=r"endpoint\.profile: `ns2` .* the `kernel` backend"):
        make_runs([study], "smoke", output=tmp_path / "results")
    assert results(plan(study, "smoke")[0], Store(tmp_path / "results")) is None
