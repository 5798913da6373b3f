"""The progress bar of long work: how much is done, how fast, how long it still takes."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text


class Advance(Protocol):
    """Moves a progress bar on."""

    def __call__(self, found: int = 0) -> None:
        """Count one run that was made, or so many that were found made."""


@contextmanager
def progress_bar(total: int, done: int = 0, *, visible: bool = True, what: str = "simulating") -> Iterator[Advance]:
    """
    Show a progress bar on the terminal's error stream.

    Parameters
    ----------
    total
        Number of runs.
    done
        Number of runs that need not be made.
    visible
        Whether to show it at all.
    what
        The word before the bar.

    Yields
    ------
    Advance
        To be called after each run.
    """
    if not visible or done == total:
        yield lambda *_: None
        return
    rate = RateColumn(done)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=total, completed=done)

        def advance(found: int = 0) -> None:
            rate.found_before(found, progress.tasks[task])
            progress.advance(task, found or 1)

        yield advance


class RateColumn(ProgressColumn):
    """Runs per second, or per minute when they are slow, since the start; and the time left at this rate."""

    def __init__(self, done_before: int) -> None:
        super().__init__()
        self.done_before = done_before

    def found_before(self, runs: int, task: Task) -> None:
        """Take runs that need not be made out of the rate, as long as none had to be made."""
        if task.completed == self.done_before:
            self.done_before += runs

    def render(self, task: Task) -> Text:
        """Write the rate of one task."""
        made, elapsed = task.completed - self.done_before, task.elapsed
        if not made or not elapsed:
            return Text("runs")
        rate, left = made / elapsed, timedelta(seconds=round((task.remaining or 0) * elapsed / made))
        return Text(f"runs, {rate:.1f}/s, {left} left" if rate >= 1 else f"runs, {rate * 60:.1f}/min, {left} left")
