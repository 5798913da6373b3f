"""Representations of results in notebooks: short tables in HTML, and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from earlybird.columns import summary_rows, sweep_columns
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from earlybird import compare_view, text_view
    from earlybird import recommendation as recommendations
    from earlybird.compare import Comparison
    from earlybird.plots import run, vega
    from earlybird.plots.chart import Chart
    from earlybird.result import Result
    from earlybird.sweeps import SweepResult
else:
    compare_view = LateModule("earlybird.compare_view")
    run = LateModule("earlybird.plots.run")
    vega = LateModule("earlybird.plots.vega")
    recommendations = LateModule("earlybird.recommendation")
    text_view = LateModule("earlybird.text_view")

MOST_POINTS: Final = 30  # rows of a sweep that are shown


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture that notebooks show; `lacking` has a sentence for each quantity that was not measured."""

    chart: Chart
    lacking: tuple[str, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write the picture to a file that ends in ``.png`` or ``.svg``."""
        run.write(path, self.chart, (".png", ".svg"))

    @property
    def specification(self) -> dict[str, Any]:
        """The picture in Vega-Lite, which Altair reads with `altair.Chart.from_dict`."""
        return vega.specification(self.chart)

    def __repr__(self) -> str:
        """Show itself in a shell: its title, and what is not in it."""
        return text_view.picture_text(self)

    def _repr_png_(self) -> bytes:
        """Return the picture as notebooks ask for it."""
        return vega.drawn(self.chart, "png")


def result_html(result: Result) -> str:
    """Show a run: what it was, and the main numbers of its summary."""
    title = result.scenario.get("title", "Scenario without a title")
    length = f", {result.scenario['duration']}" if "duration" in result.scenario else ""
    rows = [[column.title, column.cell(result.summary[column.key])] for column in summary_rows(result.summary)]
    note = f"Tables: {', '.join(result.tables)}."
    return html_table(f"{title} (seed {result.seed}{length})", [], rows, [note])


def sweep_html(sweep: SweepResult) -> str:
    """Show a sweep: a row per point of its grid, with means over the seeds and their intervals."""
    if not sweep.planned:
        return html_table("A sweep without runs", [], [], [])
    runs, grid = sweep.runs, [*sweep.planned[0].parameters]
    columns = sweep_columns(runs.columns)
    points = [*runs.group_by(grid, maintain_order=True)] if grid else [((), runs)]
    rows = [
        [*map(str, values), *(column.mean_cell(group[column.key].drop_nulls().to_list()) for column in columns)]
        for values, group in points[:MOST_POINTS]
    ]
    rest = len(points) - len(rows)
    notes = [f"{rest} more points are in `runs`."] if rest else []
    title = f"{runs.height} runs: means, with 90 % intervals over the seeds where there are several"
    return html_table(title, [*grid, *(column.title for column in columns)], rows, notes)


def comparison_html(comparison: Comparison) -> str:
    """Show a comparison: a column per transport, and what is recommended."""

    def rows() -> Iterator[list[str]]:
        for title, section in compare_view.SECTIONS.items():
            yield [title]
            for row in section:
                yield [
                    row.label,
                    *(compare_view.cell(comparison, row, transport).plain for transport in comparison.transports),
                ]

    film = comparison.source.path.name
    notes = [compare_view.circumstances(comparison), recommendations.recommendation(comparison)]
    return html_table(
        f"{film} under {len(comparison.transports)} transports", ["", *comparison.transports], rows(), notes
    )


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """Write a plain table in HTML, its texts escaped; a row of one text is a heading, notes stand below."""
    head = f"<thead><tr>{''.join(map(_heading, headings))}</tr></thead>" if headings else ""
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    below = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return f"<div><table><caption>{_text(caption)}</caption>{head}<tbody>{body}</tbody></table>{below}</div>"


def _cells(row: Sequence[str]) -> str:
    """Write the cells of a row."""
    first, *others = row
    return _heading(first) + "".join(f'<td style="text-align: right">{_text(text)}</td>' for text in others)


def _heading(text: str) -> str:
    return f'<th style="text-align: left">{_text(text)}</th>'


def _text(text: str) -> str:
    return escape(text).replace("\n", "<br>")
