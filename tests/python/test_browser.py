"""The site in a real browser: every page, on a desk and on a phone."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pytest

from browser import BROWSER, DESK, NO_BROWSER, PHONE, seen, served
from earlybird.report.site import write_site
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.loading import load
from earlybird.study.language.register import Entry, Paper, Register
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    PageCheck = Callable[..., dict[str, Any]]
    from pathlib import Path

pytestmark = pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)

TRACED = """
[parts.traced]
scenario = "small.toml"
flows = "video"
deterministic = true
trace = true
propagation = 0.05
settings = { "measure.duplicates" = true }

[[grids]]
part = "traced"
scales = ["smoke"]
n = [2]
transport = ["sack-er"]
"""

KINDS = """
[[items]]
id = "S-2"
title = "Plots of single packets"
at = { part = "traced" }
""" + "".join(
    f"""
[items.plots.{kind}]
title = "A plot of the kind {kind}"
kind = "{kind}"
panels = {{ transport = ["sack-er"] }}
at = {{ n = 2 }}
"""
    for kind in ("ages", "age-history", "packets")
)

DOTS = """
[items.plots.dots]
title = "A row for each transport"
kind = "dots"
metric = "rto_count"
x = { transport = ["sack-er"] }
lines = { n = [2] }
"""

FILTER = """
  const form = page.getElementById("filters");
  form.elements.paper.value = "R";
  form.dispatchEvent(new frame.contentWindow.Event("input"));
  frame.filtered = [...page.querySelectorAll("#rows tr")].filter((row) => row.getClientRects().length)
    .map((row) => row.dataset.items);
"""


UNFOLDED = """
  frame.filtered = [...page.querySelectorAll("details.statement")].filter((each) => each.wasOpen)
    .map((each) => each.id);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small study with a plot of every kind."""
    folder = tmp_path_factory.mktemp("site")
    study_folder = small_study(folder / "small-study")
    for file, more in (("study.toml", TRACED), ("items.toml", KINDS + DOTS)):
        path = study_folder / file
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    study, store = load(study_folder), Store(folder / "results")
    make_runs([study], "smoke", jobs=1, output=store.root)
    entries = (
        Entry("S-1", "Frozen time", "figure", study=study.name),
        Entry("S-2", "Packets", "figure", study=study.name),
        Entry("R-1", "The network", "figure", why="Documentation only."),
    )
    register = Register({"S": Paper("A small paper", "the small paper"), "R": Paper("The rest", "the rest")}, entries)
    page, _ = write_site(register, [study], {study.name: evaluate(study, "smoke", store)}, "smoke", folder / "site")
    return page.parent


@pytest.fixture(scope="module")
def check_page(site: Path) -> Iterator[PageCheck]:
    """Return a function that loads a page and fails if one of its scripts does; it loads each page once."""
    with served(site) as server:
        yield cache(partial(seen, site, server))


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("page", ["index.html", "verdicts.html", "papers/S.html", "small-study/index.html"])
def test_a_page_loads_without_a_failing_script_and_fits_its_width(check_page: PageCheck, page: str, width: int) -> None:
    seen = check_page(page, width)
    assert seen["width"] == width
    assert seen["scroll"] <= seen["width"], "something sticks out to the right"


def test_an_address_of_a_statement_unfolds_it(check_page: PageCheck) -> None:
    page, statement = "small-study/index.html", "check-nothing-negative"
    assert check_page(f"{page}#{statement}", DESK, UNFOLDED)["filtered"] == [statement]
    assert check_page(page, DESK, UNFOLDED)["filtered"] == []


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_every_plot_has_data_and_shows_it(check_page: PageCheck, width: int) -> None:
    plots = check_page("small-study/index.html", width)["plots"]
    names = ["frozen", "ages", "age-history", "packets", "dots"]
    assert [plot["id"] for plot in plots] == [f"plot-{name}" for name in names]
    for plot in plots:
        assert plot["points"] > 0, plot
        assert plot["shapes"] > 0, plot
        assert plot["fits"], plot
        assert plot["flaws"] == [], plot


def test_the_verdict_table_can_be_filtered(check_page: PageCheck) -> None:
    assert check_page("verdicts.html", DESK, FILTER)["filtered"] == ["R-1"]
