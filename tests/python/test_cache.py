"""Results of an earlier report are used once more only if nothing that they follow from has changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from conftest import store_bytes
from earlybird import StoreError, cache
from earlybird.report.writer import write_report
from earlybird.store import Store
from earlybird.study.evaluation import evaluate, scale_with_results
from earlybird.study.language.loading import load
from earlybird.study.reductions import reading
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird.result import Result
    from earlybird.study.language.definition import Group, Study
    from earlybird.study.reductions.observations import Observation
    from earlybird.study.runs.plan import StudyRun


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "earlybird"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of eight short runs."""
    return load(small_study(tmp_path_factory.mktemp("study") / "small-study"))


@pytest.fixture(scope="module")
def results(study: Study) -> Path:
    """Its results."""
    make_runs([study], "smoke", jobs=1, output=study.folder.parent / "results")
    return study.folder.parent / "results"


def test_a_second_report_reduced_every_run_and_drew_every_picture_once_more(
    study: Study, results: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_report(evaluate(study, "smoke", Store(results)), tmp_path / "first")
    assert {path.name for path in folder.iterdir()} == {"observations", "pictures"}

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("it was computed once more")

    monkeypatch.setattr(reading, "_observation", refused)
    for function in ("vegalite_to_svg", "svg_to_png", "javascript_bundle"):
        monkeypatch.setattr(f"vl_convert.{function}", refused)
    write_report(evaluate(study, "smoke", Store(results)), tmp_path / "second")
    assert store_bytes(tmp_path / "second") == store_bytes(tmp_path / "first")


def test_only_a_run_that_was_made_meanwhile_is_reduced(
    study: Study, results: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del folder
    whole = evaluate(study, "smoke", Store(results))
    key = next(path.name for path in results.iterdir())
    Store(results).discard(key)
    evaluate(study, "smoke", Store(results))
    make_runs([study], "smoke", jobs=1, output=results)
    reduced, original = list[object](), reading._observation

    def counted(run: StudyRun, result: Result, groups: Sequence[Group]) -> Observation:
        reduced.append(run)
        return original(run, result, groups)

    monkeypatch.setattr(reading, "_observation", counted)
    repeated = evaluate(study, "smoke", Store(results))
    assert len(reduced) == 1
    assert [repr(each) for each in repeated.measurements.observations] == [
        repr(each) for each in whole.measurements.observations
    ]


@pytest.mark.usefixtures("folder")
def test_another_version_of_the_code_reduces_anew(study: Study, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(study, "smoke", Store(results))
    monkeypatch.setattr("earlybird.study.reductions.kept.code", lambda: "another")
    monkeypatch.setattr(reading, "_observation", lambda *_: pytest.fail("reduced"))
    with pytest.raises(pytest.fail.Exception, match="reduced"):
        evaluate(study, "smoke", Store(results))


@pytest.mark.usefixtures("folder")
def test_a_damaged_result_was_not_noticed_where_its_observation_was_kept(study: Study, results: Path) -> None:
    evaluate(study, "smoke", Store(results))
    file = next(results.glob("*/result.json"))
    content = file.read_bytes()
    file.write_bytes(content[:-3] + b"?}\n")
    with pytest.raises(StoreError, match="its content has changed"):
        evaluate(study, "smoke", Store(results))
    file.write_bytes(content)


def test_damaged_kept_files_are_no_error(study: Study, results: Path, folder: Path) -> None:
    evaluate(study, "smoke", Store(results))
    (kept,) = (folder / "observations").iterdir()
    kept.write_bytes(b"\x81")
    assert len(evaluate(study, "smoke", Store(results)).measurements.observations) == 8


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cache.cached("kind", "key", lambda: b"made") == b"made"


def test_what_was_not_used_for_longest_is_deleted_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_BYTES", 25)
    for number, key in enumerate(("old", "used", "new")):
        cache.keep("kind", key, bytes(10))
        os.utime(folder / "kind" / key, (number, number))
    assert cache.kept("kind", "old") == bytes(10)  # and is used now
    cache._limit.cache_clear()
    cache.keep("kind", "last", b"")
    assert sorted(path.name for path in (folder / "kind").iterdir()) == ["last", "new", "old"]


def test_other_scales_are_not_planned_where_the_one_asked_for_has_all_results(
    study: Study, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def counted(_: Study, scale: str, __: Store) -> float:
        asked.append(scale)
        return 1.0

    monkeypatch.setattr("earlybird.study.evaluation.made_share", counted)
    assert scale_with_results(study, "smoke", Store(results)) == "smoke"
    assert asked == ["smoke"]
