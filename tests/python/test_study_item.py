"""One figure or table of a study: its runs and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from earlybird import InputError
from earlybird.report.writer import report_name, write_report
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.definition import SCALES, Study
from earlybird.study.language.entries import narrowed
from earlybird.study.language.library import choose_studies, find_study
from earlybird.study.language.loading import load
from earlybird.study.runs.execution import make_runs
from earlybird.study.runs.plan import distinct, plan
from study_parts import ITEMS, small_study

if TYPE_CHECKING:
    from pathlib import Path

ONE_CELL = """
[[items]]
id = "S-2, S-3"
title = "Frozen time of one pair"
metric = "frozen_s"
[items.checks.one-pair]
must = "Nothing is negative"
least = 0.0
at = { transport = "sack", n = 1 }
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study of eight runs, of which its second item needs two."""
    folder = small_study(tmp_path / "small-study")
    (folder / "items.toml").write_text(ITEMS + ONE_CELL, encoding="utf-8")
    return load(folder)


def test_one_figure_took_the_runs_of_the_whole_study(study: Study, tmp_path: Path) -> None:
    one = narrowed(study, "S-3")
    assert [(run.axes["n"], run.axes["transport"], run.seed) for run in plan(one, "smoke")] == [
        (1, "sack", 1),
        (1, "sack", 2),
    ]
    made = make_runs([one], "smoke", jobs=1, output=tmp_path / "one")
    assert (made.runs, made.made) == (2, 2)


def test_the_verdicts_on_one_figure_are_those_of_the_whole_study(study: Study, tmp_path: Path) -> None:
    one = narrowed(study, "S-2, S-3")
    make_runs([one], "smoke", jobs=1, output=tmp_path)
    found = evaluate(one, "smoke", Store(tmp_path))
    assert found.missing == 0
    make_runs([study], "smoke", jobs=1, output=tmp_path)
    assert found.verdicts == evaluate(study, "smoke", Store(tmp_path)).of("S-2, S-3")
    page = write_report(found, tmp_path / report_name(found))
    assert page.parent.name.endswith("-smoke-s-2--s-3")
    assert "Nothing is negative &amp; all is escaped" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["early-retransmission", "pert-video", "burst-loss"])
def test_every_item_takes_a_part_of_the_runs(name: str) -> None:
    study = find_study(name)
    for scale in (scale for scale in SCALES if scale in study.scales):
        every = len(distinct(study, scale))
        parts = [len(distinct(narrowed(study, item.id), scale)) for item in study.items]
        assert 0 < min(parts) <= max(parts) < every


def test_an_item_that_a_study_lacks_is_named() -> None:
    with pytest.raises(InputError, match=r"item = 'T-F77': there is no such item; did you mean 'T-F7'\?"):
        choose_studies(["early-retransmission"], "smoke", "T-F77")
    with pytest.raises(InputError, match="item = T-F7: it is of one study"):
        choose_studies(["all"], "smoke", "T-F7")
