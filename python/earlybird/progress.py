"""The progress bar of long work: how much is done, how fast, how long it still takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

MEMORY_S = 600.0
"""The rate is the mean over this time: a single run may take half a minute."""


@contextmanager
def progress_bar(
    total: int, done: int = 0, *, visible: bool = True, what: str = "simulating"
) -> Iterator[Callable[[], None]]:
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
    Callable
        To be called after each run.
    """
    if not visible or done == total:
        yield lambda: None
        return
    with Progress(*_columns(), console=Console(stderr=True), speed_estimate_period=MEMORY_S) as progress:
        task = progress.add_task(what, total=total, completed=done)
        yield lambda: progress.advance(task)


class RateColumn(ProgressColumn):
    """Runs per second, or per minute when they are slow."""

    def render(self, task: Task) -> Text:
        """Write the rate of one task."""
        rate = task.finished_speed or task.speed
        if not rate:
            return Text("– runs/s")
        return Text(f"{rate:.1f} runs/s" if rate >= 1 else f"{rate * 60:.1f} runs/min")


def _columns() -> list[ProgressColumn]:
    return [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        TextColumn("left"),
    ]
