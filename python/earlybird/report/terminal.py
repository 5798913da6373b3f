"""A study's answer for the terminal."""

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from earlybird.report.headline import conclusion
from earlybird.report.main_table import Cell, column_titles, main_rows
from earlybird.report.overview import Row, tallies
from earlybird.report.statements import PLURAL, WORDS, statements
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import LEVELS
from earlybird.study.language.register import register
from earlybird.study.statements.verdicts import Holds


def terminal_summary(evaluation: Evaluation) -> Table:
    """Make the main table, 80 columns wide: the paper's numbers, below each ours with its 90 % interval."""
    study = evaluation.study
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    table.title = f"{study.title} ({study.main.item}, {evaluation.scale})"
    table.caption = conclusion(evaluation)
    table.add_column(max_width=16)
    table.add_column()
    for title in column_titles(study):
        table.add_column(title, justify="right", no_wrap=True)
    for heading, rows in main_rows(evaluation).items():
        table.add_row(Text(heading, style="bold"))
        for row in rows:
            if any(cell.ours.count for cell in row.cells):
                table.add_row(f"  {row.title}", "paper", *(cell.paper_text for cell in row.cells), style="dim")
                table.add_row("", "ours", *map(_ours, row.cells))
    return table


def item_summary(evaluation: Evaluation) -> Table:
    """Make a table of the statements about one figure or table, 80 columns wide."""
    study = evaluation.study
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    table.title = f"{study.title} ({study.item}, {evaluation.scale})"
    table.caption = conclusion(evaluation)
    for title in ("statement", "paper", "ours, weakest cell", "verdict"):
        table.add_column(title)
    for each in statements(evaluation.verdicts):
        verdict = each.main
        outcome = f"{WORDS[verdict.holds]}: {verdict.detail}" if verdict.detail else WORDS[verdict.holds]
        table.add_row(verdict.statement, verdict.paper, verdict.ours, outcome)
    return table


def site_summary(rows: Sequence[Row], scale: str) -> Table:
    """Make the table of verdicts per paper."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    table.title = f"Statements of the papers, {scale}"
    table.add_column("paper")
    table.add_column("items", justify="right")
    for level in LEVELS:
        table.add_column(level)
    for paper in tallies(register(), rows):
        cells = (_outcomes(paper.counts[level]) for level in LEVELS)
        table.add_row(paper.letter, str(paper.entries), *cells)
    return table


def _outcomes(counts: Counter[Holds]) -> str:
    return ", ".join(f"{counts[holds]} {word}" for holds, word in PLURAL.items() if counts[holds]) or "–"


def _ours(cell: Cell) -> str:
    return f"{cell.ours_text} ± {cell.half_width_text}" if cell.half_width_text else cell.ours_text
