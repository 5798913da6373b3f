"""A study's answer for the terminal."""

from rich import box
from rich.markup import escape
from rich.table import Table

from earlybird.report.headline import conclusion
from earlybird.report.main_table import Cell, column_titles, main_rows
from earlybird.study.evaluation import Evaluation


def terminal_summary(evaluation: Evaluation) -> Table:
    """
    Make the main table: the paper's numbers, and below each ours with its 90 % interval.

    Parameters
    ----------
    evaluation
        A study's results.

    Returns
    -------
    rich.table.Table
        To be printed with a `rich.console.Console`; 80 columns are enough.
    """
    study = evaluation.study
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")
    table.title = escape(f"{study.title} ({study.main.item}, {evaluation.scale})")
    table.caption = escape(conclusion(evaluation))
    table.add_column(max_width=16)
    table.add_column()
    for title in column_titles(study):
        table.add_column(title, justify="right", no_wrap=True)
    for heading, rows in main_rows(evaluation).items():
        table.add_row(f"[bold]{escape(heading)}[/]")
        for row in rows:
            if any(cell.ours.count for cell in row.cells):
                table.add_row(f"  {row.title}", "paper", *(cell.paper_text for cell in row.cells), style="dim")
                table.add_row("", "ours", *map(_ours, row.cells))
    return table


def _ours(cell: Cell) -> str:
    return f"{cell.ours_text} ± {cell.half_width_text}" if cell.half_width_text else cell.ours_text
