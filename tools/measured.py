"""Parts that the comparisons of runs in real time share: options, runs, tables in pages."""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from earlybird.backends import SIMULATOR
from earlybird.plots.vega import drawn
from earlybird.pool import work_through
from earlybird.progress import progress_bar
from earlybird.store import Store
from earlybird.sweeps import PlannedRun, complete, missing_jobs
from generated import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from earlybird.plots.chart import Chart
    from earlybird.result import Result
    from earlybird.statistics import Estimate

LINUX = {"sack-rack": "reno", "cubic-rack": "cubic", "bbr1-rack": "bbr", "pert-rack": "pert"}
"""Transports under the profile `linux`, and their names in the kernel."""
LOADED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
"""The congestion controls that the kernel has now."""


class Measured(Protocol):
    """A run that is repeated in a backend."""

    @property
    def backend(self) -> str:
        """The backend."""

    def plan(self, runs: int, /) -> list[PlannedRun]:
        """List so many runs, a seed each."""


Cell = TypeVar("Cell", bound=Measured)


def options(description: str | None, name: str, *, seeds: int = 40) -> argparse.ArgumentParser:
    """Return a parser with the options that all comparisons have; results go to ``results/NAME``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="in real time, each")
    parser.add_argument("--seeds", type=int, default=seeds, help="simulated, each")
    parser.add_argument("--parallel", type=int, default=1, help="runs in real time side by side")
    parser.add_argument("--attempts", type=int, default=6, help="at runs that are disturbed; 0: make none")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "results" / name)
    return parser


def unloaded() -> list[str]:
    """Return the transports for which this kernel has nothing loaded."""
    loaded = LOADED.read_text().split()
    return [transport for transport, name in LINUX.items() if name not in loaded]


def results_of(cells: Iterable[Cell], wanted: argparse.Namespace) -> dict[Cell, list[Result]]:
    """
    Make the runs of cells that are missing, and return the results that are there.

    Runs in real time that the machine disturbed are made again; how many there were is printed.
    """
    planned = {cell: cell.plan(wanted.seeds if cell.backend == SIMULATOR else wanted.runs) for cell in cells}
    store, runs = Store(wanted.output).open(), [run for each in planned.values() for run in each]
    if wanted.attempts:
        complete([run for run in runs if run.spec.backend == SIMULATOR], output=wanted.output)
    real = [run for run in runs if run.spec.backend != SIMULATOR]
    disturbed = sum(_attempt(real, store, wanted.parallel) for _ in range(wanted.attempts))
    print(f"{disturbed} of {len(real)} runs in real time were disturbed and thrown away.")
    return {cell: [store.load(run.key) for run in each if store.has(run.key)] for cell, each in planned.items()}


def _attempt(planned: Sequence[PlannedRun], store: Store, parallel: int) -> int:
    """Make the runs in real time that are missing; throw away those that were disturbed, and return their number."""
    missing = [job._replace(seconds=job.spec.length_s) for job in missing_jobs(planned, store)]
    if not missing:
        return 0
    # Networks that are much work for this machine are not begun side by side.
    random.Random(len(missing)).shuffle(missing)
    missing.sort(key=lambda job: job.seed)
    with progress_bar(len(planned), len(planned) - len(missing), work=0.0) as advance:
        work_through(missing, store, parallel, lambda _: advance())
    disturbed = [run for run in planned if store.has(run.key) and store.load(run.key).summary["disturbed"]]
    for run in disturbed:
        store.discard(run.key)
    return len(disturbed)


def mean_text(estimate: Estimate, digits: int) -> str:
    """Return a mean with half of its interval."""
    return f"{estimate.mean:.{digits}f} ± {estimate.half_width:.{digits}f}"


def markdown(headings: Sequence[str], rows: Iterable[Sequence[object]], rule: str = "---") -> list[str]:
    """Return the lines of a table."""
    head = [f"| {' | '.join(headings)} |", f"|{rule}" * len(headings) + "|"]
    return head + [f"| {' | '.join(map(str, row))} |" for row in rows]


def publish(tables: Mapping[str, Sequence[str]], page: Path, charts: Mapping[Path, Chart]) -> None:
    """Write tables into a page, between the marks of their names, and charts as pictures."""
    text = page.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        head, _, rest = text.partition(begin)
        text = head + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    page.write_text(text, encoding="utf-8")
    for path, chart in charts.items():
        path.write_bytes(drawn(chart, "png"))
