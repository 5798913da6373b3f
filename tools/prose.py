"""
Measure the prose of the documentation: words per sentence, long sentences, passive verbs.

``--check`` fails if a page that new users read first breaks the limits below, or has a word that the glossary avoids.
Without it the tool prints the numbers of all pages, or of the Markdown files that are named.

Vale would do this with a style of our own, but PyPI and npm have only packages that download its binary later.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Final, NamedTuple

REPOSITORY: Final = Path(__file__).parents[1]
ENTRY_PAGES: Final = (
    "README.md",
    *(
        f"docs/{name}.md"
        for name in (
            "index",
            "install",
            "first-steps",
            "first-plan",
            "first-study",
            "tasks",
            "architecture",
            "validation",
            "still-worth-it",
            "api",
            "serve",
            "studies",
            "web-server",
        )
    ),
)
"""Pages that new users read first."""
LONGEST: Final = 30
"""Words of a sentence: our choice, so that a sentence can be understood at the first reading."""
MOST_PASSIVE: Final = 0.35
"""Share of a page's sentences with a passive verb."""

BLOCKS: Final = re.compile(
    r"^(```|~~~).*?^\1|<!--.*?-->|^(?: {4}|\t).*?$|^\|.*?$|^#.*?$|^!\[.*?$|^:::.*?$", re.MULTILINE | re.DOTALL
)
"""Parts that are no prose: code, comments, tables, headings, pictures."""
BOUNDARY: Final = re.compile(r"(?<=[.!?:;])[*)”\"]*\s+(?=[A-Z0-9\"“*(`])|\n\s*(?:[-*+]|\d+\.)\s+|\n\s*\n")
SHORT_FORMS: Final = re.compile(r"\b(e\.g|i\.e|vs|cf|etc|No|Fig|et al)\.")
IRREGULAR: Final = (
    "begun|bound|broken|brought|built|chosen|cut|done|drawn|driven|found|given|gone|held|kept|known|laid|left|lost|made|meant|"
    "met|paid|put|read|run|said|seen|sent|set|shown|shut|sold|split|spent|taken|taught|thrown|told|understood|written|won"
)
PASSIVE: Final = re.compile(
    rf"\b(is|are|was|were|be|been|being)\s+(?:(?:not|also|only|then|never|already|always|\w+ly)\s+)*(?:\w+ed|{IRREGULAR})\b",
    re.I,
)
WORD: Final = re.compile(r"[\w’'µ%.,/=-]*\w[\w’'%]*")


class Prose(NamedTuple):
    """The sentences of a page."""

    path: Path
    sentences: list[str]

    @property
    def lengths(self) -> list[int]:
        """The number of words of each sentence."""
        return [len(WORD.findall(sentence)) for sentence in self.sentences]

    @property
    def long(self) -> list[str]:
        """The sentences that have too many words."""
        return [one for one, words in zip(self.sentences, self.lengths, strict=True) if words > LONGEST]

    @property
    def passive(self) -> list[str]:
        """The sentences that have a passive verb."""
        return [one for one in self.sentences if PASSIVE.search(one)]


def prose(path: Path) -> Prose:
    """Read the sentences of a Markdown file; of a list, each item is one or more."""
    text = BLOCKS.sub("\n", path.read_text(encoding="utf-8"))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]+>", " ", SHORT_FORMS.sub(r"\1", re.sub(r"`[^`]*`", "X", text)))
    parts = (" ".join(part.split()) for part in BOUNDARY.split(text))
    return Prose(path, [part for part in parts if len(WORD.findall(part)) > 2])


def avoided_words() -> re.Pattern[str]:
    """Return the words that the glossary avoids in names; an entry page avoids them too."""
    table = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8").partition("## Words that names avoid")[2]
    rows = re.findall(r"^\| ([a-z][^|]*) \|", table.partition("## Exceptions")[0], re.MULTILINE)
    words = {word.strip() for row in rows for word in row.split(",")}
    return re.compile(rf"\b({'|'.join(sorted(words))})\b", re.IGNORECASE)


def problems(page: Prose) -> list[str]:
    """Return what an entry page has to change."""
    found = [f"more than {LONGEST} words: {sentence}" for sentence in page.long]
    found += [f"“{match[0]}”: {one}" for one in page.sentences if (match := avoided_words().search(one))]
    if len(page.passive) > MOST_PASSIVE * len(page.sentences):
        found += [f"passive (at most {MOST_PASSIVE:.0%} of the sentences): {sentence}" for sentence in page.passive]
    return [f"{page.path.relative_to(REPOSITORY)}: {problem}" for problem in found]


def table(pages: list[Prose]) -> str:
    """Return a line for each page, and one for all."""
    rows = [(str(page.path), page) for page in pages]
    rows.append(("all", Prose(Path("all"), [sentence for page in pages for sentence in page.sentences])))
    lines = [f"{'words/sentence':>14}  {'long':>6}  {'passive':>7}  sentences  page"]
    for name, page in rows:
        count = max(len(page.sentences), 1)
        mean, long, passive = sum(page.lengths) / count, len(page.long) / count, len(page.passive) / count
        lines.append(f"{mean:14.1f}  {long:6.1%}  {passive:7.1%}  {len(page.sentences):9}  {name}")
    return "\n".join(lines)


def main() -> int:
    """Check the entry pages, or print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if an entry page breaks a limit")
    parser.add_argument("files", nargs="*", type=Path, help="Markdown files (default: README.md and docs/*.md)")
    given = parser.parse_args()
    if given.check:
        found = [problem for name in ENTRY_PAGES for problem in problems(prose(REPOSITORY / name))]
        print("\n".join(found) if found else f"{len(ENTRY_PAGES)} pages keep the limits of prose.")
        return bool(found)
    files = given.files or [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    print(table([prose(path) for path in files]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
