"""The outcome of checking an archive, for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from rich import box
from rich.table import Table

from earlybird.console import Console

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from earlybird.study.archive.checking import Check
    from earlybird.study.archive.comparison import Difference
    from earlybird.study.archive.rerun import Rerun

SHOWN: Final = 30  # rows of a table; JSON has all


def show_check(check: Check) -> None:
    """Print what was checked and what differs."""
    console = Console()
    for line in sentences(check):
        console.print(line, highlight=False, soft_wrap=True)
    if check.different:
        console.print(_runs(check.different))
    if check.judgement.revisions:
        console.print(_verdicts(check))


def sentences(check: Check) -> Iterator[str]:
    """Return a line for each thing that was checked, and last the outcome."""
    archive, about = check.archive, check.archive.about
    commit = f", commit {about['commit']}" if about.get("commit") else ""
    yield f"Fingerprint: {archive.fingerprint}"
    yield f"{', '.join(archive.studies)} at scale {archive.scale}, made by earlybird {about['earlybird']}{commit}"
    yield f"Files: all {len(archive.container.members)} are what they were."
    judged = check.judgement
    changed = {(each.study, each.item, each.statement, each.variant) for each in judged.revisions}
    yield f"Verdicts: {judged.verdicts - len(changed)} of {judged.verdicts} are the same from the archive's results."
    yield f"Definition: {_of_definition(check)}"
    yield f"Runs: {_repeated(check)}"
    outcome = "The archive holds what this program gives." if check.is_equal else "This program gives something else."
    yield f"{outcome}{_of_other_code(check)}"


def _of_definition(check: Check) -> str:
    if not (misplaced := check.judgement.misplaced):
        return "every result is of the run that the study asks for."
    return f"{len(misplaced)} results are of other runs than the study asks for, such as that of {_name(misplaced[0])}."


def _repeated(check: Check) -> str:
    sample = check.sample
    if not check.reruns:
        return f"none of {sample.every} repeated.{_in_real_time(check)}"
    drawn = f"{sample.count} of {sample.every}, drawn with seed {sample.seed},"
    some = drawn if sample.count < sample.every else f"all {sample.every}"
    to_the_byte = sum(each.same_bytes for each in check.reruns)
    in_numbers = len(check.reruns) - to_the_byte - len(check.different)
    numbers = f", {in_numbers} the same in all numbers" if in_numbers else ""
    same = f"{to_the_byte} the same to the last byte{numbers}"
    return f"{some} repeated: {same}, {len(check.different)} different.{_in_real_time(check)}"


def _in_real_time(check: Check) -> str:
    return f" {check.in_real_time} took place in real time and cannot be repeated." if check.in_real_time else ""


def _of_other_code(check: Check) -> str:
    """Return a sentence if the versions differ."""
    if all(each.same_code for each in check.reruns):
        return ""
    return " Another code version made it (or another polars wrote it), so numbers were compared, not bytes."


def _runs(different: Sequence[Rerun]) -> Table:
    """List what differs of which run: where it differs most, if it does in several rows."""
    table = _table("Runs that differ", "run", "quantity", "archive", "here", "difference", "values")
    rows = [(run, found) for run in different for found in run.differences]
    for run, found in rows[:SHOWN]:
        table.add_row(_name(run.runs[0]), found.quantity, *_values(found), str(found.values))
    return _with_rest(table, len(rows))


def _verdicts(check: Check) -> Table:
    table = _table("Verdicts that differ", "statement", "column", "archive", "here")
    for each in check.judgement.revisions[:SHOWN]:
        statement = " · ".join(part for part in (each.study, each.item, each.statement, each.variant) if part)
        table.add_row(statement, each.column, each.archived, each.recomputed)
    return _with_rest(table, len(check.judgement.revisions))


def _table(title: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", caption_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _with_rest(table: Table, rows: int) -> Table:
    if rows > SHOWN:
        table.caption = f"{rows - SHOWN} more rows; --json has all."
    return table


def _name(run: Mapping[str, Any]) -> str:
    axes = "".join(f", {name} {value}" for name, value in run["axes"].items())
    return f"{run['study']}/{run['part']}{axes}, seed {run['seed']} ({run['key']})"


def _values(found: Difference) -> tuple[str, str, str]:
    place = f" ({found.place})" if found.place else ""
    return f"{found.archived}{place}", str(found.repeated), "" if math.isnan(found.size) else f"{found.size:.6g}"
