"""Pages and verdicts of an older publication, carried over for studies that have no results now."""

import dataclasses
import re
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Final

from earlybird.report.overview import Row
from earlybird.report.statements import SYMBOLS, WORDS
from earlybird.report.templates import as_markdown
from earlybird.study.language.definition import SCALES, Study
from earlybird.study.statements.verdicts import Holds

SCALE: Final = re.compile(r"at scale \*\*(\w+)\*\*")  # the scale in a study's page
STATEMENT: Final = re.compile(r'\| <a id="(?P<anchor>[^"]+)"></a>\w+ \| (?P<rest>.*) \|')
"""A row of a page's tables of statements."""
ESCAPED: Final = re.compile(r"\\(.)")
SMALL: Final = re.compile(r"<br><sub>([^\[].*?)</sub>")
"""The small text below a cell; text in brackets is a link and no part of it."""


@dataclasses.dataclass(frozen=True, slots=True)
class Printed:
    """A verdict as a page has it."""

    anchor: str
    ours: str
    interval: str
    effect: str
    holds: Holds
    detail: str


def carried_studies(studies: Sequence[Study], made: Container[str], older: Path) -> list[Study]:
    """List the studies that have no results now, and a page in the older publication."""
    return [study for study in studies if study.name not in made and carried_scale(study.name, older)]


def carried_scale(study: str, older: Path) -> str:
    """Return the scale of a page that an older publication has of a study; nothing if it has none."""
    found = SCALE.search(_page(study, older))
    return found[1] if found and found[1] in SCALES else ""


def copy_pages(study: str, older: Path, folder: Path) -> None:
    """Copy a study's pages and pictures from an older publication."""
    for page in (older / f"{study}.md", older / f"{study}-search.md"):
        if page.is_file():
            shutil.copyfile(page, folder / page.name)
    if (older / study).is_dir():
        shutil.copytree(older / study, folder / study)


def with_carried_verdicts(rows: Sequence[Row], kept: Mapping[str, str], older: Path) -> list[Row]:
    """Put older verdicts into the rows of studies that are kept; `kept` has their scales by name."""
    printed = {name: dict(_printed(_page(name, older))) for name in kept}
    return [_kept(row, printed[row.study], kept[row.study]) if row.study in kept else row for row in rows]


def _page(study: str, older: Path) -> str:
    page = older / f"{study}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def _printed(page: str) -> Iterator[tuple[str, Printed]]:
    """Read the verdicts on a page, by statement as the page writes it."""
    for line in page.splitlines():
        if match := STATEMENT.match(line):
            statement, _, ours, effect, outcome = match["rest"].split(" | ")[:5]
            yield statement, Printed(match["anchor"], *_parts(ours), as_text(effect), *_outcome(outcome))


def _parts(cell: str) -> tuple[str, str]:
    """Split a cell into its text and the small text below."""
    small = SMALL.search(cell)
    return as_text(cell.partition("<br>")[0]), as_text(small[1]) if small else ""


def as_text(markdown: str) -> str:
    """Read what `as_markdown` wrote."""
    return unescape(ESCAPED.sub(r"\1", markdown))


def _outcome(cell: str) -> tuple[Holds, str]:
    word, detail = _parts(cell)
    found = [holds for holds, symbol in SYMBOLS.items() if word == f"{symbol} {WORDS[holds]}"]
    return (found[0] if found else "not run"), detail


def _kept(row: Row, printed: Mapping[str, Printed], scale: str) -> Row:
    """Return a row with its older verdict; one whose statement is new is unchanged."""
    old = printed.get(as_markdown(row.verdict.statement)) if row.verdict else None
    if row.verdict is None or old is None:
        return row
    verdict = dataclasses.replace(
        row.verdict, ours=old.ours, interval=old.interval, effect=old.effect, holds=old.holds, detail=old.detail
    )
    return dataclasses.replace(row, verdict=verdict, scale=scale, anchor=old.anchor)
