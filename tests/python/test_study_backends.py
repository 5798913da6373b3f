"""Studies whose runs take place in real time."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird.errors import EarlybirdError, InputError, ScenarioError, ScenarioWarning
from earlybird.programs import make_run
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.definition import Grid, Scale
from earlybird.study.language.library import find_study
from earlybird.study.language.loading import load
from earlybird.study.language.observed import observed as metrics_of
from earlybird.study.runs import execution
from earlybird.study.runs.execution import StudyOutcome, make_runs, planned_runs, results
from earlybird.study.runs.plan import plan
from earlybird.sweeps import PlannedRun, SweepResult
from study_parts import STUDY, small_study

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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


def make_or_skip(study: Study, output: Path) -> StudyOutcome:
    """Make the runs of a study; skip the test where there are no network namespaces."""
    try:
        return make_runs([study], "smoke", output=output)
    except EarlybirdError as error:
        if "network namespace" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.fixture
def _kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep runs that this machine, busy with tests, disturbed."""
    monkeypatch.setattr(execution, "_repeat_disturbed", lambda *_, **__: frozenset())


@pytest.mark.usefixtures("_kept")
def test_a_study_names_the_backends_of_its_runs_and_is_resumed(tmp_path: Path) -> None:
    study = in_backends(tmp_path / "study", "sim", "live")
    outcome = make_or_skip(study, tmp_path / "results")
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


def disturb(monkeypatch: pytest.MonkeyPatch, disturbed: Iterator[int]) -> None:
    """Replace runs in real time by simulations whose summary has the next of these numbers."""

    def complete(planned: Sequence[PlannedRun], *, output: Path, **_: object) -> SweepResult:
        store, new = Store(output), set[str]()
        for run in planned:
            if not store.has(run.key):
                document: dict[str, Any] = run.spec.document()
                simulated = earlybird.run({**document, "backend": "sim"}, seed=run.seed)
                summary = {**simulated.summary, "disturbed": next(disturbed)}
                store.save(replace(simulated, scenario=document, summary=summary))
                new.add(run.key)
        return SweepResult(planned, store, frozenset(new))

    monkeypatch.setattr(execution, "complete", complete)


def test_a_disturbed_run_stayed_among_the_results_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = in_backends(tmp_path / "study", "live")
    disturb(monkeypatch, iter([1, 1, 0]))
    outcome = make_runs([study], "smoke", output=tmp_path / "results")
    assert (outcome.runs, outcome.made) == (1, 1)
    result = results(plan(study, "smoke")[0], Store(tmp_path / "results"))
    assert result is not None
    assert result.summary["disturbed"] == 0


def test_a_run_that_is_disturbed_each_time_has_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = in_backends(tmp_path / "study", "live")
    disturb(monkeypatch, iter([1] * 6))
    with pytest.warns(ScenarioWarning, match=r"1 of 1 runs in real time were disturbed 6 times, .* hint: fewer"):
        make_runs([study], "smoke", output=tmp_path / "results")
    assert results(plan(study, "smoke")[0], Store(tmp_path / "results")) is None


BRIEF: Final = {
    "beside-cubic": ({"what": "film", "queue": "1 BDP", "sender": "cubic"}, {"measure.warm-up": "500ms"}),
    "backends-agree": (
        {"network": "5M-40ms", "transport": "cubic-rack", "profile": "linux"},
        {"measure.warm-up": "500ms"},
    ),
}
"""Studies of backends: one cell of each, and what makes its runs short."""


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize("name", BRIEF)
def test_a_cell_of_a_comparison_of_backends_has_no_numbers_over_the_kernel(name: str, tmp_path: Path) -> None:
    cell, settings = BRIEF[name]
    study = find_study(name)
    first = next(iter(study.parts.values()))
    axes = {axis: (value,) for axis, value in {**cell, "backend": "kernel"}.items()}
    brief = replace(
        study,
        parts={**study.parts, first.name: replace(first, settings={**first.settings, **settings})},
        scales={"smoke": Scale("smoke", 1, "4s")},
        grids=(Grid(first.name, ("smoke",), axes),),
    )
    make_or_skip(brief, tmp_path)
    (observed,) = evaluate(brief, "smoke", Store(tmp_path)).measurements.observations
    assert observed.values["throughput_bps"] > 0
    assert observed.values["mean_queue_delay_s"] > 0
    assert 0 < observed.values["emulator_added_delay_p99_s"] < 1


PROGRAMS: Final[dict[str, tuple[tuple[str, ...], dict[str, Any], dict[str, Any]]]] = {
    "against-srt": (
        ("srt-live-transmit",),
        {"carried": "srt", "rtt": "20ms", "loss": 0.02},
        {"rate": "1Mb/s", "settling": "2s"},
    ),
    "against-players": (
        ("ffmpeg", "vlc"),
        {"player": "vlc", "carried": "kernel-cubic", "loss": 0.02},
        {"film-rate": "500k"},
    ),
    "served-players": (
        ("ffmpeg", "vlc", "nft", "pulseaudio"),
        {"player": "vlc", "sender": "pert-er", "loss": 0.02},
        {"film-rate": "500k"},
    ),
    "how-long-confirmed": ((), {"sender": "cubic", "line": "0.5 %, 15 ms, 0.5", "backend": "live"}, {}),
    "quinn-validation": (("openssl", "cargo"), {"link": "10 Mb/s", "application": "film"}, {}),
}
"""Studies with a program: what it needs, a cell, and what makes its runs short."""


@pytest.mark.usefixtures("_kept")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_study_of_a_program_that_others_wrote_has_no_numbers(name: str, tmp_path: Path) -> None:
    needed, cell, settings = PROGRAMS[name]
    if missing := [program for program in needed if not shutil.which(program)]:
        pytest.skip(f"no {', '.join(missing)}")
    if "cargo" in needed and not (REPOSITORY / "target" / "debug" / "examples" / "real").exists():
        pytest.skip("the example `real` of earlybird-quic is not built")
    study = find_study(name)
    part = next(part for part in study.parts.values() if part.is_program)
    brief = replace(
        study,
        parts={**study.parts, part.name: replace(part, settings={**part.settings, **settings})},
        scales={"smoke": Scale("smoke", 1, "4s")},
        grids=(Grid(part.name, ("smoke",), {axis: (value,) for axis, value in cell.items()}),),
    )
    make_or_skip(brief, tmp_path)
    (observed,) = evaluate(brief, "smoke", Store(tmp_path)).measurements.observations
    assert observed.values.keys() <= set(metrics_of(brief, brief.parts[part.name]))
    assert 0 < observed.values["emulator_added_delay_p99_s"] < 1
    assert make_runs([brief], "smoke", output=tmp_path).made == 0


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("../scenarios/dumbbell.toml", "it does not belong to a study"),
        ("no-study/program.py", "is missing, which comes with earlybird"),
    ],
)
def test_a_program_of_an_archive_that_is_none_of_this_installation_was_run(program: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        make_run({"program": program, "settings": {}}, 1)
