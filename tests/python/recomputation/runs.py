"""Runs by the program, as its users start them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import reading, scenario
from .queueing import Passage, passages
from .transfers import Transfer, transfers

if TYPE_CHECKING:
    import polars as pl

PROGRAM: Final = Path(sys.executable).with_name("earlybird")


@dataclass(frozen=True)
class Run:
    """A run with all that the computation reads, and what it compares with."""

    scenario: scenario.Scenario
    frames: list[reading.Frame]
    events: dict[str, list[reading.Event]]
    links: dict[str, list[Passage]]
    tables: dict[str, pl.DataFrame]
    summary: dict[str, Any]

    @cached_property
    def transfers(self) -> dict[str, Transfer]:
        """The flows with one connection by name."""
        return transfers(self)


def run(text: str, seed: int, folder: Path) -> Run:
    """Run a scenario: once for the tables, the capture and the packet trace, and once for the trace of each link."""
    path = folder / "scenario.toml"
    path.write_text(text, encoding="utf-8")
    read = scenario.read(path)
    out, capture, trace = folder / "out", folder / "packets.pcapng", folder / "trace.csv"
    names = [flow.name for flow in read.flows]
    chosen = [word for name in names for word in ("--trace-flow", name)]
    files = ["--output", str(out), "--pcap", str(capture), "--trace-out", str(trace)]
    summary = json.loads(earlybird("run", str(path), "--seed", str(seed), "--json", *files, *chosen))
    [result] = out.iterdir()
    return Run(
        scenario=read,
        frames=reading.capture(capture),
        events=reading.packet_trace(trace, names[0]),
        links={name: link(path, seed, read, name) for name in traced(read)},
        tables=reading.tables(result),
        summary=summary,
    )


def traced(read: scenario.Scenario) -> list[str]:
    """Return the links that may be the bottleneck, which are those that have a trace."""
    return ["left-right", "right-left"] if read.is_dumbbell else list(read.links)


def link(path: Path, seed: int, read: scenario.Scenario, name: str) -> list[Passage]:
    """Run a scenario with a link as the bottleneck, and return the packets of its trace."""
    trace = path.with_name(f"{name}.csv")
    earlybird(
        "run", str(path), "--seed", str(seed), "--set", f"measure.bottleneck={name}", "--link-trace-out", str(trace)
    )
    return passages(read.links[name], reading.link_trace(trace))


def earlybird(*words: str) -> str:
    """Call the program and return what it prints."""
    done = subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
