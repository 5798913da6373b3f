"""What a stranger reads in the pictures of studies."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from earlybird.plots.lines import Wording, lines_figure, plain_line
from earlybird.plots.sensitivity import BOUND, Scale, sensitivity_figure
from earlybird.study.library import choose_studies
from earlybird.study.names import picture_name, tick_name


@pytest.mark.parametrize("panels", [1, 2, 4])
@pytest.mark.parametrize("places", [4, 8, 12])
def test_labels_along_an_axis_lay_over_each_other(panels: int, places: int) -> None:
    ticks = {float(place): f"{50 + 50 * place} ms" for place in range(places)}
    line = plain_line("sack", "SACK", list(ticks), [1.0] * places)
    points = pl.concat([line.select(pl.lit(f"panel {number}").alias("panel"), pl.all()) for number in range(panels)])
    figure = lines_figure(points, Wording("delay", "loss", ticks=ticks))
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert not any(left.overlaps(right) for left, right in itertools.pairwise(boxes))


def test_values_without_a_name_stood_in_legends_and_titles() -> None:
    (burst_loss, conversation) = choose_studies(["burst-loss", "real-time-mode"], "smoke")
    assert picture_name(burst_loss, {"rtt": "20ms"}) == "round trip 20 ms"
    assert picture_name(burst_loss, {"burst": 3, "reno": "careful"}) == "3 lost, careful Reno"
    assert tick_name(conversation, "playback", "120ms") == "120 ms"


def test_the_bound_of_a_statement_was_a_line_without_a_name() -> None:
    sizes = pl.DataFrame({"place": [0], "setting": ["as it is"], "cell": ["80"], "size": [0.5], "holds": ["yes"]})
    (legend,) = sensitivity_figure(sizes, Scale("ratio", bounds=(0.1, 1.0), stated=())).legends
    assert [text.get_text() for text in legend.get_texts()] == [BOUND, "holds"]
