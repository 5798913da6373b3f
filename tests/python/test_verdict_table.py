"""The verdict table is complete: no statement and no item is missing, and nothing is decided without its number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from earlybird.report.overview import CURVES, overview
from earlybird.store import Store
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.entries import entry_ids
from earlybird.study.language.items import LEVELS, Check, Item, Number
from earlybird.study.language.library import find_study, study_names
from earlybird.study.language.register import register
from earlybird.study.statements.checks import verdict, verdicts
from earlybird.study.statements.quantities import Measurements
from study_parts import measured, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird.study.language.definition import Study
    from earlybird.study.language.points import Scalar
    from earlybird.study.reductions.observations import Observation

SECONDS = st.floats(0, 1e6) | st.sampled_from([0.0, float("nan"), float("inf")])
"""Frozen times as they come out, and as they come out where there is nothing to measure or something goes wrong."""


BOUNDS = st.sampled_from([(0.5, None), (None, 2.0), (0.0, 100.0)])
"""A range has one at least: a study that gives none is refused."""
PLACES: tuple[Mapping[str, tuple[Scalar, ...]], ...] = ({}, {"buffer": (80,)}, {"buffer": (80, 160)})
"""Cells that a statement may be about."""


@st.composite
def runs(draw: st.DrawFn) -> list[Observation]:
    """Up to three seeds of two transports behind two buffers, some of them missing."""
    places = [(seed, name, buffer) for seed in (1, 2, 3) for name in ("sack", "sack-er") for buffer in (80, 160)]
    made = draw(st.lists(st.sampled_from(places), unique=True))
    return [run(seed, draw(SECONDS), transport=name, buffer=buffer) for seed, name, buffer in made]


@st.composite
def checks(draw: st.DrawFn) -> Check:
    """A statement about one buffer or both: an order, a range, or a paper's numbers."""
    level, metric = draw(st.sampled_from(LEVELS)), draw(st.sampled_from(["frozen_s", "rto_count", "mean_freeze_s"]))
    cells: Mapping[str, tuple[Scalar, ...]] = draw(st.sampled_from(PLACES))
    kind = draw(st.sampled_from(["order", "range", "ratio", "numbers"]))
    if kind == "order":
        points = ({"transport": "sack-er"}, {"transport": "sack"})
        return Check(
            "less", level, "Less", "order", metric, points=points, cells=cells, factor=draw(st.sampled_from([0.5, 1]))
        )
    if kind == "numbers":
        return Check("as-printed", level, "As printed", "numbers", table="table")
    least, most = draw(BOUNDS)
    at = {"transport": "sack", **({"over": {"transport": "sack-er"}} if kind == "ratio" else {})}
    return Check("within", level, "Within", "range", metric, at=at, cells=cells, least=least, most=most)


@given(runs(), checks())
def test_nothing_holds_or_fails_without_its_number(made: list[Observation], check: Check) -> None:
    numbers = [Number("frozen_s", {"transport": "sack", "buffer": buffer}, 80.58) for buffer in (80, 160)]
    found = verdict(Item("T-1", "An item"), check, {}, measured(*made, numbers=numbers))
    known = [each for each in found.findings if re.search(r"\d", each.ours)]
    assert all(each in known for each in found.findings if each.holds in ("yes", "no", "reported"))
    if found.holds in ("yes", "no"):
        assert any(found.ours.endswith(each.ours) for each in known)
    if found.holds == "reported":
        assert known


def evaluated_without_runs(study: Study) -> Evaluation:
    """Return what can be said of a study before any run."""
    empty = Measurements(study, [])
    found = [each for item in study.items for each in verdicts(item, empty)]
    return Evaluation(study, "smoke", Store(Path("nowhere")), empty, 0, found)


def test_the_verdict_table_has_every_item_and_statement_before_and_after_the_runs() -> None:
    studies = {name: find_study(name) for name in study_names()}
    stated = {
        (study.name, entry_ids(item.id)[0], statement)
        for study in studies.values()
        for item in study.items
        for statement in ([check.statement for check in item.checks] or [CURVES])
    }
    for evaluations in ({}, {name: evaluated_without_runs(study) for name, study in studies.items()}):
        rows = overview(register(), studies, evaluations)
        assert {name for row in rows for name in row.ids} == {entry.id for entry in register().entries}
        assert {(row.study, row.ids[0], row.verdict.statement) for row in rows if row.verdict} == stated
        assert not [row for row in rows if row.holds in ("yes", "no")]
        assert all(row.verdict or row.why for row in rows)
