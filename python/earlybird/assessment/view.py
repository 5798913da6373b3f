"""An assessment on the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from earlybird.assessment.register import excluded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from earlybird.assessment.outcome import Assessment, Row
    from earlybird.assessment.thresholds import Check
    from earlybird.statistics import Estimate

STYLES: Final = {"better": "green", "worse": "red", "like": "", "open": "yellow", "": "dim"}


def render(found: Assessment, checks: Sequence[Check]) -> RenderableType:
    """Draw the table, what is not measured, and the thresholds."""
    parts: list[RenderableType] = [Text(heading(found), style="bold"), table(found)]
    if reasons := reasons_of(found):
        parts.append(Text("\n".join(reasons), style="yellow"))
    parts.append(Text(f"\n{explanation(found)}", style="dim"))
    parts.append(Text(f"\nNot measured: {'; '.join(_excluded())}.", style="dim"))
    if checks:
        parts.append(Text("\n" + "\n".join(check.sentence for check in checks), style=_style_of(checks)))
    return Group(*parts)


def heading(found: Assessment) -> str:
    """Return the result in a sentence."""
    name = f"{found.control} by RFC 9743"
    if not found.others:
        return f"{name}: {len(found.rows)} criteria"
    counts = ", ".join(f"{count} {word}" for word, count in found.counts.items() if count)
    return f"{name}, compared with {found.others[0]}: {counts or 'nothing could be compared'}"


def explanation(found: Assessment) -> str:
    """Return what the columns mean."""
    compared = (
        f"Better, worse: than {found.others[0]}, by more than 5 % (or the criterion's smallest difference) and beyond "
        "chance (5 % false discoveries); like: within that; open: the seeds do not decide. "
        if found.others
        else ""
    )
    read = "Figures with 90 % intervals over the seeds; ↓ smaller and ↑ larger ones are better."
    return f"{read} {compared}{found.runs} runs."


def table(found: Assessment) -> Table:
    """Lay out a line per criterion, at most 80 columns wide."""
    result = Table(box=None, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    result.add_column("RFC", no_wrap=True)
    result.add_column("measured", ratio=1)
    result.add_column(found.control.replace("-", "\n-", 1), justify="right", header_style="bold", no_wrap=True)
    for name in found.others:
        result.add_column(name.replace("-", "\n-", 1), justify="right", no_wrap=True)
    result.add_column("", no_wrap=True)
    for row in found.rows:
        title = Text.assemble(f"{arrow(row)} {row.criterion.title}", (unit(row), "dim"))
        figures = (number(row.figure(name).mean) for name in found.others)
        mark = Text(row.comparison or "–", style=STYLES[row.comparison])
        result.add_row(row.criterion.section, title, interval(row.figure(found.control)), *figures, mark)
    return result


def arrow(row: Row) -> str:
    """Return which figures are better."""
    return "↓" if row.criterion.better == "smaller" else "↑"


def unit(row: Row) -> str:
    """Return the unit behind a title."""
    return f" ({row.criterion.unit})" if row.criterion.unit else ""


def number(value: float) -> str:
    """Write a figure with three significant digits."""
    if not math.isfinite(value):
        return "–"
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{min(max(digits, 0), 3)}f}"


def interval(found: Estimate) -> str:
    """Write a figure and half of its interval."""
    figure = number(found.mean)
    if not math.isfinite(found.mean) or not found.is_bounded:
        return figure
    return f"{figure} ±{found.half_width:.{len(figure.partition('.')[2])}f}"


def reasons_of(found: Assessment) -> list[str]:
    """Return why congestion controls have no figures, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for row in found.rows:
        for name, reason in row.reasons.items():
            by_reason.setdefault(f"{name}: {reason}", []).append(row.criterion.section)
    return [f"Not measured in {', '.join(dict.fromkeys(where))}: {why}" for why, where in by_reason.items()]


def _excluded() -> list[str]:
    return [f"{one.section} {one.title}" for one in excluded()]


def _style_of(checks: Sequence[Check]) -> str:
    return "green" if all(check.holds for check in checks) else "red"
