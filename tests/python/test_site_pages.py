"""The pages of the documentation's site in a browser, on a desk and on a phone; `make site` builds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import BROWSER, DESK, NO_BROWSER, PHONE, served
from conftest import REPOSITORY
from devtools import Tab, tab

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE = REPOSITORY / "target" / "site"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
WIDEST = """[...document.querySelectorAll("article *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1
  && !each.closest("pre, .md-typeset__scrollwrap, .doc-signature, mjx-container"))
  .slice(0, 3).map((each) => each.tagName + ": " + each.textContent.slice(0, 60))"""
"""Elements that stick out to the right, except those that scroll inside an element of their own."""

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER),
    pytest.mark.skipif(not PAGES, reason="`make site` was not run"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="module", params=[DESK, PHONE])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("profile")) as found:
        found.resize(request.param)
        yield found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_was_wider_than_the_screen(page: Tab, server: str, name: str) -> None:
    page.open(f"{server}/{name}")
    width = page.value("document.documentElement.clientWidth")
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(WIDEST) == []
    # Last, as it changes the size of the window.
    if folder := os.environ.get("EARLYBIRD_SCREENSHOTS"):
        page.screenshot(Path(folder) / f"{width}-{name.replace('/', '-')}.png")


def test_the_search_found_no_page(page: Tab, server: str) -> None:
    page.open(f"{server}/index.html?q=duplicate")
    page.wait("document.querySelectorAll('.md-search-result__item').length > 3")
