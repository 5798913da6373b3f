"""Studies as folders: what they say is read, spread out into runs, run and reported."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY, Finished, command, store_bytes
from earlybird import InputError
from earlybird.report.writer import write_report
from earlybird.store import Store
from earlybird.study import list_studies, run_study
from earlybird.study.evaluation import evaluate
from earlybird.study.language.definition import SCALES, Scale
from earlybird.study.language.library import choose_studies, find_study
from earlybird.study.language.loading import load
from earlybird.study.language.metrics import METRICS
from earlybird.study.language.points import NOT_AXES
from earlybird.study.runs.execution import make_runs, planned_runs
from earlybird.study.runs.plan import count, distinct, plan
from earlybird.sweeps import missing_jobs
from study_parts import ITEMS, STUDY, small_study

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study of eight runs of a moment each."""
    return small_study(tmp_path / "small-study")


def test_a_study_is_every_combination_with_every_seed(folder: Path) -> None:
    runs = plan(load(folder), "smoke")
    assert len(runs) == 8
    assert [run.seed for run in runs] == [1] * 4 + [2] * 4, "an interrupted study has all cells alike"
    assert runs[0].axes == {"restart": False, "n": 1, "transport": "sack"}
    assert runs[0].settings == {"duration": "5s", "pairs": 1, "transport": "sack"}


def test_numbers_are_read_as_printed(folder: Path) -> None:
    plain, ratio = load(folder).numbers["numbers"]
    assert (plain.value, plain.point) == (1.5, {"n": 2, "transport": "sack"})
    assert (ratio.value, ratio.point["over"]) == (0.5, {"transport": "sack"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A small', 'titel = "A small', "there is no key 'titel' here; is it title"),
        ('question = "Does', '# question = "Does', "question must be given"),
        ("[axes.n]", "[axes.n", "is not valid TOML"),
    ],
)
def test_what_a_study_gets_wrong_is_named(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "study.toml").write_text(STUDY.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load(folder)


def test_a_statement_without_anything_to_hold_would_hold_whatever_comes_out(folder: Path) -> None:
    (folder / "items.toml").write_text(ITEMS.replace("least = 0.0\n", ""), encoding="utf-8")
    with pytest.raises(
        InputError, match=r"checks\.nothing-negative: it has none of rises, falls, .*; give one of them"
    ):
        load(folder)


def test_a_study_runs_once_and_reports(folder: Path, tmp_path: Path) -> None:
    study, store = load(folder), tmp_path / "results"
    first = make_runs([study], "smoke", jobs=2, output=store)
    assert (first.runs, first.made) == (8, 8)
    assert make_runs([study], "smoke", jobs=2, output=store).made == 0
    evaluation = evaluate(study, "smoke", Store(store))
    assert [verdict.holds for verdict in evaluation.verdicts] == ["yes", "reported"]
    page = write_report(evaluation, tmp_path / "report").read_text(encoding="utf-8")
    assert "Nothing is negative &amp; all is escaped" in page
    assert (tmp_path / "report" / "plots" / "frozen.png").stat().st_size > 1000
    assert (tmp_path / "report" / "plots" / "frozen.csv").read_text().startswith("panel,line,name,x,value")


def test_the_same_results_give_the_same_report(folder: Path, tmp_path: Path) -> None:
    study, store = load(folder), Store(tmp_path / "results")
    make_runs([study], "smoke", jobs=1, output=store.root)
    for name in ("once", "twice"):
        write_report(evaluate(study, "smoke", store), tmp_path / name)
    assert store_bytes(tmp_path / "once") == store_bytes(tmp_path / "twice")


def test_results_read_in_several_processes_give_the_same_tables(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, store = load(folder), Store(tmp_path / "results")
    make_runs([study], "smoke", jobs=1, output=store.root)
    parallel = evaluate(study, "smoke", store).verdicts
    monkeypatch.setattr("earlybird.study.reductions.reading.AT_ONCE", 3)
    assert list(map(repr, evaluate(study, "smoke", store).verdicts)) == list(map(repr, parallel))


def test_a_report_needs_nothing_from_elsewhere(folder: Path, tmp_path: Path) -> None:
    study = load(folder)
    make_runs([study], "smoke", jobs=1, output=tmp_path / "results")
    page = write_report(evaluate(study, "smoke", Store(tmp_path / "results")), tmp_path / "report")
    text = page.read_text(encoding="utf-8")
    for needle in ("@import", 'src="http', 'href="http', "url(http"):
        assert needle not in text
    for file in re.findall(r'(?:src|href)="([^"#]+)', text):
        assert (page.parent / file).is_file(), file


def test_a_report_without_results_states_how_to_make_them(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="earlybird study run small-study --scale smoke"):
        evaluate(load(folder), "smoke", Store(tmp_path / "nothing"))


def test_a_study_that_does_not_exist_is_named() -> None:
    with pytest.raises(InputError, match="no study 'early-retransmision'; did you mean 'early-retransmission'"):
        run_study("early-retransmision")


def test_a_scale_that_does_not_exist_is_named(earlybird: Callable[..., Finished]) -> None:
    done = earlybird("study", "run", "early-retransmission", "--scale", "huge")
    assert done.code == 2
    assert "no scale 'huge'; it has: smoke, medium, full" in " ".join(done.err.split())


@pytest.mark.parametrize("name", [info.name for info in list_studies()])
def test_every_study_of_the_repository_speaks_of_what_it_runs(name: str) -> None:
    study = find_study(name)
    assert set(study.scales) <= set(SCALES)
    for scale in study.scales:
        assert plan(study, scale)
    for item in study.items:
        for check in item.checks:
            assert check.kind == "numbers" or check.metric in METRICS
            assert check.kind != "numbers" or check.table in study.numbers
    drawn = [plot.name for item in study.items for plot in item.plots]
    drawn += [panel.name for item in study.items for panel in item.panels]
    assert len(drawn) == len(set(drawn)), "plots and panels share a name"


@pytest.mark.parametrize("name", [info.name for info in list_studies()])
def test_every_setting_of_a_panel_is_run_at_some_scale(name: str) -> None:
    study = find_study(name)
    runs = [{"part": run.part.name, **run.axes} for scale in study.scales for run in plan(study, scale)]
    for panel in (panel for item in study.items for panel in item.panels):
        only = [{axis: value} for axis, values in panel.vary.items() for value in values]
        for point in (*only, *panel.also):
            setting = {name: value for name, value in point.items() if name == "part" or name not in NOT_AXES}
            assert any(run.items() >= setting.items() for run in runs), (panel.name, point)
    assert (REPOSITORY / "studies" / name / "README.md").exists()


def test_all_means_every_study_once() -> None:
    names = [study.name for study in choose_studies(["cross-checks", "all", "cross-checks"], "smoke")]
    assert names[0] == "cross-checks"
    assert sorted(names) == [info.name for info in list_studies() if "smoke" in info.scales]


def test_a_scale_that_no_study_has_is_named(earlybird: Callable[..., Finished]) -> None:
    done = earlybird("study", "run", "all", "--scale", "huge")
    assert (done.code, "no study has the scale 'huge'" in done.err) == (2, True)


def test_several_studies_are_one_run_and_share_their_results(folder: Path, tmp_path: Path) -> None:
    other = load(shutil.copytree(folder, tmp_path / "other-study"))
    both = make_runs([load(folder), other], "smoke", jobs=1, output=tmp_path / "results")
    assert (len(both.studies), both.runs, both.made) == (2, 8, 8)


def test_the_list_counts_what_is_done(earlybird: Callable[..., Finished]) -> None:
    study = find_study("cross-checks")
    made = next(planned_runs(study, "smoke"))
    make_runs([dataclasses.replace(study, grids=study.grids[:1], scales={"smoke": Scale("smoke", 1, "200s")})], "smoke")
    (listed,) = [
        row for row in json.loads(earlybird("study", "list", "--done", "--json").out) if row["name"] == "cross-checks"
    ]
    assert listed["items"][:2] == ["X-2", "X-3"]
    assert listed["runs"]["smoke"] == {"done": 6, "runs": len(plan(study, "smoke"))}
    assert listed["runs"]["full"]["done"] == 0
    assert Store(Path("results")).has(made.key)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("earlybird study run al", "all"),
        ("earlybird study report early", "early-retransmission"),
        ("earlybird study run all --scale m", "medium"),
    ],
)
def test_the_shell_completes_names_and_scales(words: str, offered: str) -> None:
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_EARLYBIRD_COMPLETE": "complete_bash"}
    program = Path(sys.executable).with_name("earlybird")
    done = subprocess.run([program], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stdout.split() == [offered]


def test_of_studies_that_run_together_every_cell_has_its_first_seed_before_any_has_its_second(
    folder: Path, tmp_path: Path
) -> None:
    small, other = load(folder), load(shutil.copytree(folder, tmp_path / "other-study"))
    longer = dataclasses.replace(other, scales={"smoke": Scale("smoke", 4, "6s")})
    planned = [run for each in (small, longer) for run in planned_runs(each, "smoke")]
    jobs = missing_jobs(planned, Store(tmp_path / "results").open())
    assert [job.seed for job in jobs] == [1] * 8 + [2] * 8 + [3] * 4 + [4] * 4
    assert {job.spec.document()["duration"] for job in jobs[:8]} == {"5s", "6s"}


def test_ctrl_c_keeps_what_all_studies_have_done(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("study", "run", "all", "--scale", "smoke", "--jobs", 2),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (done := [path for path in tmp_path.glob("results/*") if not path.name.startswith(".")]):
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate()
    assert (process.returncode, "Traceback" in err) == (130, False)
    assert "runs were finished and are kept in results" in " ".join(err.split())
    assert all((path / "checksums.sha256").exists() for path in done)


@pytest.mark.parametrize("study", ["pert-video", "real-time-mode", "streaming-model", "early-retransmission"])
def test_runs_that_come_to_the_same_were_counted_twice(study: str) -> None:
    one = find_study(study)
    made = len({run.key for run in planned_runs(one, "smoke")})
    assert count(one, "smoke") == len(distinct(one, "smoke")) == made
