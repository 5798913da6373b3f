"""Pages and verdicts of an older publication, carried over for studies that have no results now."""

import dataclasses
import re
import shutil
from collections.abc import Container, Iterator, Mapping, Sequence
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, get_args

import polars as pl

from earlybird.report.overview import Row
from earlybird.report.statements import EXPLAINED, check_anchor, evidence_anchors, item_anchor, panel_anchor
from earlybird.report.writer import VERDICTS
from earlybird.study.language.definition import SCALES, Study
from earlybird.study.language.items import Check
from earlybird.study.statements.reasons import Evidence, Reason
from earlybird.study.statements.verdicts import Holds

SCALE: Final = re.compile(r"at scale \*\*(\w+)\*\*")  # the scale in a study's page
VERSION: Final = re.compile(r"Code version `(\w+)`")
ESCAPED: Final = re.compile(r"\\(.)")
OWN: Final = "[All papers](README.md"  # the first line of the page of a study; pages of other programs lack it


def carried_studies(studies: Sequence[Study], made: Container[str], older: Path) -> list[Study]:
    """List the studies that have no results now, and a page in the older publication."""
    return [study for study in studies if study.name not in made and carried_scale(study.name, older)]


def carried_scale(study: str, older: Path) -> str:
    """Return the scale of a page that an older publication has of a study; nothing if it has none."""
    found = SCALE.search(_page(study, older))
    return found[1] if found and found[1] in SCALES else ""


def carried_answer(study: str, older: Path) -> tuple[str, str]:
    """Return the answer in a study's page, and how many of its statements hold, as text."""
    verdicts = older / "papers" / "verdicts.md"
    about = verdicts.read_text(encoding="utf-8").partition(f"](../{study}.md)\n")[2].partition("\n#")[0]
    return _line(r"> (.*)", _page(study, older)), _line(r"(Musts: .*)", about)


def _line(pattern: str, page: str) -> str:
    """Return the text of the first line of a page that has a pattern."""
    found = re.search(f"^{pattern}$", page, re.MULTILINE)
    return unescape(ESCAPED.sub(r"\1", found[1])) if found else ""


def carried_version(older: Path) -> str:
    """Return the code version of an older publication."""
    found = VERSION.search((older / "README.md").read_text(encoding="utf-8"))
    return found[1] if found else ""


def copy_pages(study: str, older: Path, folder: Path) -> None:
    """Copy a study's pages and pictures from an older publication."""
    for page in (older / f"{study}.md", older / f"{study}-search.md"):
        if page.is_file():
            shutil.copyfile(page, folder / page.name)
    if (older / study).is_dir():
        shutil.copytree(older / study, folder / study)


def copy_pages_of_others(older: Path, folder: Path) -> None:
    """Copy the pages that another program wrote beside an older publication."""
    for page in older.glob("*.md"):
        is_own = page.name == "README.md" or page.read_text(encoding="utf-8").startswith(OWN)
        if not is_own and not (folder / page.name).exists():
            shutil.copyfile(page, folder / page.name)


def with_carried_verdicts(rows: Sequence[Row], kept: Sequence[Study], older: Path) -> list[Row]:
    """Put the verdicts of an older publication into the rows of studies that are kept."""
    if not kept or not (older / VERDICTS).is_file():
        return list(rows)
    studies = {study.name: study for study in kept}
    table = pl.read_csv(older / VERDICTS, infer_schema=False).fill_null("")
    printed = {(one["study"], one["id"], one["statement"]): one for one in table.iter_rows(named=True)}
    return [_kept(row, studies.get(row.study), printed, older) for row in rows]


def _page(study: str, older: Path) -> str:
    page = older / f"{study}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def _kept(row: Row, study: Study | None, printed: Mapping[tuple[str, str, str], Mapping[str, str]], older: Path) -> Row:
    """Return a row with its older verdict; one whose statement is new is unchanged."""
    old = printed.get((row.study, row.verdict.id, row.verdict.statement)) if row.verdict else None
    if row.verdict is None or old is None or study is None:
        return row
    stated: dict[str, Any] = {name: old[name] for name in ("ours", "interval", "effect", "detail")}
    outcome: Any = old["verdict"] if old["verdict"] in get_args(Holds) else "not run"
    verdict = dataclasses.replace(row.verdict, holds=outcome, **stated)
    anchor = check_anchor(verdict.id) if verdict.id else item_anchor(verdict.item)
    reason = _reason(study, verdict.id, old)
    about = {"others": old["other_settings"], "scale": old["scale"], "panel": _panel(study, verdict.id, older)}
    changed: dict[str, Any] = {**about, "anchor": anchor, "reason": reason, "evidence": evidence_anchors(reason)}
    return dataclasses.replace(row, verdict=verdict, **changed)


def _panel(study: Study, check: str, older: Path) -> str:
    """Return the anchor of the last panel on a check; nothing if the older page has none."""
    panels = [panel_anchor(panel.name) for item in study.items for panel in item.panels if panel.check == check]
    return panels[-1] if panels and f'id="{panels[-1]}"' in _page(study.name, older) else ""


def _reason(study: Study, name: str, old: Mapping[str, str]) -> Reason | None:
    """Read the reason of a verdict, if it has one."""
    check = next((check for item in study.items for check in item.checks if check.id == name), None)
    if check is None or not old["why"]:
        return None
    is_shown = old["explained"] == EXPLAINED
    return Reason(old["why"], tuple(_evidence(study, check, old["shown_by"], is_shown=is_shown)))


def _evidence(study: Study, check: Check, shown: str, *, is_shown: bool) -> Iterator[Evidence]:
    """Split the evidence of a reason at its titles, which the study has; that of a cause is the first."""
    titles = {panel.name: panel.title for item in study.items for panel in item.panels}
    statements = {each.id: each.statement for item in study.items for each in item.checks}
    named = {name: titles.get(name) or statements[name] for name in check.shown_by}
    starts = [*sorted((shown.find(f"{title} – "), name) for name, title in named.items()), (len(shown) + 2, "")]
    cause, _, found = shown[: max(0, starts[0][0] - 2)].partition(" – ")
    if found:
        yield Evidence(check.id, cause, found, is_panel=False, is_shown=is_shown)
    for (start, name), (end, _) in pairwise(starts):
        if start >= 0:
            outcome = shown[start + len(named[name]) + 3 : end - 2]
            yield Evidence(name, named[name], outcome, is_panel=name in titles, is_shown=is_shown)
