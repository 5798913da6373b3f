"""
Send a file, speech or a film over PERT or CUBIC beside a transfer over CUBIC, simulated and over this machine's TCP.

    earlybird kernel load pert
    python tools/beside_cubic.py --at-once 6 --write    # makes what runs are missing, and writes docs/beside-cubic.md

After Ctrl-C the same command goes on. Runs that the machine disturbed are thrown away and repeated.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from matplotlib.figure import Figure

from backends import LOADED, measure, write
from earlybird.plots.style import PAPER, look
from earlybird.statistics import Estimate, student_interval
from earlybird.store import Store
from earlybird.sweeps import PlannedRun, complete, plan
from generated import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from earlybird.result import Result

SCENARIO = REPOSITORY / "scenarios" / "pert-beside-cubic.toml"
PAGE = REPOSITORY / "docs" / "beside-cubic.md"
PICTURE = REPOSITORY / "docs" / "images" / "beside-cubic.png"
THINGS = {"file": "a file", "speech": "300 kb/s", "film": "4 Mb/s"}
"""What is sent beside the transfer, and how a reader is told."""
QUEUES = ("0.5 BDP", "1 BDP", "2 BDP", "CoDel")
SENDERS = ("pert", "cubic")
BACKENDS = {"kernel": "Linux", "sim": "simulated"}


@dataclass(frozen=True)
class Cell:
    """Two flows over a link, in a backend."""

    what: str
    queue: str
    sender: str
    backend: str = "kernel"

    def plan(self, seeds: int) -> list[PlannedRun]:
        """List its runs."""
        return plan(SCENARIO, seeds=seeds, overrides=vars(self))


def _of_flow(result: Result, group: str, column: str) -> float:
    return float(result.table("flows").filter(pl.col("group") == group)[column].item())


def _of_link(result: Result, column: str) -> float:
    return float(result.table("links").filter(pl.col("link") == "server-viewer")[column].item())


@dataclass(frozen=True)
class Quantity:
    """What is measured of a run."""

    title: str
    of: Callable[[Result], float]
    digits: int


OURS = Quantity("ours, Mb/s", lambda result: _of_flow(result, "ours", "throughput_bps") / 1e6, 2)
RIVAL = Quantity("transfer, Mb/s", lambda result: _of_flow(result, "rival", "throughput_bps") / 1e6, 2)
QUEUE = Quantity("queue, mean, ms", lambda result: _of_link(result, "mean_wait_ms"), 1)
DROPS = Quantity("dropped, %", lambda result: 100 * _of_link(result, "drop_rate"), 3)
LATE = Quantity("late, %", lambda result: 100 * _of_flow(result, "ours", "lost_share"), 1)


def quantities(what: str) -> tuple[Quantity, ...]:
    """List what of a cell is told: a file is never late."""
    return (OURS, RIVAL, QUEUE, DROPS) if what == "file" else (OURS, RIVAL, QUEUE, DROPS, LATE)


Results = dict[Cell, list["Result"]]


def estimate(results: Results, cell: Cell, quantity: Quantity) -> Estimate:
    """Give a mean with its 90 % interval."""
    return student_interval([quantity.of(result) for result in results[cell]])


def _text(results: Results, cell: Cell, quantity: Quantity) -> str:
    made = estimate(results, cell, quantity)
    return f"{made.mean:.{quantity.digits}f} ± {made.half_width:.{quantity.digits}f}"


def table(results: Results, what: str) -> list[str]:
    """Write a row for each queue, sender and backend."""
    columns = quantities(what)
    head = ["queue", "sender", "", *(quantity.title for quantity in columns)]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for queue, sender, (backend, name) in product(QUEUES, SENDERS, BACKENDS.items()):
        cell = Cell(what, queue, sender, backend)
        first = [queue, sender.upper()] if backend == "kernel" else ["", ""]
        lines.append(f"| {' | '.join([*first, name, *(_text(results, cell, quantity) for quantity in columns)])} |")
    return lines


def _lines(axes: Axes, results: Results, what: str, quantity: Quantity) -> None:
    """Draw a quantity over the queues: a line for each sender and backend."""
    for offset, (sender, backend) in enumerate(product(SENDERS, BACKENDS)):
        made = [estimate(results, Cell(what, queue, sender, backend), quantity) for queue in QUEUES]
        axes.errorbar(
            [place + 0.06 * (offset - 1.5) for place in range(len(QUEUES))],
            [point.mean for point in made],
            yerr=[point.half_width for point in made],
            color=look(sender).colour,
            marker=look(sender).marker,
            markerfacecolor={"kernel": look(sender).colour, "sim": PAPER}[backend],
            linestyle={"kernel": "-", "sim": ":"}[backend],
            linewidth=1,
            label=f"{sender.upper()}, {BACKENDS[backend]}",
        )
    axes.set(title=f"{THINGS[what]}: {quantity.title}", xticks=range(len(QUEUES)), xticklabels=QUEUES, ylim=(0, None))


def draw(results: Results) -> None:
    """Draw what a file gets, the queue beside it, and what of speech and film is late."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = (("file", OURS), ("file", QUEUE), ("speech", LATE), ("film", LATE))
    axes = figure.subplots(2, 2).flat
    for place, (what, quantity) in zip(axes, panels, strict=True):
        _lines(place, results, what, quantity)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(PICTURE, dpi=80)


def timing(results: Results) -> str:
    """Say how exact the links were."""
    real = [result for cell, made in results.items() if cell.backend == "kernel" for result in made]
    late = sorted(result.summary["added_delay_p99_us"] for result in real)
    middle, worst = late[len(late) // 2], late[-1]
    return f"Of {len(late)} runs, links were late by {middle:.0f} µs (1 %, median) and {worst:.0f} µs at worst."


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="over Linux, each")
    parser.add_argument("--seeds", type=int, default=40, help="simulated, each")
    parser.add_argument("--at-once", type=int, default=1, help="runs over Linux side by side")
    parser.add_argument("--attempts", type=int, default=6, help="at runs that are disturbed; 0: make none")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "results" / "beside-cubic")
    parser.add_argument("--write", action="store_true", help="into docs")
    options = parser.parse_args()
    if "pert" not in LOADED.read_text().split():
        parser.error("this kernel has no PERT: load it as root, `earlybird kernel load pert`")
    store = Store(options.out).open()
    real = [Cell(*which) for which in product(THINGS, QUEUES, SENDERS)]
    planned = {cell: cell.plan(options.runs) for cell in real}
    disturbed = measure([run for runs in planned.values() for run in runs], store, options.at_once, options.attempts)
    planned |= {cell: cell.plan(options.seeds) for cell in (replace(cell, backend="sim") for cell in real)}
    complete([run for cell, runs in planned.items() if cell.backend == "sim" for run in runs], out=options.out)
    results = {cell: [store.load(run.key) for run in runs if store.has(run.key)] for cell, runs in planned.items()}
    tables = {what: table(results, what) for what in THINGS}
    print(*(line for lines in tables.values() for line in [*lines, ""]), sep="\n")
    print(timing(results), f"{disturbed} runs were disturbed and thrown away.")
    if options.write:
        page = PAGE.read_text()
        for what, lines in tables.items():
            page = write(page, what, lines)
        PAGE.write_text(page)
        draw(results)


if __name__ == "__main__":
    main()
