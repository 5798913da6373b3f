"""Published results: Markdown that names every statement, and whose links lead somewhere."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
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
from earlybird.study.evaluation import evaluate, scale_with_results
from earlybird.study.language.library import ALL, choose_studies
from earlybird.study.language.loading import load
from earlybird.study.language.register import Entry, Paper, Register, register
from earlybird.study.runs.execution import made_share, make_runs
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


OUTSIDE = ("docs/studies.md", "docs/install.md", "studies/small-study/README.md")
"""Link targets of the pages outside of their folder, from the root of the repository."""


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
    make_runs([study], "smoke", jobs=1, output=store.root)

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


def test_the_pages_of_papers_have_every_statement_of_every_entry(published: Published) -> None:
    pages = (published.page("papers/S"), published.page("papers/R"))
    verdicts = [cells for page in pages for cells in rows(page) if len(cells) == 7]
    assert [(cells[0][:3], cells[1], cells[6]) for cells in verdicts] == [
        ("S-1", "must", "✓ holdsonly smoke scale"),
        ("S-1", "report", "· reported2 numbersonly smoke scale"),
        ("S-2", "", "not run"),
        ("R-1", "", "no study"),
    ]
    every = [cells[0] for cells in rows(published.page("papers/verdicts")) if len(cells) == 4]
    assert every == ["S-1", "S-1", "S-2", "R-1"]
    assert verdicts[0][2] == "Nothing is negative &amp; all is escaped"
    assert verdicts[0][4], "no number of ours"
    assert verdicts[3][2] == "Documentation only."
    assert pl.read_csv(published.folder / "verdicts.csv").height == 4


def test_every_link_leads_somewhere(published: Published) -> None:
    files = [path.relative_to(published.folder).with_suffix("") for path in published.folder.rglob("*.md")]
    pages = {file: published.page(str(file)) for file in files}
    assert set(map(str, pages)) == {"README", "small-study", "papers/S", "papers/R", "papers/verdicts"}
    for name, page in pages.items():
        for link in links(page):
            file, _, anchor = link.partition("#")
            place = Path(normpath(name.parent / file)) if file else name
            if place.parts[0] == "..":
                assert normpath(Path("docs", "results", place)) in OUTSIDE, link
                continue
            assert not file or (published.folder / place).is_file(), (name, link)
            if anchor:
                assert f'id="{anchor}"' in pages[place.with_suffix("")], (name, link)
    assert all((REPOSITORY / page).is_file() for page in OUTSIDE if "small-study" not in page)


def test_the_sites_pages_showed_backslashes_before_signs() -> None:
    assert as_markdown("SACK < PERT * 2 | a_b") == r"SACK &lt; PERT \* 2 \| a\_b"


def test_each_plot_has_a_picture_and_its_data(published: Published) -> None:
    page = published.page("small-study")
    (picture,) = re.findall(r'<img src="([^"]+)"', page)
    assert picture == "small-study/frozen.svg"
    assert (published.folder / "small-study" / "frozen.csv").read_text().startswith("panel,line,name,x,value")
    for needle in ("study run small-study --scale smoke", "2 seeds, 5 s of simulated time", "code version"):
        assert needle in page


def test_a_study_without_results_keeps_its_page_and_verdicts(published: Published, tmp_path: Path) -> None:
    shutil.copytree(published.folder, tmp_path / "docs")
    study = load(small_study(tmp_path / "small-study"))
    write_publication(REGISTER, [study], {}, "full", tmp_path / "docs")
    for kept in ("small-study.md", "small-study/frozen.svg", "verdicts.csv"):
        assert (tmp_path / "docs" / kept).read_bytes() == (published.folder / kept).read_bytes()
    second = Published(tmp_path / "docs", published.write)
    assert second.page("papers/verdicts") == published.page("papers/verdicts")
    assert rows(second.page("papers/S")) == rows(published.page("papers/S"))


def test_results_of_one_study_replaced_the_answers_of_other_papers(tmp_path: Path) -> None:
    """The symptom: “Not run yet” in place of their answers, pictures and reasons that were published before."""
    shutil.copytree(REPOSITORY / "docs" / "results", tmp_path / "docs")
    folder = tmp_path / "docs"
    before = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    write_publication(register(), choose_studies([ALL], "medium"), {}, "medium", folder)
    after = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert set(after) == set(before)
    assert "Not run yet" not in (folder / "README.md").read_text(encoding="utf-8")
    changed = [str(name) for name, content in before.items() if after[name] != content]
    assert not changed, "`earlybird study publish` writes them again from what was published"


def test_a_few_runs_do_not_replace_what_was_published(published: Published, tmp_path: Path) -> None:
    shutil.copytree(published.folder, tmp_path / "docs")
    study = load(small_study(tmp_path / "small-study"))
    make_runs([study], "smoke", jobs=1, output=tmp_path / "results")
    missing = replace(evaluate(study, "smoke", Store(tmp_path / "results")), missing=1)
    write_publication(REGISTER, [study], {study.name: missing}, "smoke", tmp_path / "docs")
    for kept in ("small-study.md", "small-study/frozen.svg", "verdicts.csv"):
        assert (tmp_path / "docs" / kept).read_bytes() == (published.folder / kept).read_bytes()


def test_without_results_of_a_scale_those_of_another_are_shown_with_a_note(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small-study")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    more = text.replace('["smoke"]', '["smoke", "full"]') + '[scales.full]\nseeds = 9\nduration = "6s"\n'
    (folder / "study.toml").write_text(more, encoding="utf-8")
    study, store = load(folder), Store(tmp_path / "results")
    assert scale_with_results(study, "full", store) == ""
    make_runs([study], "smoke", jobs=1, output=store.root)
    assert scale_with_results(study, "full", store) == "smoke"
    make_runs([study], "full", jobs=1, output=store.root)
    assert [scale_with_results(study, scale, store) for scale in ("smoke", "full")] == ["smoke", "full"]
    assert scale_with_results(study, "smoke", store, or_fuller=True) == "full"
    write_publication(REGISTER, [study], {study.name: evaluate(study, "smoke", store)}, "full", tmp_path / "docs")
    assert pl.read_csv(tmp_path / "docs" / "verdicts.csv")["scale"].to_list() == ["smoke", "smoke", "", ""]


def test_a_fuller_scale_that_is_whole_speaks_where_what_was_asked_for_is_not(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small-study")
    text = (folder / "study.toml").read_text(encoding="utf-8").replace('["smoke"]', '["smoke", "full"]')
    (folder / "study.toml").write_text(f'{text}[scales.full]\nseeds = 1\nduration = "5s"\n', encoding="utf-8")
    study, store = load(folder), Store(tmp_path / "results")
    make_runs([study], "full", jobs=1, output=store.root)
    assert 0 < made_share(study, "smoke", store) < 1
    assert scale_with_results(study, "smoke", store) == "full"


def test_writing_twice_gives_the_same_bytes(published: Published, tmp_path: Path) -> None:
    published.write(tmp_path / "again")
    assert store_bytes(tmp_path / "again") == store_bytes(published.folder)


def test_a_new_publication_replaces_the_old_one_and_nothing_else(published: Published, tmp_path: Path) -> None:
    published.write(tmp_path / "twice")
    shutil.copyfile(tmp_path / "twice" / "small-study.md", tmp_path / "twice" / "of-a-study-that-is-gone.md")
    (tmp_path / "twice" / "assessment.md").write_text("# Of another program\n", encoding="utf-8")
    published.write(tmp_path / "twice")
    assert not (tmp_path / "twice" / "of-a-study-that-is-gone.md").exists()
    assert (tmp_path / "twice" / "assessment.md").read_text(encoding="utf-8") == "# Of another program\n"
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
    done = earlybird("study", "publish", "--scale", "smoke", "--results", "results", "--output", "docs")
    assert (done.code, (tmp_path / "docs").exists()) == (2, False)
    assert "results has no results of any study at scale 'smoke'; `earlybird study run all" in done.err


def test_every_entry_of_the_papers_is_published(tmp_path: Path) -> None:
    write_publication(register(), choose_studies([ALL], "smoke"), {}, "smoke", tmp_path / "docs")
    named = set(pl.read_csv(tmp_path / "docs" / "verdicts.csv")["items"].str.split(", ").explode())
    assert named >= {entry.id for entry in register().entries if entry.kind != "experiment"}


@pytest.mark.parametrize(
    "text",
    ["a | b", "x < y > z", "2 * 3 * 4", "rto_count and frozen_s", "[a](b)", "`a`", "~~a~~", "c:\\d", "$5 and $6"],
)
def test_text_shows_as_it_is_in_a_table_of_markdown(text: str) -> None:
    page = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(f"| a |\n|---|\n| {as_markdown(text)} |\n")
    )
    (shown,) = rows(page)[1]
    assert Markup(shown).unescape() == text
