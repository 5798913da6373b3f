"""Progress of long work: a bar on a terminal, else a line now and then, on the error stream."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeAlias

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Report: TypeAlias = Callable[[int, int], None]
    """A function that is called with the number of runs that are done, and of all; what it raises ends the work."""

BETWEEN_LINES = 10.0  # seconds between two lines where there is no terminal

WORTH_A_BAR = 1.0  # seconds of a run before it gets a bar


class Advance(Protocol):
    """A callback that advances a progress bar."""

    def __call__(self, *, work: float = 1.0, found: int = 0) -> None:
        """Count one run that was made, and its part of the work; or so many that were found made."""


@contextmanager
def progress_bar(
    total: int, done: int = 0, *, work: float | None = None, visible: bool | Report = True, what: str = "simulating"
) -> Iterator[Advance]:
    """
    Show how many runs are done: a bar on a terminal, else a line every ten seconds, on the error stream.

    `work` is all that is to be done, in the unit in which runs count it (default: each counts 1): what is left of it
    tells the time left. A function in place of `visible` is called instead. Yields what is called after each run.
    """
    if callable(visible):
        yield _reported(total, done, visible)
        return
    if not visible or done == total:
        yield lambda **_: None
        return
    rate, console = RateColumn(total - done if work is None else work), Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total, completed=done)

        def advance(*, work: float = 1.0, found: int = 0) -> None:
            if found:
                rate.leave_out(found)
            else:
                rate.count(work)
            progress.advance(task, found or 1)

        def line() -> str:
            state = progress.tasks[task]
            return f"{what}: {state.completed:.0f} of {total} {rate.render(state)}"

        with _lines(line, wanted=not console.is_terminal):
            yield advance


def _reported(total: int, done: int, report: Report) -> Advance:
    """Return what reports the progress to a function, to which it tells the beginning at once."""
    count = itertools.count(done + 1)
    report(done, total)
    return lambda **_: report(next(count), total)


@contextmanager
def share_bar(what: str = "simulating") -> Iterator[Callable[[float], None]]:
    """Show the share done of one run that takes longer than a moment; yields what is called with it, 0 to 1."""
    console, begun = Console(stderr=True), time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=console, disable=not console.is_terminal, transient=True)
    task = progress.add_task(what, total=1.0)

    def advance(done: float) -> None:
        if not progress.live.is_started and time.monotonic() - begun > WORTH_A_BAR:
            progress.start()
        progress.update(task, completed=done)

    def line() -> str:
        done, elapsed = progress.tasks[task].completed, time.monotonic() - begun
        left = f", {timedelta(seconds=round(elapsed * (1 - done) / done))} left" if done else ""
        return f"{what}: {100 * done:.0f} % done{left}"

    try:
        with _lines(line, wanted=not console.is_terminal):
            yield advance
    finally:
        progress.stop()


@contextmanager
def _lines(line: Callable[[], str], *, wanted: bool) -> Iterator[None]:
    """Write a line to the error stream every ten seconds from a thread of its own, whatever the work does."""
    if not wanted:
        yield
        return
    ended = threading.Event()

    def write() -> None:
        while not ended.wait(BETWEEN_LINES):
            print(f"earlybird: {line()}", file=sys.stderr, flush=True)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class RateColumn(ProgressColumn):
    """Runs per second, or per minute when they are slow, since the start; and the time that the work left takes."""

    def __init__(self, work: float) -> None:
        super().__init__()
        self.runs, self.work_done, self.work_left = 0, 0.0, work

    def count(self, work: float) -> None:
        """Count a run that was made."""
        self.runs += 1
        self.work_done += work
        self.work_left -= work

    def leave_out(self, runs: int) -> None:
        """Remove runs that need not be made, each of which counts 1, from the work."""
        self.work_left -= runs

    def render(self, task: Task) -> Text:
        """Write the rate of one task."""
        elapsed = task.elapsed
        if not self.runs or not elapsed:
            return Text("runs")
        left = timedelta(seconds=round(max(0.0, self.work_left) * elapsed / self.work_done))
        rate = self.runs / elapsed
        return Text(f"runs, {rate:.1f}/s, {left} left" if rate >= 1 else f"runs, {rate * 60:.1f}/min, {left} left")
