"""Representations of results in shells: text that fits a terminal of 80 columns and 24 lines."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from earlybird.columns import summary_rows
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from earlybird import compare_view, recommendation
    from earlybird.compare import Comparison
    from earlybird.notebook import Picture
    from earlybird.result import Result
    from earlybird.sweeps import SweepResult
else:
    compare_view = LateModule("earlybird.compare_view")
    recommendation = LateModule("earlybird.recommendation")

COLUMNS: Final = 80
LINES: Final = 24
MOST_VALUES: Final = 12  # values of a key of a sweep's grid that are shown


def fitted(lines: Iterable[str]) -> str:
    """Cut lines that are wider than a terminal, and those that do not fit on it."""
    shown = [line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…" for line in lines]
    hidden = len(shown) - LINES + 1
    return "\n".join(shown if hidden <= 1 else [*shown[: LINES - 1], f"… {hidden} more lines"])


def result_text(result: Result) -> str:
    """Show a run: what it was, and the main numbers of its summary."""
    title = result.scenario.get("title", "Scenario without a title")
    length = f", {result.scenario['duration']}" if "duration" in result.scenario else ""
    rows = [(column.title, column.cell(result.summary[column.key])) for column in summary_rows(result.summary)]
    tables = textwrap.wrap(f"Tables: {', '.join(result.tables)}", COLUMNS)
    return fitted([f"Result: {title} (seed {result.seed}{length})", *_aligned(rows), *tables])


def sweep_text(sweep: SweepResult) -> str:
    """Show a sweep: its grid, its seeds, and where its results are. No file is read."""
    awaited = f", {sweep.awaited} of other shards are missing" if sweep.awaited else ""
    first = f"SweepResult: {len(sweep.planned)} runs, {sweep.made} made now{awaited}, in {sweep.store.root}"
    values: dict[str, dict[str, None]] = {}
    for run in sweep.planned:
        for key, value in {**run.parameters, "seed": run.seed}.items():
            values.setdefault(key, {})[str(value)] = None
    rows = [(key, _listed([*each])) for key, each in values.items()]
    hint = "runs: a row per run; table(NAME): a table of all runs; plot(): a measure along the grid"
    return fitted([first, *_aligned(rows), *textwrap.wrap(hint, COLUMNS)])


def comparison_text(comparison: Comparison) -> str:
    """Show a comparison: the film, the network, and what is recommended."""
    film = f"Comparison: {comparison.source.path.name} under {', '.join(comparison.transports)}"
    texts = (film, compare_view.circumstances(comparison), recommendation.recommendation(comparison))
    return fitted(line for text in texts for line in textwrap.wrap(text, COLUMNS))


def picture_text(picture: Picture) -> str:
    """Show the title of a picture, and what is not in it."""
    lines = (f"Picture: {picture.chart.title or 'without a title'}", *picture.lacking)
    return fitted(line for text in lines for line in textwrap.wrap(text, COLUMNS))


def _aligned(rows: list[tuple[str, str]]) -> Iterator[str]:
    """Write rows of two columns."""
    width = max((len(name) for name, _ in rows), default=0)
    return (f"  {name:{width}}  {value}" for name, value in rows)


def _listed(values: list[str]) -> str:
    """Write the values of a key of the grid; of many the first and the last."""
    if len(values) <= MOST_VALUES:
        return ", ".join(values)
    return f"{', '.join(values[:3])}, …, {values[-1]} ({len(values)} values)"
