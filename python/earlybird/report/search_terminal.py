"""The outcome of a search for the terminal, and for other programs."""

from typing import Any

from rich import box
from rich.table import Table

from earlybird.study.search.outcome import Outcome


def search_summary(found: Outcome) -> Table:
    """Make the table of statements: the paper's number, ours in the study's own setting, and in the best."""
    about = found.about
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    table.title = f"{about['study']}: {about['settings']} settings, {about['statements']} statements"
    table.add_column("statement", overflow="fold", ratio=4)
    for title in ("paper", "study's own", "best"):
        table.add_column(title, overflow="fold", ratio=2)
    table.add_column("met by", justify="right")
    for row in found.statements.iter_rows(named=True):
        own, best = (f"{_mark(row[f'{whose}_is_met'])} {row[whose]}" for whose in ("own", "best"))
        paper = " ".join(part for part in (row["paper"], row["tolerance"]) if part)
        table.add_row(row["statement"], paper, own, best, str(row["met_by"]))
    table.caption = "\n".join(_changes(found))
    return table


def _mark(is_met: bool) -> str:  # noqa: FBT001, a cell's value
    return "✓" if is_met else "✗"


def _changes(found: Outcome) -> list[str]:
    """Return the changes of the best setting, the most important parameters first."""
    about = found.about
    rows = found.parameters.sort("importance", descending=True).iter_rows(named=True)
    changed = [
        f"  {row['title']}: {row['best']} (study's own: {row['own']})" for row in rows if row["best"] != row["own"]
    ]
    distances = f"Distance {about['best_distance']:.2f} (study's own setting: {about['default_distance']:.2f})"
    return [f"{distances}, by these changes:" if changed else f"{distances}, the study's own is the best.", *changed]


def search_document(found: Outcome) -> dict[str, Any]:
    """Return an outcome as a document: all but the single trials."""
    tables = {name: getattr(found, name).to_dicts() for name in ("statements", "parameters", "exclusions")}
    return {**found.about, "sentence": found.sentence, **tables}
