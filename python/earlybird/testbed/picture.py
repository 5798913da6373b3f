"""A picture of a batch: the windows of its senders over time, and how long their viewers had to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from earlybird.plots.run import check_ending, line, over_time, stack, write
from earlybird.plots.style import transport_style
from earlybird.testbed.report import label

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird.plots.chart import Curve, Panel
    from earlybird.sweeps import PlannedRun, SweepResult


def draw(plays: SweepResult, path: str | Path) -> None:
    """Draw the first play of every sender at the grid's first point, client by client."""
    check_ending(path)
    first = _first_point(plays.planned)
    clients = dict.fromkeys(run.parameters["client"] for run in first)
    panels = [
        panel
        for client in clients
        for panel in _panels(plays, [run for run in first if run.parameters["client"] == client], client)
    ]
    write(path, stack(panels, _title(first[0]), "time since the client was told to play (s)"))


def _first_point(planned: Sequence[PlannedRun]) -> list[PlannedRun]:
    """Choose the first play of each client and sender at the first point of the grid."""
    wanted = {key: value for key, value in planned[0].parameters.items() if key not in ("client", "sender")}
    return [
        run
        for run in planned
        if run.seed == planned[0].seed and all(run.parameters[key] == value for key, value in wanted.items())
    ]


def _title(run: PlannedRun) -> str:
    point = [f"{key} {label(value)}" for key, value in run.parameters.items() if key not in ("client", "sender")]
    return ", ".join([run.spec.title or "", *point])


def _panels(plays: SweepResult, runs: list[PlannedRun], client: str) -> list[Panel]:
    """Show the windows, and the time stalled so far."""
    windows: list[Curve] = []
    waits: list[Curve] = []
    for place, run in enumerate(runs):
        sender = run.parameters["sender"]
        style, result = transport_style(sender, place), plays.store.load(run.key)
        window = result.series.filter(pl.col("quantity") == "cwnd", pl.col("time_s") >= 0)
        windows.append(line(sender, style, window["time_s"].to_numpy(), window["value"].to_numpy()))
        waits.append(line(sender, style, *_waited(result.table("stalls"), result.summary["played_s"])))
    return [
        over_time(f"{client}: window (segments)", windows),
        over_time(f"{client}: stalled so far (s)", waits, better="smaller"),
    ]


def _waited(stalls: pl.DataFrame, end: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Add up stalls over time."""
    times, waited = [0.0], [0.0]
    for begin, length in stalls.iter_rows():
        times += [begin, begin + length]
        waited += [waited[-1], waited[-1] + length]
    return np.array([*times, end]), np.array([*waited, waited[-1]])
