"""Links of the documentation's site to files that the site does not have."""

from __future__ import annotations

import re
import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

from site_links import DOCS, folded, named


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[the run](../scenarios/dumbbell.toml)", "the run (`scenarios/dumbbell.toml`)"),
        ("[`studies/`](../studies)", "`studies`"),
        ("[its beginning](../README.md#earlybird)", "its beginning (`README.md`)"),
        (
            "[a page](notes.md) and [the web](https://example.org)",
            "[a page](notes.md) and [the web](https://example.org)",
        ),
    ],
)
def test_a_link_that_leaves_the_docs_becomes_a_path(link: str, shown: str) -> None:
    assert named(f"See {link}.", "notes.md") == f"See {shown}."


def test_links_are_read_from_where_the_page_is() -> None:
    text = "[up](../notes.md), [out](../../README.md)"
    assert named(text, "results/README.md") == "[up](../notes.md), out (`README.md`)"


def test_a_link_to_what_is_not_there_is_left_for_mkdocs_to_complain_of() -> None:
    assert named("[gone](../gone.rs)", "notes.md") == "[gone](../gone.rs)"
    assert named("[outside](../../../etc/passwd)", "notes.md") == "[outside](../../../etc/passwd)"


def test_tables_that_were_folded_stood_there_as_they_were_written() -> None:
    assert folded("<details><summary>a</summary>") == '<details markdown="1"><summary>a</summary>'


NAVIGATION = re.findall(r"^ *- .*: (\S+\.md)$", (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)


def linked(page: str) -> set[str]:
    """Return the pages of docs/ that a page links to, by their path in docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = [((DOCS / page).parent / target).resolve() for target in re.findall(r"\]\(([^)#:]+\.md)", text)]
    return {path.relative_to(DOCS).as_posix() for path in found if path.is_relative_to(DOCS)}


def test_the_navigation_had_more_than_forty_entries() -> None:
    assert len(NAVIGATION) <= 40


def test_a_page_of_the_docs_was_linked_from_no_page_of_the_navigation() -> None:
    pages = {path.relative_to(DOCS).as_posix() for path in (*DOCS.glob("*.md"), *DOCS.glob("results/*.md"))}
    assert pages - set(NAVIGATION) - set().union(*map(linked, NAVIGATION)) == set()
