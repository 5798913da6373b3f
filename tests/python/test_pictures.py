"""Titles, axes and legends in the pictures of studies."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl
import pytest

from earlybird.plots.chart import Axis, Chart, Curve, Label, Panel, log_ticks, named
from earlybird.plots.layout import PHONE
from earlybird.plots.lines import ALL_LABEL, TOGETHER, Wording, lines_chart
from earlybird.plots.sensitivity import BOUND, Scale, sensitivity_chart
from earlybird.plots.style import (
    DARK,
    FINE_GRAINED,
    OTHERS,
    PAPER,
    TRANSPORT_STYLES,
    dark_colours,
    is_transport,
    next_styles,
    transport_style,
    transport_styles,
)
from earlybird.plots.vega import document, drawn, specification
from earlybird.report.figures import _unit_in_title, clip, plot_data
from earlybird.store import Store
from earlybird.study.language.items import Plot
from earlybird.study.language.library import choose_studies
from earlybird.study.language.metrics import METRICS
from earlybird.study.language.names import picture_name, tick_name
from earlybird.transports import transports
from pictures import kinds, legend, points, sizes, wording, words
from study_parts import measured, run

if TYPE_CHECKING:
    from pathlib import Path

LEAST_CONTRAST = 3.0
"""Of lines against the page (WCAG 2.1, success criterion 1.4.11, from memory)."""


def every_transport() -> list[str]:
    named = [(name, each.has_timer) for each in transports() for name in each.names]
    return [*(name for name, _ in named), *(f"{name}{FINE_GRAINED}" for name, has_timer in named if has_timer)]


def test_the_data_of_named_places_had_numbers_for_them(tmp_path: Path) -> None:
    runs = measured(run(1, 2.0), run(1, 4.0, restart=True))
    both = Plot("both", "Both", metric="frozen_s", x={"restart": (False, True)}, lines={"transport": ("sack",)})
    found = plot_data(both, runs, "smoke", Store(tmp_path))
    assert found is not None
    assert found.table.select("x", "value").rows() == [("standard", 2.0), ("restarted", 4.0)]


def test_a_share_of_one_seed_had_an_interval_from_0_to_100_percent(tmp_path: Path) -> None:
    shares = Plot("on-time", "On time", metric="on_time_share", x={"delay": ()}, lines={"transport": ("sack",)})
    found = plot_data(shares, measured(run(1, 2.0)), "smoke", Store(tmp_path))
    assert found is not None
    assert found.table["value"].to_list() == [0.0, 20.0, 60.0, 100.0]
    assert found.table.select("low", "high").null_count().row(0) == (4, 4)


@pytest.mark.parametrize("room", [None, PHONE])
@pytest.mark.parametrize("kind", kinds())
def test_words_lay_over_each_other(kind: str, room: float | None) -> None:
    boxes = words(kinds()[kind], room)
    over = [(one, other) for (one, box), (other, rest) in combinations(boxes, 2) if box.overlaps(rest)]
    assert over == []


def test_two_transports_shared_colour_and_marker() -> None:
    styled = {name: transport_style(name) for name in (*every_transport(), *TRANSPORT_STYLES)}
    reported = [(each.colour, each.marker, each.is_hollow) for each in styled.values()]
    assert len(set(reported)) == len(styled)


def test_every_transport_has_its_own_style_everywhere() -> None:
    assert all(is_transport(name) for name in every_transport())
    for others in (["pert", "a queue"], ["another", "a third", "pert"]):
        assert transport_styles(others)["pert"] == TRANSPORT_STYLES["pert"]


def test_a_transport_without_an_entry_had_the_style_of_another() -> None:
    names = [f"new{number}" for number in range(6)]
    families = [["sack", "sack-er"], *([name, f"{name}-er", f"{name}-rack"] for name in names)]
    added = next_styles(families)
    styled = [(each.colour, each.marker) for each in (*TRANSPORT_STYLES.values(), *OTHERS, *added.values())]
    assert [*added] == [name for family in families[1:] for name in family]
    assert len({*styled[-len(added) :]} - {*styled[: -len(added)]}) == len(added)
    assert added["new0"] == next_styles(families[:2])["new0"]


def test_other_lines_had_the_style_of_a_transport() -> None:
    drawn = transport_styles([*(f"line {number}" for number in range(8)), "srt", "mtcp"])
    assert len({(each.colour, each.marker) for each in drawn.values()}) == len(drawn)


def test_colours_can_be_seen_on_light_and_dark_pages() -> None:
    for each in (*TRANSPORT_STYLES.values(), *OTHERS):
        assert _contrast(each.colour, PAPER) >= LEAST_CONTRAST, each
        assert _contrast(each.dark, DARK[PAPER]) >= LEAST_CONTRAST, each
        assert dark_colours()[each.colour]


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """WCAG 2.1's relative luminance, from memory."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_ten_lines_crossed_in_one_panel() -> None:
    chart = kinds()["small-multiples"]
    lines = [mark for panel in chart.panels for mark in panel.marks if isinstance(mark, Curve) and mark.form == "both"]
    assert len(chart.panels) == len(lines) == 10
    assert ALL_LABEL in named(chart)
    assert len(lines_chart(points(1, range(4), TOGETHER), wording(range(4))).panels) == 1


def test_many_lines_in_panels_become_panels_with_the_former_ones_as_lines() -> None:
    chart = kinds()["turned"]
    assert len(chart.panels) == 6
    assert [*named(chart)][:3] == ["low T/µ (1.2–1.6)", "middle T/µ (1.6–2.0)", "high T/µ (2.0–2.4)"]


def test_the_legend_names_every_line_of_all_panels() -> None:
    for chart in kinds().values():
        assert legend(specification(chart)) == [*named(chart)]


def test_a_line_that_no_legend_names_can_be_drawn() -> None:
    line = Curve("a queue", TRANSPORT_STYLES["pert"], [0, 1], [1, 2], is_named=False)
    assert b"</svg>" in drawn(Chart((Panel("", (line,)),), Axis("x")), "svg")


def test_a_page_and_a_picture_show_the_same_data() -> None:
    for chart in kinds().values():
        carried, drawn = document(chart), specification(chart)
        tables = [layer["data"]["values"] for panel in drawn["concat"] for layer in panel["layer"]]
        assert all(table in carried["datasets"].values() for table in tables)


def test_values_without_a_name_stood_in_legends_and_titles() -> None:
    (burst_loss, conversation) = choose_studies(["burst-loss", "real-time-mode"], "smoke")
    assert picture_name(burst_loss, {"rtt": "20ms"}) == "round trip 20 ms"
    assert picture_name(burst_loss, {"burst": 3, "reno": "careful"}) == "3 lost, careful Reno"
    assert tick_name(conversation, "playback", "120ms") == "120 ms"


def test_a_unit_that_all_places_share_stands_in_the_title() -> None:
    assert _unit_in_title("Delay", ["50 ms", "100 ms"]) == ("Delay (ms)", ["50", "100"])
    assert _unit_in_title("Delay", ["50 ms", "1 s"]) == ("Delay", ["50 ms", "1 s"])
    assert _unit_in_title("Queue", ["80", "CoDel"]) == ("Queue", ["80", "CoDel"])


def test_intervals_of_shares_went_below_nothing_and_beyond_all() -> None:
    assert [clip(share) for share in (-0.1, 0.3, 1.2)] == [0, 0.3, 1]


def test_a_panel_of_factors_states_on_which_side_its_statement_holds() -> None:
    chart = sensitivity_chart(sizes(2, 3), Scale("ratio", None, 1.0, (), is_ratio=True))
    (panel,) = chart.panels
    labels = [mark for mark in panel.marks if isinstance(mark, Label)]
    assert [(label.text, label.x, label.side) for label in labels] == [("← holds", 1.0, "left")]
    assert chart.x.is_log
    assert [*named(chart)][:2] == ["where the statement holds", BOUND]


def test_cells_carry_their_own_verdicts() -> None:
    cells = pl.DataFrame({"place": [0, 0], "setting": "it", "cell": ["80", "160"], "size": [0.5, 2.0]})
    cells = cells.with_columns(holds=pl.Series(["yes", "no"]))
    (panel,) = sensitivity_chart(cells, Scale("ratio", least=None, most=1.0, stated=())).panels
    dots = {mark.name: [*mark.x] for mark in panel.marks if isinstance(mark, Curve)}
    assert dots == {"holds": [0.5], "does not hold": [2.0]}


def test_axes_state_which_values_are_better() -> None:
    assert {metric.better for metric in METRICS.values()} == {"", "smaller", "larger"}
    chart = lines_chart(points(1, range(3), 2), Wording("x", "Frozen time (s)", better=METRICS["frozen_s"].better))
    assert specification(chart)["concat"][0]["encoding"]["y"]["axis"]["title"][-1] == "↓ smaller is better"


def test_logarithmic_axes_have_plain_numbers() -> None:
    assert log_ticks(0.1, 20) == [0.1, 1, 10]
    assert log_ticks(0.4, 3) == [0.5, 1, 2]
    assert len(log_ticks(0.78, 1.02)) >= 2
