"""The site of all studies: its verdict table names everything, and its pages need nothing from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pytest

from earlybird.report.overview import Row, overview, tallies
from earlybird.report.site import write_site
from earlybird.report.terminal import site_summary
from earlybird.store import Store
from earlybird.study import list_studies
from earlybird.study.evaluation import Evaluation, evaluate
from earlybird.study.language.library import find_study
from earlybird.study.language.loading import load
from earlybird.study.language.register import Entry, Paper, Register, register
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished
    from earlybird.study.language.definition import Study

REGISTER = Register(
    {"S": Paper("A small paper", "the small paper"), "R": Paper("The rest", "the rest")},
    (
        Entry("S-1", "Frozen time", "figure", study="small-study"),
        Entry("S-2", "Another study", "table", study="not-there"),
        Entry("R-1", "The network", "figure", why="Documentation only."),
    ),
)


class Site(NamedTuple):
    """A site and what it was made of."""

    page: Path
    rows: list[Row]
    study: Study
    evaluation: Evaluation

    @property
    def text(self) -> str:
        """The start page."""
        return self.page.read_text(encoding="utf-8")

    @property
    def verdicts(self) -> str:
        """The page of all verdicts."""
        return self.page.with_name("verdicts.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of one small study."""
    folder = tmp_path_factory.mktemp("site")
    study, store = load(small_study(folder / "small-study")), Store(folder / "results")
    make_runs([study], "smoke", jobs=1, output=store.root)
    evaluation = evaluate(study, "smoke", store)
    page, rows = write_site(REGISTER, [study], {study.name: evaluation}, "smoke", folder / "site")
    return Site(page, rows, study, evaluation)


def test_the_verdict_table_has_every_statement_of_every_entry(site: Site) -> None:
    assert [(row.ids, row.holds) for row in site.rows] == [
        (("S-1",), "yes"),
        (("S-1",), "reported"),
        (("S-2",), "not run"),
        (("R-1",), "no study"),
    ]
    assert re.findall(r'data-items="([^"]+)"', site.verdicts) == ["S-1", "S-1", "S-2", "R-1"]


def test_statements_are_counted_by_paper(site: Site) -> None:
    small, rest = tallies(REGISTER, site.rows)
    assert (small.entries, small.answered, dict(small.counts["must"])) == (2, 1, {"yes": 1})
    assert (rest.entries, rest.answered) == (1, 0)


def test_the_verdict_table_is_there_as_data(site: Site) -> None:
    table = pl.read_csv(site.page.parent / "verdicts.csv")
    assert table["items"].to_list() == ["S-1", "S-1", "S-2", "R-1"]
    assert table["verdict"].to_list() == ["yes", "reported", "not run", "no study"]
    assert table["scale"].to_list() == ["smoke", "smoke", "", ""]
    assert table["ours"][0] is not None


def test_rows_lead_to_their_statement(site: Site) -> None:
    links = re.findall(r'<th scope="row"><a href="([^"]+)"', site.verdicts)
    assert len(links) == 2
    for link in links:
        page, _, anchor = link.partition("#")
        assert f'id="{anchor}"' in (site.page.parent / page).read_text(encoding="utf-8")


def test_every_file_that_a_page_names_is_beside_it(site: Site) -> None:
    for page in site.page.parent.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
        for file in re.findall(r'(?:src|href)="([^"#]+)', text):
            assert (page.parent / file).is_file(), file


def test_the_largest_script_is_shared(site: Site) -> None:
    (only,) = site.page.parent.rglob("vega*.js")
    assert only.parent.name == "assets"


def test_each_plot_has_pictures_data_and_the_commands_that_made_it(site: Site) -> None:
    folder = site.page.parent / "small-study"
    for ending in ("svg", "png", "csv"):
        assert (folder / "plots" / f"frozen.{ending}").stat().st_size > 100
    figure = (folder / "index.html").read_text(encoding="utf-8").partition("<figure")[2].partition("</figure>")[0]
    for needle in ("study run small-study --scale smoke", "2 seeds, 5 s of simulated time", "code version"):
        assert needle in figure


def test_a_study_without_results_counts_as_not_run(site: Site) -> None:
    rows = overview(REGISTER, {site.study.name: site.study}, {})
    assert [row.holds for row in rows] == ["not run", "not run", "not run", "no study"]
    assert [row.anchor for row in rows] == ["", "", "", ""]
    assert all(row.verdict is None or row.verdict.statement for row in rows)


def test_no_entry_of_the_papers_is_missing_in_the_verdict_table() -> None:
    studies = {info.name: find_study(info.name) for info in list_studies()}
    rows = overview(register(), studies, {})
    assert {name for row in rows for name in row.ids} == {entry.id for entry in register().entries}
    assert {row.holds for row in rows} == {"not run", "no study"}
    assert site_summary(rows, "smoke").row_count == len(register().papers)


def test_without_any_result_the_site_states_that_nothing_was_run(
    earlybird: Callable[..., Finished], tmp_path: Path
) -> None:
    done = earlybird("study", "report", "all", "--output", "site")
    assert (done.code, done.err) == (0, "")
    page = tmp_path / "site" / "all-smoke" / "index.html"
    assert str(page.relative_to(tmp_path)) in done.out
    text = page.with_name("verdicts.html").read_text(encoding="utf-8")
    named = {name for names in re.findall(r'data-items="([^"]+)"', text) for name in names.split()}
    assert named == {entry.id for entry in register().entries}
    assert set(re.findall(r'data-verdict="([^"]+)"', text)) == {"not run", "no study"}
