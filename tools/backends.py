"""
Run one scenario over twelve networks in all backends, and say where they differ.

    python tools/backends.py --at-once 4 --write    # makes what runs are missing, and writes docs/backends-agree.md
    python tools/backends.py --networks 10M-40ms --transports bbr-rack --runs 3

After Ctrl-C the same command goes on. Runs in real time that the machine disturbed are thrown away and repeated. The
simulator makes more runs, since they cost nothing, so that chance is known.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from earlybird.plots.style import PAPER, look
from earlybird.pool import work_through
from earlybird.progress import progress_bar
from earlybird.statistics import Estimate, student_interval
from earlybird.store import Store
from earlybird.sweeps import PlannedRun, complete, missing_jobs, plan
from generated import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from earlybird.result import Result

SCENARIO = REPOSITORY / "scenarios" / "three-backends.toml"
PAGE = REPOSITORY / "docs" / "backends-agree.md"
PICTURE = REPOSITORY / "docs" / "images" / "backends-agree.png"
BOTTLENECK = "server-viewer"
PACKET = 1500 * 8
"""Bits of a full packet."""
WARM_UP = 4.0
"""Seconds that are not looked at."""
NETWORKS = tuple(tomllib.loads(SCENARIO.read_text())["variants"]["network"])
OURS = {
    "2M-20ms": "sack",
    "2M-150ms": "cubic-rack",
    "5M-40ms": "earlybird-rt",
    "5M-80ms": "bbr-rack",
    "8M-60ms": "pert-er",
    "10M-40ms": "bbr-rack",
    "10M-100ms": "cubic-rack",
    "15M-90ms": "pert-er",
    "20M-20ms": "sack",
    "20M-60ms": "earlybird-rt",
    "50M-30ms": "cubic-rack",
    "50M-150ms": "bbr-rack",
}
"""The transport of each network's flows under the profile `rfc`; `earlybird-rt` is the film's alone."""
LINUX = {"sack-rack": "reno", "cubic-rack": "cubic", "bbr-rack": "bbr", "pert-rack": "pert"}
"""Transports under the profile `linux`, and what the kernel calls them."""
LOADED = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
"""What the kernel can send with now."""


@dataclass(frozen=True)
class Quantity:
    """What is compared, and what of a difference matters: so much, and such a share of what is simulated."""

    title: str
    of: Callable[[Result], float]
    least: float
    share: float
    digits: int


@dataclass(frozen=True)
class Cell:
    """Two flows over a network, in a backend."""

    profile: str
    network: str
    transport: str
    backend: str

    def plan(self, seeds: int) -> list[PlannedRun]:
        """List its runs."""
        file = "cubic-rack" if self.transport == "earlybird-rt" else self.transport
        changes = {"network": self.network, "transport": file, "film": self.transport, "profile": self.profile}
        return plan(SCENARIO, seeds=seeds, overrides={**changes, "backend": self.backend})


def _flow(result: Result, name: str) -> dict[str, Any]:
    return result.table("flows").filter(pl.col("group") == name).row(0, named=True)


def _link(result: Result) -> dict[str, Any]:
    return result.table("links").filter(pl.col("link") == BOTTLENECK).row(0, named=True)


def _queue(result: Result) -> float:
    """Return the 95th percentile of what waited at the bottleneck, sampled every 10 ms, in milliseconds of its rate."""
    is_queue = (pl.col("quantity") == "queue_packets") & (pl.col("subject") == BOTTLENECK)
    waiting = result.table("series").filter(is_queue & (pl.col("time_s") >= WARM_UP))["value"].quantile(0.95)
    return (waiting or 0.0) * PACKET / _rate(result.scenario) * 1e3


def _rate(scenario: dict[str, Any]) -> float:
    """Return the rate of the bottleneck in bits per second."""
    number, unit = re.fullmatch(r"([\d.]+)([kM]?)b/s", scenario["network"]["links"][0]["rate"]).groups()  # type: ignore[union-attr]
    return float(number) * {"": 1.0, "k": 1e3, "M": 1e6}[unit]


def _late(result: Result) -> float:
    """Return the share of the film's units that came more than 300 ms after they were written or never, in percent."""
    film, lateness = _flow(result, "film"), result.table("lateness").row(0, named=True)
    skips = film["transport"] == "earlybird-rt"
    return float(100 * (film["lost_share"] if skips else lateness["late"] / lateness["evaluated"]))


QUANTITIES = (
    Quantity("file, Mb/s", lambda result: _flow(result, "file")["throughput_bps"] / 1e6, 0.02, 0.03, 2),
    Quantity("film, Mb/s", lambda result: _flow(result, "film")["throughput_bps"] / 1e6, 0.02, 0.03, 2),
    Quantity("lost, %", lambda result: _link(result)["drop_rate"] * 100, 0.1, 0.1, 2),
    Quantity("queue, mean, ms", lambda result: _link(result)["mean_wait_ms"], 1.0, 0.05, 1),
    Quantity("queue, 95 %, ms", _queue, 2.0, 0.05, 1),
    Quantity("film late, %", _late, 1.0, 0.1, 1),
)


@dataclass(frozen=True)
class Outcome:
    """What the runs of a cell gave: an estimate per quantity, and how late the links were at worst."""

    estimates: tuple[Estimate, ...]
    added_delay_us: float

    def deviates(self, other: Outcome, index: int) -> bool:
        """Return whether a quantity differs from a simulated one by more than chance, and enough to matter."""
        ours, theirs, quantity = self.estimates[index], other.estimates[index], QUANTITIES[index]
        apart = ours.low > theirs.high or theirs.low > ours.high
        return apart and abs(ours.mean - theirs.mean) > max(quantity.least, quantity.share * abs(theirs.mean))


def measure(planned: Sequence[PlannedRun], store: Store, at_once: int, attempts: int) -> int:
    """Make runs in real time, again where they were disturbed; return how many were."""
    disturbed = 0
    for _ in range(attempts):
        missing = [job._replace(seconds=_duration(job.scenario)) for job in missing_jobs(planned, store)]
        if not missing:
            break
        # Networks that are much work for this machine are not begun side by side.
        random.Random(len(missing)).shuffle(missing)
        missing.sort(key=lambda job: job.seed)
        with progress_bar(len(planned), len(planned) - len(missing), work=0.0) as advance:
            work_through(missing, store, at_once, lambda _: advance())
        for run in planned:
            if store.has(run.key) and store.load(run.key).summary["disturbed"]:
                store.discard(run.key)
                disturbed += 1
    return disturbed


def _duration(scenario: str) -> float:
    """Return how long a run in real time takes."""
    return float(re.sub("s$", "", json.loads(scenario)["duration"]))


def outcome(runs: Iterable[PlannedRun], store: Store) -> Outcome:
    """Put the runs of a cell together."""
    results = [store.load(run.key) for run in runs if store.has(run.key)]
    estimates = tuple(student_interval([quantity.of(result) for result in results]) for quantity in QUANTITIES)
    return Outcome(estimates, max((result.summary.get("added_delay_p99_us", 0.0) for result in results), default=0.0))


Outcomes = dict[Cell, Outcome]


def cells(networks: Sequence[str], transports: Sequence[str]) -> list[Cell]:
    """List what is compared: our transports simulated and live, then Linux's in all backends."""
    ours = [Cell("rfc", network, OURS[network], backend) for network in networks for backend in ("sim", "live")]
    linux = [
        Cell("linux", network, transport, backend)
        for network in networks
        for transport in LINUX
        for backend in ("sim", "live", "kernel")
    ]
    return [cell for cell in (*ours, *linux) if cell.transport in transports]


def unloaded() -> list[str]:
    """List the transports for which this kernel has nothing loaded."""
    loaded = LOADED.read_text().split()
    return [transport for transport, name in LINUX.items() if name not in loaded]


def possible(chosen: Sequence[Cell]) -> list[Cell]:
    """Leave out what this kernel cannot send with, and say so."""
    missing = [
        name for name in unloaded() if any((cell.backend, cell.transport) == ("kernel", name) for cell in chosen)
    ]
    if missing:
        names = ", ".join(f"`{LINUX[name]}`" for name in missing)
        print(f"This kernel has no {names} loaded, so that its rows are left out (`earlybird kernel load pert`).")
    return [cell for cell in chosen if (cell.backend, cell.transport) not in {("kernel", name) for name in missing}]


def _text(outcomes: Outcomes, cell: Cell, index: int) -> str:
    """Write an estimate; bold where it deviates from what is simulated."""
    digits, made = QUANTITIES[index].digits, outcomes[cell]
    estimate = made.estimates[index]
    text = f"{estimate.mean:.{digits}f} ± {estimate.half_width:.{digits}f}"
    simulated = outcomes[_simulated(cell)]
    return f"**{text}**" if made.deviates(simulated, index) else text


def _simulated(cell: Cell) -> Cell:
    return Cell(cell.profile, cell.network, cell.transport, "sim")


def table(outcomes: Outcomes, profile: str, backends: Sequence[str]) -> list[str]:
    """Write a row for each network, transport and backend under a profile."""
    lines = [
        "| network | transport | backend | " + " | ".join(quantity.title for quantity in QUANTITIES) + " |",
        "|---" * (len(QUANTITIES) + 3) + "|",
    ]
    for cell in outcomes:
        if cell.profile != profile or cell.backend not in backends:
            continue
        first = cell.backend == "sim"
        names = [cell.network, cell.transport] if first else ["", ""]
        values = [_text(outcomes, cell, index) for index in range(len(QUANTITIES))]
        lines.append(f"| {' | '.join([*names, cell.backend, *values])} |")
    return lines


def deviations(outcomes: Outcomes) -> list[tuple[Cell, int]]:
    """List what deviates from what is simulated."""
    compared = [cell for cell in outcomes if cell.backend != "sim"]
    pairs = [(cell, index) for cell in compared for index in range(len(QUANTITIES))]
    return [(cell, index) for cell, index in pairs if outcomes[cell].deviates(outcomes[_simulated(cell)], index)]


def counts(outcomes: Outcomes) -> list[str]:
    """Write how much deviates, by profile, transport and backend."""
    differing = deviations(outcomes)
    lines = [
        "| profile | transport | backend | compared | deviate | links late, 99 %, at worst, µs |",
        "|---" * 6 + "|",
    ]
    kinds = dict.fromkeys((cell.profile, cell.transport, cell.backend) for cell in outcomes if cell.backend != "sim")
    for kind in kinds:
        of_kind = [cell for cell in outcomes if (cell.profile, cell.transport, cell.backend) == kind]
        count = sum((cell.profile, cell.transport, cell.backend) == kind for cell, _ in differing)
        late = max(outcomes[cell].added_delay_us for cell in of_kind)
        lines.append(f"| {' | '.join(kind)} | {len(of_kind) * len(QUANTITIES)} | {count} | {late:.0f} |")
    return lines


def draw(outcomes: Outcomes) -> None:
    """Draw every quantity in real time over the simulated one."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    transports = dict.fromkeys(cell.transport for cell in outcomes)
    for index, (axes, quantity) in enumerate(zip(figure.subplots(2, 3).flat, QUANTITIES, strict=True)):
        for cell, made in outcomes.items():
            if cell.backend == "sim":
                continue
            x, y = outcomes[_simulated(cell)].estimates[index], made.estimates[index]
            colour, shape, inside = mark(cell.transport, cell.backend)
            style = {"color": colour, "marker": shape, "markerfacecolor": inside, "alpha": 0.7, "linewidth": 0.8}
            axes.errorbar(x.mean, y.mean, xerr=x.half_width, yerr=y.half_width, **style)
        axes.axline((0, 0), slope=1, color="grey", linewidth=0.8)
        axes.set(title=quantity.title, xlabel="simulated", ylabel="in real time")
    named = [(name, "kernel", name) for name in transports]
    named += [
        ("sack", backend, f"{backend}: {'hollow' if backend == 'live' else 'filled'}") for backend in ("live", "kernel")
    ]
    marks = [(*mark(transport, backend), name) for transport, backend, name in named]
    handles = [
        mpl.lines.Line2D([], [], color=colour, linestyle="", label=name, marker=shape, markerfacecolor=inside)
        for colour, shape, inside, name in marks
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    figure.savefig(PICTURE, dpi=80)


def mark(transport: str, backend: str) -> tuple[str, str, str]:
    """Mark a transport as everywhere: its colour, its marker, and what is inside, nothing in the backend `live`."""
    style = look(transport)
    return style.colour, style.marker, PAPER if backend == "live" else style.colour


def write(page: str, name: str, lines: Sequence[str]) -> str:
    """Put lines between the marks of this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    return head + begin + "\n".join(lines) + "\n" + end + tail


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS, metavar="NETWORK")
    parser.add_argument("--transports", nargs="+", default=sorted({*OURS.values(), *LINUX}), metavar="TRANSPORT")
    parser.add_argument("--backends", nargs="+", default=["sim", "live", "kernel"], metavar="BACKEND")
    parser.add_argument("--runs", type=int, default=5, help="in real time, each")
    parser.add_argument("--seeds", type=int, default=40, help="simulated, each")
    parser.add_argument("--at-once", type=int, default=1, help="runs in real time side by side")
    parser.add_argument(
        "--attempts", type=int, default=6, help="at runs that are disturbed; 0: make none, show what is there"
    )
    parser.add_argument("--out", type=Path, default=REPOSITORY / "results" / "backends")
    parser.add_argument("--write", action="store_true", help="into docs")
    options = parser.parse_args()
    store = Store(options.out).open()
    chosen = possible(
        [cell for cell in cells(options.networks, options.transports) if cell.backend in options.backends]
    )
    planned = {cell: cell.plan(options.seeds if cell.backend == "sim" else options.runs) for cell in chosen}
    complete([run for cell, runs in planned.items() if cell.backend == "sim" for run in runs], out=options.out)
    real = [run for cell, runs in planned.items() if cell.backend != "sim" for run in runs]
    disturbed = measure(real, store, options.at_once, options.attempts)
    if "sim" not in options.backends:  # there is nothing to compare with yet
        print(f"{disturbed} of {len(real)} runs in real time were disturbed and thrown away.")
        return
    outcomes = {cell: outcome(runs, store) for cell, runs in planned.items()}
    tables = {
        "counts": [*counts(outcomes)],
        "ours": table(outcomes, "rfc", ("sim", "live")),
        "linux": table(outcomes, "linux", ("sim", "live", "kernel")),
    }
    print(*(line for lines in tables.values() for line in [*lines, ""]), sep="\n")
    print(f"{disturbed} of {len(real)} runs in real time were disturbed and thrown away.")
    if options.write:
        page = PAGE.read_text()
        for name, lines in tables.items():
            page = write(page, name, lines)
        PAGE.write_text(page)
        draw(outcomes)


if __name__ == "__main__":
    main()
