"""
Send a file, speech or a film over PERT or CUBIC beside a transfer over CUBIC, simulated and over this machine's TCP.

    earlybird kernel load pert
    python tools/beside_cubic.py --parallel 6 --write    # makes what runs are missing, and writes docs/beside-cubic.md

After Ctrl-C the same command goes on. Runs that the machine disturbed are thrown away and repeated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import polars as pl

from earlybird.plots.chart import Axis, Chart, Curve, Panel
from earlybird.plots.style import DOTTED, SOLID, transport_style
from earlybird.statistics import Estimate, student_interval
from earlybird.sweeps import PlannedRun, plan
from generated import REPOSITORY
from measured import LOADED, markdown, mean_text, options, publish, results_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from earlybird.result import Result

SCENARIO = REPOSITORY / "scenarios" / "pert-beside-cubic.toml"
PAGE = REPOSITORY / "docs" / "beside-cubic.md"
PICTURE = REPOSITORY / "docs" / "images" / "beside-cubic.png"
THINGS = {"file": "a file", "speech": "300 kb/s", "film": "4 Mb/s"}  # by application beside the transfer, its title
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
    """A metric of a run."""

    title: str
    of: Callable[[Result], float]
    digits: int


OURS = Quantity("ours, Mb/s", lambda result: _of_flow(result, "ours", "throughput_bps") / 1e6, 2)
RIVAL = Quantity("transfer, Mb/s", lambda result: _of_flow(result, "rival", "throughput_bps") / 1e6, 2)
QUEUE = Quantity("queue, mean, ms", lambda result: _of_link(result, "mean_queue_delay_ms"), 1)
DROPS = Quantity("dropped, %", lambda result: 100 * _of_link(result, "drop_rate"), 3)
LATE = Quantity("late, %", lambda result: 100 * _of_flow(result, "ours", "lost_share"), 1)


def quantities(what: str) -> tuple[Quantity, ...]:
    """List what of a cell is told: a file is never late."""
    return (OURS, RIVAL, QUEUE, DROPS) if what == "file" else (OURS, RIVAL, QUEUE, DROPS, LATE)


Results = dict[Cell, list["Result"]]


def estimate(results: Results, cell: Cell, quantity: Quantity) -> Estimate:
    """Return a mean with its 90 % interval."""
    return student_interval([quantity.of(result) for result in results[cell]])


def table(results: Results, what: str) -> list[str]:
    """Return a row for each queue, sender and backend."""
    columns, rows = quantities(what), []
    for queue, sender, (backend, name) in product(QUEUES, SENDERS, BACKENDS.items()):
        cell = Cell(what, queue, sender, backend)
        first = [queue, sender.upper()] if backend == "kernel" else ["", ""]
        rows.append([*first, name, *(mean_text(estimate(results, cell, each), each.digits) for each in columns)])
    return markdown(["queue", "sender", "", *(quantity.title for quantity in columns)], rows)


def chart(results: Results) -> Chart:
    """Show the rate of a file, the queue beside it, and the late share of speech and film."""
    shown = (("file", OURS), ("file", QUEUE), ("speech", LATE), ("film", LATE))
    panels = [Panel(f"{THINGS[what]}: {each.title}", tuple(_lines(results, what, each))) for what, each in shown]
    places = {float(place): queue for place, queue in enumerate(QUEUES)}
    return Chart(tuple(panels), Axis(ticks=places), Axis(low=0), share_y=False)


def _lines(results: Results, what: str, quantity: Quantity) -> Iterator[Curve]:
    """Show a quantity over the queues: a line for each sender and backend."""
    for offset, (sender, backend) in enumerate(product(SENDERS, BACKENDS)):
        made = [estimate(results, Cell(what, queue, sender, backend), quantity) for queue in QUEUES]
        x = [place + 0.06 * (offset - 1.5) for place in range(len(QUEUES))]
        dashes, is_hollow = (DOTTED, True) if backend == "sim" else (SOLID, False)
        style = replace(transport_style(sender), dashes=dashes, is_hollow=is_hollow)
        y, low, high = ([getattr(one, part) for one in made] for part in ("mean", "low", "high"))
        yield Curve(f"{sender.upper()}, {BACKENDS[backend]}", style, x, y, low=low, high=high)


def timing(results: Results) -> str:
    """Return how exact the links were."""
    real = [result for cell, made in results.items() if cell.backend == "kernel" for result in made]
    late = sorted(result.summary["added_delay_p99_us"] for result in real)
    middle, worst = late[len(late) // 2], late[-1]
    return f"Of {len(late)} runs, links were late by {middle:.0f} µs (1 %, median) and {worst:.0f} µs at worst."


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = options(__doc__, "beside-cubic")
    parser.add_argument("--write", action="store_true", help="into docs")
    wanted = parser.parse_args()
    if "pert" not in LOADED.read_text().split():
        parser.error("this kernel has no PERT: load it as root, `earlybird kernel load pert`")
    real = [Cell(*which) for which in product(THINGS, QUEUES, SENDERS)]
    results = results_of([*real, *(replace(cell, backend="sim") for cell in real)], wanted)
    tables = {what: table(results, what) for what in THINGS}
    print(*(line for lines in tables.values() for line in [*lines, ""]), sep="\n")
    print(timing(results))
    if wanted.write:
        publish(tables, PAGE, {PICTURE: chart(results)})


if __name__ == "__main__":
    main()
