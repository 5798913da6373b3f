"""A hook of mkdocs: names the files that pages link to where the site lacks them, and opens what is folded."""

import re
from pathlib import Path
from typing import Protocol

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]*)[^)]*\)")


class File(Protocol):
    """A page's file in mkdocs."""

    src_path: str


class Page(Protocol):
    """A page in mkdocs."""

    file: File


def on_page_markdown(markdown: str, /, *, page: Page, **_: object) -> str:
    """Put the path of a file in the place of a link to it, where it lies outside docs/, and read what is folded."""
    return folded(named(markdown, page.file.src_path))


def folded(markdown: str) -> str:
    """Have what is folded read as Markdown, as GitHub does; Python's reader takes it for HTML unless it is told."""
    return markdown.replace("<details>", '<details markdown="1">')


def named(markdown: str, page: str) -> str:
    """Put paths of the repository in the place of a page's links that leave docs/; dead ones stay for mkdocs."""

    def replaced(link: re.Match[str]) -> str:
        target = ((DOCS / page).parent / link[2]).resolve()
        if target.is_relative_to(DOCS) or not target.is_relative_to(REPOSITORY) or not target.exists():
            return link[0]
        path = target.relative_to(REPOSITORY)
        return f"`{path}`" if link[1].strip("`/") == str(path) else f"{link[1]} (`{path}`)"

    return LINK.sub(replaced, markdown)
