"""Links of the documentation's site to files that the site does not have."""

from __future__ import annotations

import sys

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

from site_links import folded, named


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


def test_a_page_of_the_docs_stood_in_no_menu() -> None:
    menu = (REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8")
    docs = REPOSITORY / "docs"
    pages = {path.relative_to(docs).as_posix() for path in (*docs.glob("*.md"), *docs.glob("results/*.md"))}
    assert {page for page in pages if f": {page}\n" not in menu} == set()
