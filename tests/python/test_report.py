"""Reports: the main table, the terminal's summary, statements, figures for pages."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

from earlybird.plots.chart import Curve
from earlybird.plots.dots import dots_chart
from earlybird.plots.lines import Wording
from earlybird.plots.vega import specification
from earlybird.report.headline import conclusion, headline
from earlybird.report.main_table import column_titles, main_rows
from earlybird.report.run_counts import named_delays, run_counts
from earlybird.report.statements import held, item_anchor, statements
from earlybird.report.terminal import terminal_summary
from earlybird.store import Store
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import Check, Item, Number
from earlybird.study.statements.checks import verdicts
from earlybird.study.statements.quantities import Measurements
from pictures import kinds, words
from study_parts import run, study

NUMBERS = [
    Number("frozen_s", {"transport": transport, "buffer": buffer}, value)
    for transport, buffer, value in (("sack", 80, 80.58), ("sack-er", 80, 23.02), ("sack", 160, 30.0))
]
HELPS = Check(
    "er-helps", "must", "ER helps", "order", "frozen_s", points=({"transport": "sack-er"}, {"transport": "sack"})
)


@pytest.fixture
def evaluation() -> Evaluation:
    """SACK and SACK-ER with two seeds each, at one buffer."""
    item = Item("T-1", "Frozen time", checks=(HELPS,))
    runs = [run(seed, 60.0 + seed) for seed in (1, 2)]
    runs += [run(seed, 20.0 + seed, transport="sack-er", load=1.7) for seed in (1, 2)]
    measured = Measurements(study([item], NUMBERS), runs)
    return Evaluation(measured.study, "smoke", Store(Path()), measured, 0, verdicts(item, measured))


def test_the_main_table_sets_ours_beside_the_papers(evaluation: Evaluation) -> None:
    rows = main_rows(evaluation)["Frozen time per flow (s)"]
    assert column_titles(evaluation.study) == ["SACK", "SACK-ER"]
    assert [row.title for row in rows] == ["80 packets", "160 packets"]
    first = rows[0].cells[0]
    assert (first.paper_text, first.ours_text, first.half_width_text) == ("80.58", "61.5", "3.2")
    assert first.ratio_text == "×0.76"
    assert (rows[0].order, rows[1].order) == ("same order", "not run")


def test_a_number_stood_in_the_first_column_where_that_has_none(evaluation: Evaluation) -> None:
    order = [NUMBERS[1], NUMBERS[0], NUMBERS[2]]  # SACK-ER is first, which has no number behind 160 packets
    numbers = {name: tuple(order) for name in evaluation.study.numbers}
    rows = main_rows(replace(evaluation, study=replace(evaluation.study, numbers=numbers)))
    assert [cell.paper_text for cell in rows["Frozen time per flow (s)"][1].cells] == ["–", "30"]


def test_the_headline_is_filled_with_what_was_measured(evaluation: Evaluation) -> None:
    assert headline(evaluation) == "SACK freezes for 61.5 s."
    assert conclusion(evaluation).startswith("Musts: 1 of 1 hold, 0 do not, 0 are undecided.")


def test_the_summary_fits_a_terminal_of_80_columns(evaluation: Evaluation) -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal_summary(evaluation))
    text = console.export_text()
    assert "61.5 ± 3.2" in text
    assert "160 packets" not in text
    assert "…" not in text


def test_verdicts_are_gathered_by_statement(evaluation: Evaluation) -> None:
    (only,) = statements(evaluation.verdicts)
    assert (only.anchor, only.others) == ("check-er-helps", ())
    assert item_anchor("T-F9 … T-F12") == "item-t-f9---t-f12"


def test_runs_are_counted_by_band(evaluation: Evaluation) -> None:
    ten, every = run_counts(evaluation)
    assert (ten.flows, ten.runs, ten.members, ten.outside) == ("10", 4, (2, 2), 0)
    assert (every.flows, every.load) == ("all", "1.55 (1.40 … 1.70)")
    assert named_delays(evaluation) == {"half": "1.75 s"}


POINTS = pl.DataFrame(
    {
        "panel": ["low"] * 4,
        "line": ["sack", "sack", "sack-er", "sack-er"],
        "name": ["SACK", "SACK", "SACK-ER", "SACK-ER"],
        "x": [80.0, 160.0] * 2,
        "value": [8.0, 4.0, 2.0, None],
        "low": [7.0, None, 1.0, None],
        "high": [9.0, None, 3.0, None],
        "paper": [80.0, None, None, None],
    }
)


def test_dots_of_a_row_lie_side_by_side_and_the_first_row_on_top() -> None:
    wording = Wording(x="", y="Frozen time (s)", ticks={80: "80", 120: "not run", 160: "160"})
    chart = dots_chart(POINTS, wording)
    places = {text: box.top for text, box in words(chart)}
    assert places["80"] < places["160"]
    assert "not run" not in places
    lines = [mark for mark in chart.panels[0].marks if isinstance(mark, Curve)]
    assert [[*line.y] for line in lines] == [[-0.15, 0.85], [0.15]]
    tables = [layer["data"]["values"] for layer in specification(chart)["concat"][0]["layer"]]
    assert [table for table in tables if table[:3] == "low"] == [
        "low,high,y\n7.0,9.0,-0.15\n,,0.85\n",
        "low,high,y\n1.0,3.0,0.15\n",
    ]


@pytest.mark.parametrize("kind", kinds())
def test_pictures_name_their_axes_and_what_they_show(kind: str) -> None:
    drawn = specification(kinds()[kind])
    first, last = drawn["concat"][0]["encoding"], drawn["concat"][-1]["encoding"]
    assert last["x"]["axis"]["title"]
    assert first["y"]["axis"]["title"] or first["y"]["axis"]["values"]
    assert drawn["title"]["text"]


def one_seed() -> Evaluation:
    """SACK and SACK-ER with one seed: the means agree with one order and contradict another."""
    worse = Check("er-harms", "claim", "ER harms", "order", "frozen_s", points=HELPS.points[::-1])
    item = Item("T-1", "Frozen time", checks=(HELPS, worse))
    measured = Measurements(study([item], NUMBERS), [run(1, 61.0), run(1, 21.0, transport="sack-er")])
    return Evaluation(measured.study, "smoke", Store(Path()), measured, 0, verdicts(item, measured))


def test_what_one_seed_cannot_decide_was_counted_as_not_holding() -> None:
    found = one_seed()
    assert conclusion(found) == (
        "Musts: one seed cannot decide 1: its means agree in 1 of 1 cells. "
        "Claims of the papers: one seed cannot decide 1: its means agree in 0 of 1 cells."
    )
    assert held(found.verdicts) == ""
