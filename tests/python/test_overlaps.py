"""Words in pictures that lie over each other or are cut off, measured by a browser, which knows their boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from browser import BROWSER, DESK, NO_BROWSER, PHONE, seen, served
from conftest import REPOSITORY
from earlybird.plots.vega import drawn, page
from pictures import kinds

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)

COMMITTED = sorted((REPOSITORY / "docs" / "results").rglob("*.svg"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of every kind of plot as pages draw it, and one of the same and of all committed pictures as SVG."""
    made = tmp_path_factory.mktemp("pictures")
    (made / "interactive.html").write_text(page(*kinds().values()), encoding="utf-8")
    committed = {str(path.relative_to(REPOSITORY)): path.read_text(encoding="utf-8") for path in COMMITTED}
    pictures = {**{f"kind {kind}": svg(kind) for kind in kinds()}, **committed}
    shown = [only(name, text[text.index("<svg") :]) for name, text in pictures.items()]
    (made / "pictures.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{''.join(shown)}", encoding="utf-8")
    return made


def only(name: str, picture: str) -> str:
    """Put a picture into a tree of its own, as a file of its own has one: names and classes are its own."""
    return f'<div class="picture" id="{name}"><template shadowrootmode="open">{picture}</template></div>'


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    """Serve the pages."""
    with served(folder) as address:
        yield address


def svg(kind: str) -> str:
    """Draw a kind of plot as SVG."""
    return drawn(kinds()[kind], "svg").decode()


def flaws(found: dict[str, Any]) -> dict[str, list[str]]:
    """Return the flaws of the pictures that have any."""
    return {plot["id"]: plot["flaws"] for plot in found["plots"] if plot["flaws"]}


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_no_words_of_an_interactive_plot_overlap_or_are_cut_off(folder: Path, server: str, width: int) -> None:
    found = seen(folder, server, "interactive.html", width)
    assert len(found["plots"]) == len(kinds())
    assert all(plot["fits"] and plot["points"] > 0 for plot in found["plots"])
    assert flaws(found) == {}


def test_no_words_of_a_committed_picture_overlap_or_are_cut_off(folder: Path, server: str) -> None:
    found = seen(folder, server, "pictures.html", DESK)
    assert len(found["plots"]) == len(kinds()) + len(COMMITTED)
    assert flaws(found) == {}
