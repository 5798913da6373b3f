"""Results as notebooks show them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird import InputError, SweepResult
from earlybird.compare import Comparison, compare_media
from earlybird.notebook import MOST_POINTS, Picture, html_table
from earlybird.plots.chart import Curve, named
from earlybird.store import Store

if TYPE_CHECKING:
    from pathlib import Path


class Rows(HTMLParser):
    """Reads the cells of a table's rows, and complains of tags that are not closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Begin a row or a cell."""
        if tag == "tr":
            self.rows.append([])
        elif tag in {"th", "td"}:
            self.rows[-1].append("")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End it."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Take the text of a cell."""
        if self.open[-1] in {"th", "td"}:
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepResult:
    """Run two transports at two loads."""
    grid: dict[str, list[object]] = {"pairs": [1, 2], "transport": ["sack", "pert-er"]}
    return earlybird.sweep(SMALL, grid=grid, seeds=2, jobs=1, output=tmp_path_factory.mktemp("sweep"))


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Stream the small film under two transports."""
    clip, out = REPOSITORY / "media" / "test-clip.mp4", tmp_path_factory.mktemp("comparison")
    return compare_media(clip, transports=["sack", "sack-er"], duration="40s", jobs=1, output=out)


def test_a_run_shows_its_main_numbers() -> None:
    result = earlybird.run(SMALL)
    html = result._repr_html_()
    shown = dict(Rows(html).rows)
    assert shown["drop rate at the bottleneck"] == f"{100 * result.summary['drop_rate']:.2f} %"
    assert "two video flows and two file transfers (seed 1, 5s)" in html
    assert "lateness" in html


def test_what_a_title_holds_is_no_html() -> None:
    html = earlybird.run(SMALL, overrides={"title": "<script>alert('&')</script>"})._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)" in html
    assert Rows(html_table("", ["<b>"], [["a & b", "c\nd"]], [])).rows == [["<b>"], ["a & b", "cd"]]


def test_a_sweep_shows_a_row_per_point(sweep: SweepResult) -> None:
    heading, *rows = Rows(sweep._repr_html_()).rows
    assert heading[:3] == ["pairs", "transport", "T/µ"]
    assert [row[:2] for row in rows] == [["1", "sack"], ["1", "pert-er"], ["2", "sack"], ["2", "pert-er"]]
    assert all(re.fullmatch(r"\d\.\d\d(± \d\.\d\d)?", row[2]) for row in rows)


def test_a_large_sweep_shows_only_its_beginning(tmp_path: Path) -> None:
    grid = {"flows.file.count": [*range(1, MOST_POINTS + 3)]}
    sweep = earlybird.sweep(SMALL, grid=grid, seeds=1, overrides={"duration": "1.5s"}, jobs=1, output=tmp_path)
    html = sweep._repr_html_()
    assert len(Rows(html).rows) == 1 + MOST_POINTS
    assert "2 more points are in `runs`." in html


def test_a_sweep_without_runs_shows_that(tmp_path: Path) -> None:
    empty = SweepResult((), Store(tmp_path).open())
    assert "A sweep without runs" in empty._repr_html_()
    with pytest.raises(InputError, match="the sweep has no runs"):
        empty.plot()


def test_a_comparison_shows_a_column_per_transport(comparison: Comparison) -> None:
    html = comparison._repr_html_()
    heading, *rows = Rows(html).rows
    assert heading == ["", "sack", "sack-er"]
    assert {len(row) for row in rows} == {1, 3}
    assert "no stall, half the flows" in {row[0] for row in rows}
    assert comparison.to_dict()["recommendation"].split(";")[0] in html.replace("&#x27;", "'")


def test_every_picture_is_one_that_notebooks_show(sweep: SweepResult, comparison: Comparison) -> None:
    run = earlybird.run(SMALL, overrides={"measure.series": "100ms"})
    pictures: list[Picture] = [run.plot(), sweep.plot(), comparison.plot()]
    assert all(picture._repr_png_().startswith(b"\x89PNG") for picture in pictures)
    assert "measure.deliveries=true" in run.plot().lacking[0]


def test_a_sweep_draws_a_line_per_combination_of_the_other_keys(sweep: SweepResult) -> None:
    picture = sweep.plot("drop_rate")
    (panel,) = picture.chart.panels
    axes = [picture.specification["concat"][0]["encoding"][name]["axis"]["title"] for name in "xy"]
    assert axes == [["pairs"], ["drop rate at the bottleneck (share)", "↓ smaller is better"]]
    assert [*named(picture.chart)] == ["transport sack", "transport pert-er"]
    first = panel.marks[0]
    assert isinstance(first, Curve)
    drawn = [*first.y]
    rates = [sweep.runs.filter(transport="sack", pairs=pairs)["drop_rate"].to_list() for pairs in (1, 2)]
    assert drawn == pytest.approx([sum(rate) / len(rate) for rate in rates])


def test_a_measure_that_the_runs_lack_is_reported(sweep: SweepResult) -> None:
    with pytest.raises(InputError, match=r"measure = delay: the runs have no such number\. They have .*drop_rate"):
        sweep.plot("delay")


def test_a_picture_is_saved_by_its_ending(sweep: SweepResult, tmp_path: Path) -> None:
    sweep.plot().save(tmp_path / "sweep.svg")
    assert (tmp_path / "sweep.svg").read_bytes().startswith(b"<?xml")
    with pytest.raises(InputError, match=r"sweep\.pdf: a picture's name ends in \.png or \.svg"):
        sweep.plot().save(tmp_path / "sweep.pdf")


def test_a_sweep_drew_no_column_of_its_flows(sweep: SweepResult) -> None:
    picture = sweep.plot("throughput_bps", table="flows", group="video")
    first = picture.chart.panels[0].marks[0]
    assert isinstance(first, Curve)
    flows = sweep.table("flows").collect()
    own = [flows.filter(run_transport="sack", pairs=pairs, group="video")["throughput_bps"] for pairs in (1, 2)]
    assert [*first.y] == pytest.approx([values.mean() for values in own])
    axes = [picture.specification["concat"][0]["encoding"][name]["axis"]["title"] for name in "xy"]
    assert axes[0] == ["pairs"]
    assert axes[1][0].endswith("(bit/s)")


@pytest.mark.parametrize(
    ("table", "group", "message"),
    [
        ("flows", "vidoe", r"group = 'vidoe': there is no such group of flows; did you mean 'video'\?"),
        ("links", "video", r"group = video: the table 'links' has no groups"),
        (None, "video", r'group = video: runs have no groups\. hint: table="flows" has'),
    ],
)
def test_a_group_that_a_sweep_cannot_draw_is_named(
    sweep: SweepResult, table: str | None, group: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        sweep.plot(table=table, group=group)
