"""Published results: Markdown that names every statement, and whose links lead somewhere."""

from __future__ import annotations

import re
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import polars as pl
import pytest
from markdown_it import MarkdownIt
from markupsafe import Markup

from conftest import store_bytes
from earlybird import InputError
from earlybird.paths import REPOSITORY
from earlybird.report import publication
from earlybird.report.publication import write_publication
from earlybird.report.templates import as_markdown
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.library import ALL, choose_studies
from earlybird.study.language.loading import load
from earlybird.study.language.register import Entry, Paper, Register, register
from earlybird.study.runs.execution import make_runs
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Finished

REGISTER = Register(
    {"S": Paper("A small paper", "the small paper"), "R": Paper("The rest", "the rest")},
    (
        Entry("S-1", "Frozen time", "figure", study="small-study"),
        Entry("S-2", "Another study", "table", study="not-there"),
        Entry("R-1", "The network", "figure", why="Documentation only."),
    ),
)


OUTSIDE = ("docs/studies.md", "studies/small-study/README.md")
"""What the pages lead to outside of their folder, from the root of the repository."""


class Published(NamedTuple):
    """A publication, and how to write it again."""

    folder: Path
    write: Callable[[Path], None]

    def page(self, name: str) -> str:
        """Return a page as HTML, in the way that GitHub shows it."""
        text = (self.folder / f"{name}.md").read_text(encoding="utf-8")
        return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """The publication of one small study."""
    root = tmp_path_factory.mktemp("published")
    study, store = load(small_study(root / "small-study")), Store(root / "results")
    make_runs([study], "smoke", jobs=1, out=store.root)

    def write(folder: Path) -> None:
        write_publication(REGISTER, [study], {study.name: evaluate(study, "smoke", store)}, "smoke", folder)

    write(root / "docs")
    return Published(root / "docs", write)


def links(page: str) -> Iterator[str]:
    """List what a page leads to and shows."""
    return (match[1] for match in re.finditer(r'(?:href|src)="([^"]+)"', page))


def rows(page: str) -> list[list[str]]:
    """List the cells of a page's tables, without markup."""
    lines = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    return [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", line)] for line in lines]


def test_the_start_page_has_every_statement_of_every_entry(published: Published) -> None:
    verdicts = [cells for cells in rows(published.page("README")) if len(cells) == 7]
    assert [(cells[0][:3], cells[1], cells[6]) for cells in verdicts] == [
        ("S-1", "must", "✓ holds"),
        ("S-1", "report", "· reported2 numbers"),
        ("S-2", "", "not run"),
        ("R-1", "", "no study"),
    ]
    assert verdicts[0][2] == "Nothing is negative &amp; all is escaped"
    assert verdicts[0][4], "no number of ours"
    assert verdicts[3][2] == "Documentation only."
    assert pl.read_csv(published.folder / "verdicts.csv").height == 4


def test_every_link_leads_somewhere(published: Published) -> None:
    pages = {path.name: published.page(path.stem) for path in published.folder.glob("*.md")}
    assert set(pages) == {"README.md", "small-study.md"}
    for name, page in pages.items():
        for link in links(page):
            file, _, anchor = link.partition("#")
            if file.startswith("../"):
                assert normpath(Path("docs", "results", file)) in OUTSIDE, link
            elif file:
                assert (published.folder / file).is_file(), link
            if anchor and not file.startswith("../"):
                assert f'id="{anchor}"' in pages[file or name], link
    assert (REPOSITORY / "docs" / "studies.md").is_file()


def test_each_plot_has_a_picture_and_its_data(published: Published) -> None:
    page = published.page("small-study")
    (picture,) = re.findall(r'<img src="([^"]+)"', page)
    assert picture == "small-study/frozen.svg"
    assert (published.folder / "small-study" / "frozen.csv").read_text().startswith("panel,line,name,x,value")
    for needle in ("study run small-study --scale smoke", "seeds 1 to 2, 5 s of simulated time", "code version"):
        assert needle in page


def test_writing_twice_gives_the_same_bytes(published: Published, tmp_path: Path) -> None:
    published.write(tmp_path / "again")
    assert store_bytes(tmp_path / "again") == store_bytes(published.folder)


def test_a_new_publication_replaces_the_old_one_and_nothing_else(published: Published, tmp_path: Path) -> None:
    published.write(tmp_path / "twice")
    (tmp_path / "twice" / "of-a-study-that-is-gone.md").touch()
    published.write(tmp_path / "twice")
    assert not (tmp_path / "twice" / "of-a-study-that-is-gone.md").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("# Mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds something else"):
        published.write(tmp_path / "mine")
    assert (tmp_path / "mine" / "README.md").read_text(encoding="utf-8") == "# Mine\n"


def test_an_interrupted_publication_leaves_the_older_one_as_it_was(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    published.write(tmp_path / "docs")
    monkeypatch.setattr(publication, "start_context", interrupted)
    with pytest.raises(KeyboardInterrupt):
        published.write(tmp_path / "docs")
    assert store_bytes(tmp_path / "docs") == store_bytes(published.folder)
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]


def test_nothing_is_published_where_there_are_no_results(earlybird: Callable[..., Finished], tmp_path: Path) -> None:
    done = earlybird("study", "publish", "--scale", "smoke", "--out", "results", "--to", "docs")
    assert (done.code, (tmp_path / "docs").exists()) == (2, False)
    assert "results has no results of any study at scale 'smoke'; `earlybird study run all" in done.err


def test_every_entry_of_the_papers_is_published(tmp_path: Path) -> None:
    write_publication(register(), choose_studies([ALL], "smoke"), {}, "smoke", tmp_path / "docs")
    named = set(pl.read_csv(tmp_path / "docs" / "verdicts.csv")["items"].str.split(", ").explode())
    assert named == {entry.id for entry in register().entries}


@pytest.mark.parametrize(
    "text", ["a | b", "x < y > z", "2 * 3 * 4", "rto_count and sft_s", "[a](b)", "`a`", "~~a~~", "c:\\d", "$5 and $6"]
)
def test_text_shows_as_it_is_in_a_table_of_markdown(text: str) -> None:
    page = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(f"| a |\n|---|\n| {as_markdown(text)} |\n")
    )
    (shown,) = rows(page)[1]
    assert Markup(shown).unescape() == text
