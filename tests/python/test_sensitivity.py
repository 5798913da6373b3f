"""Sensitivity panels: a statement under settings that the paper leaves open."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from earlybird import InputError
from earlybird.plots.chart import Bound, Curve, Region
from earlybird.report.figures import sensitivity_data
from earlybird.study.language.items import Check, Item, Panel
from earlybird.study.language.loading import load
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.sensitivity import AS_IT_IS, Sensitivity, sensitivities
from pictures import words
from study_parts import run, small_study, study

if TYPE_CHECKING:
    from pathlib import Path

HELPS = Check(
    "er-helps",
    "claim",
    "ER helps",
    "order",
    "frozen_s",
    points=({"transport": "sack-er"}, {"transport": "sack"}),
    cells={"buffer": (80, 160)},
)
SHORT = Check(
    "sack-freezes-for-4-to-9-s",
    "claim",
    "SACK freezes for 4 to 9 s",
    "range",
    "frozen_s",
    at={"transport": "sack"},
    least=4.0,
    most=9.0,
)


def panel(check: Check, **options: object) -> Sensitivity:
    """Vary the timer: restarted, ER is of no use."""
    item = Item(
        "T-1",
        "An item",
        checks=(check,),
        panels=(Panel("why", "Why?", check.id, {"restart": (False, True)}, **options),),  # type: ignore[arg-type]
    )
    frozen = {(False, "sack"): 8.0, (False, "sack-er"): 2.0, (True, "sack"): 8.0, (True, "sack-er"): 12.0}
    runs = [
        run(seed, sft + seed / 10, restart=restart, transport=transport, buffer=buffer)
        for (restart, transport), sft in frozen.items()
        for buffer in (80, 160)
        for seed in (1, 2)
    ]
    (found,) = sensitivities(item, Measurements(study([item]), runs))
    return found


def test_each_setting_has_a_verdict_and_the_sizes_of_the_effect() -> None:
    own, restarted = panel(HELPS).settings
    assert (own.parameter, own.value, own.verdict.holds) == (AS_IT_IS, "", "yes")
    assert (restarted.value, restarted.verdict.holds) == ("restarted", "no")
    assert (own.sizes, restarted.sizes) == ("×0.26 (×0.26 … ×0.26)", "×1.49 (×1.49 … ×1.49)")


def test_the_table_behind_a_panel_has_every_cell() -> None:
    table = panel(HELPS).table()
    assert table["place"].to_list() == [0, 0, 1, 1]
    assert table["holds"].to_list() == ["yes", "yes", "no", "no"]
    assert table["size"].to_list() == pytest.approx([2.15 / 8.15] * 2 + [12.15 / 8.15] * 2)


def test_a_panel_knows_its_axis_and_where_holding_ends() -> None:
    assert panel(HELPS).axis == "Frozen time per flow, SACK-ER ÷ SACK"
    assert (panel(HELPS).least, panel(HELPS).most, panel(HELPS).is_ratio) == (None, 1.0, True)
    more = dataclasses.replace(HELPS, metric="on_time_share", at={"delay": 2}, points=tuple(reversed(HELPS.points)))
    assert panel(more).axis == "Flows in time, SACK − SACK-ER (points)"
    assert (panel(more).least, panel(more).most, panel(more).is_ratio) == (None, 0.0, False)
    assert panel(SHORT).axis == "Frozen time per flow (s)"
    assert (panel(SHORT).least, panel(SHORT).most, panel(SHORT).is_ratio) == (4.0, 9.0, False)


def test_the_size_of_a_bounded_quantity_is_the_quantity() -> None:
    assert [setting.sizes for setting in panel(SHORT).settings] == ["8.15 s", "8.15 s"]


def test_settings_may_change_several_things_at_once() -> None:
    found = panel(HELPS, also=({"restart": True, "buffer": 160},))
    assert found.settings[-1].parameter == "restart and Buffer (packets)"
    assert found.settings[-1].value == "restarted, 160 packets"
    assert found.settings[-1].verdict.holds == "no"


def test_settings_without_runs_are_not_run_and_not_drawn() -> None:
    item = Item("T-1", "An item", checks=(HELPS,), panels=(Panel("why", "Why?", "er-helps", {"restart": (True,)}),))
    runs = [run(seed, sft, transport=name) for seed in (1, 2) for name, sft in (("sack", 8.0), ("sack-er", 2.0))]
    (found,) = sensitivities(item, Measurements(study([item]), runs))
    assert [setting.verdict.holds for setting in found.settings] == ["yes", "not run"]
    assert sensitivity_data(found) is None


def test_the_papers_sizes_stand_on_top_of_the_plot() -> None:
    data = sensitivity_data(panel(HELPS, stated=(0.3,)))
    assert data is not None
    assert [*data.chart.y.ticks.values()] == ["the paper", AS_IT_IS, "restarted"]
    (shown,) = data.chart.panels
    points = {mark.name: [*mark.x] for mark in shown.marks if isinstance(mark, Curve)}
    assert [mark.low for mark in shown.marks if isinstance(mark, Region)] == [None]
    assert [mark.at for mark in shown.marks if isinstance(mark, Bound)] == [1.0]
    assert points["in the paper"] == [0.3]
    assert len(points["holds"]) == len(points["does not hold"]) == 2
    assert {"the paper", AS_IT_IS, "restarted"} <= {text for text, _ in words(data.chart)}


def test_a_panel_needs_a_statement_of_its_item(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small-study")
    items = folder / "items.toml"
    more = '[items.sensitivity.why]\ntitle = "Why?"\ncheck = "nothing-negativ"\n'
    items.write_text(items.read_text(encoding="utf-8") + more, encoding="utf-8")
    with pytest.raises(
        InputError, match=r"sensitivity\.why\.check = 'nothing-negativ'.*did you mean 'nothing-negative'"
    ):
        load(folder)
