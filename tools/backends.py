"""
Run one scenario over twelve networks in all backends, and say where they differ.

    python tools/backends.py --parallel 4 --write    # makes what runs are missing, and writes docs/backends-agree.md
    python tools/backends.py --networks 10M-40ms --transports bbr1-rack --runs 3

After Ctrl-C the same command goes on. Runs in real time that the machine disturbed are thrown away and repeated. The
simulator makes more runs, since they cost nothing, so that chance is known.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from earlybird.plots.chart import Axis, Chart, Curve, Panel
from earlybird.plots.style import PLAIN, transport_style
from earlybird.statistics import Estimate, student_interval
from earlybird.sweeps import PlannedRun, plan
from generated import REPOSITORY
from measured import LINUX, markdown, mean_text, options, publish, results_of, unloaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from earlybird.result import Result

SCENARIO = REPOSITORY / "scenarios" / "three-backends.toml"
PAGE = REPOSITORY / "docs" / "backends-agree.md"
PICTURE = REPOSITORY / "docs" / "images" / "backends-agree.png"
BOTTLENECK = "server-viewer"
PACKET = 1500 * 8  # bits of a full packet
WARM_UP = 4.0  # seconds that are not looked at
NETWORKS = tuple(tomllib.loads(SCENARIO.read_text())["variants"]["network"])
OURS = {
    "2M-20ms": "sack",
    "2M-150ms": "cubic-rack",
    "5M-40ms": "earlybird-rt",
    "5M-80ms": "bbr3-rack",
    "8M-60ms": "pert-er",
    "10M-40ms": "bbr3-rack",
    "10M-100ms": "cubic-rack",
    "15M-90ms": "pert-er",
    "20M-20ms": "sack",
    "20M-60ms": "earlybird-rt",
    "50M-30ms": "cubic-rack",
    "50M-150ms": "bbr3-rack",
}
"""The transport of each network's flows under the profile `rfc`; `earlybird-rt` is the film's alone."""


@dataclass(frozen=True)
class Quantity:
    """A metric that is compared, with the difference that matters: absolute, and as a share of the simulated value."""

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
    return float(100 * (film["lost_share"] if skips else lateness["late"] / lateness["due"]))


QUANTITIES = (
    Quantity("file, Mb/s", lambda result: _flow(result, "file")["throughput_bps"] / 1e6, 0.02, 0.03, 2),
    Quantity("film, Mb/s", lambda result: _flow(result, "film")["throughput_bps"] / 1e6, 0.02, 0.03, 2),
    Quantity("lost, %", lambda result: _link(result)["drop_rate"] * 100, 0.1, 0.1, 2),
    Quantity("queue, mean, ms", lambda result: _link(result)["mean_queue_delay_ms"], 1.0, 0.05, 1),
    Quantity("queue, 95 %, ms", _queue, 2.0, 0.05, 1),
    Quantity("film late, %", _late, 1.0, 0.1, 1),
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell's runs: an estimate per quantity, and the largest delay of the links."""

    estimates: tuple[Estimate, ...]
    added_delay_us: float

    def deviates(self, other: Outcome, index: int) -> bool:
        """Return whether a quantity differs from a simulated one by more than chance, and enough to matter."""
        ours, theirs, quantity = self.estimates[index], other.estimates[index], QUANTITIES[index]
        apart = ours.low > theirs.high or theirs.low > ours.high
        return apart and abs(ours.mean - theirs.mean) > max(quantity.least, quantity.share * abs(theirs.mean))


def outcome(results: Sequence[Result]) -> Outcome:
    """Put the runs of a cell together."""
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
    made = outcomes[cell]
    text = mean_text(made.estimates[index], QUANTITIES[index].digits)
    simulated = outcomes[_simulated(cell)]
    return f"**{text}**" if made.deviates(simulated, index) else text


def _simulated(cell: Cell) -> Cell:
    return Cell(cell.profile, cell.network, cell.transport, "sim")


def table(outcomes: Outcomes, profile: str, backends: Sequence[str]) -> list[str]:
    """Write a row for each network, transport and backend under a profile."""
    rows = []
    for cell in outcomes:
        if cell.profile != profile or cell.backend not in backends:
            continue
        names = [cell.network, cell.transport] if cell.backend == "sim" else ["", ""]
        rows.append([*names, cell.backend, *(_text(outcomes, cell, index) for index in range(len(QUANTITIES)))])
    return markdown(["network", "transport", "backend", *(quantity.title for quantity in QUANTITIES)], rows)


def deviations(outcomes: Outcomes) -> list[tuple[Cell, int]]:
    """List what deviates from what is simulated."""
    compared = [cell for cell in outcomes if cell.backend != "sim"]
    pairs = [(cell, index) for cell in compared for index in range(len(QUANTITIES))]
    return [(cell, index) for cell, index in pairs if outcomes[cell].deviates(outcomes[_simulated(cell)], index)]


def counts(outcomes: Outcomes) -> list[str]:
    """Write how much deviates, by profile, transport and backend."""
    differing, rows = deviations(outcomes), []
    kinds = dict.fromkeys((cell.profile, cell.transport, cell.backend) for cell in outcomes if cell.backend != "sim")
    for kind in kinds:
        of_kind = [cell for cell in outcomes if (cell.profile, cell.transport, cell.backend) == kind]
        count = sum((cell.profile, cell.transport, cell.backend) == kind for cell, _ in differing)
        late = max(outcomes[cell].added_delay_us for cell in of_kind)
        rows.append([*kind, len(of_kind) * len(QUANTITIES), count, f"{late:.0f}"])
    return markdown(["profile", "transport", "backend", "compared", "deviate", "links late, 99 %, at worst, µs"], rows)


def chart(outcomes: Outcomes) -> Chart:
    """Show every quantity in real time over the simulated one."""
    panels = [
        Panel(quantity.title, tuple(_marks(outcomes, index)), Axis("in real time"), Axis("simulated"))
        for index, quantity in enumerate(QUANTITIES)
    ]
    caption = "Hollow: backend live, filled: backend kernel."
    return Chart(tuple(panels), Axis(), caption=caption, share_y=False, height=2.6)


def _marks(outcomes: Outcomes, index: int) -> Iterator[Curve]:
    """Mark a transport as everywhere, hollow in the backend `live`."""
    pairs = [
        (cell, outcomes[_simulated(cell)].estimates[index], made.estimates[index])
        for cell, made in outcomes.items()
        if cell.backend != "sim"
    ]
    most = max(max(x.mean, y.mean) for _, x, y in pairs)
    yield Curve("", PLAIN, [0.0, most], [0.0, most], "line", width=0.6)
    for kind in dict.fromkeys((cell.transport, cell.backend) for cell, *_ in pairs):
        own = [(x, y) for cell, x, y in pairs if (cell.transport, cell.backend) == kind]
        style = replace(transport_style(kind[0]), is_hollow=kind[1] == "live")
        across, up = [x.mean for x, _ in own], [y.mean for _, y in own]
        yield Curve("", style, across, up, "dots", [x.low for x, _ in own], [x.high for x, _ in own], is_across=True)
        yield Curve(kind[0], style, across, up, "dots", [y.low for _, y in own], [y.high for _, y in own])


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = options(__doc__, "backends")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS, metavar="NETWORK")
    parser.add_argument("--transports", nargs="+", default=sorted({*OURS.values(), *LINUX}), metavar="TRANSPORT")
    parser.add_argument("--backends", nargs="+", default=["sim", "live", "kernel"], metavar="BACKEND")
    parser.add_argument("--write", action="store_true", help="into docs")
    wanted = parser.parse_args()
    chosen = possible([cell for cell in cells(wanted.networks, wanted.transports) if cell.backend in wanted.backends])
    found = results_of(chosen, wanted)
    if "sim" not in wanted.backends:  # there is nothing to compare with yet
        return
    outcomes = {cell: outcome(results) for cell, results in found.items()}
    tables = {
        "counts": [*counts(outcomes)],
        "ours": table(outcomes, "rfc", ("sim", "live")),
        "linux": table(outcomes, "linux", ("sim", "live", "kernel")),
    }
    print(*(line for lines in tables.values() for line in [*lines, ""]), sep="\n")
    if wanted.write:
        publish(tables, PAGE, {PICTURE: chart(outcomes)})


if __name__ == "__main__":
    main()
