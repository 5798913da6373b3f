"""A batch of plays: missing plays are made, control runs first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earlybird.paths import RESULTS
from earlybird.run_specs import TestbedRun
from earlybird.store import Store
from earlybird.sweeps import complete
from earlybird.testbed.definition import controls_of, load
from earlybird.testbed.film import check_for_chromium, is_there, provide
from earlybird.testbed.needs import check, check_sender

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from earlybird.sweeps import PlannedRun, SweepResult

FROZEN_AT_MOST: Final = 1.0
"""Seconds that pictures may stand over a link without limits: players need a moment to get going."""


@dataclass(frozen=True)
class Batch:
    """The plays of a test bed as a sweep's, and the last control run without limits of each client."""

    plays: SweepResult
    controls: SweepResult

    @property
    def problems(self) -> list[str]:
        """Reasons not to trust the batch, one sentence each."""
        rows = self.controls.runs.to_dicts()
        stalled = [
            f"the control run of {row['client']}, over a link without limits, had {row['stalls']} stalls and"
            f" {row['frozen_s']:.1f} s of frozen pictures: this machine is too slow or too busy for this film."
            for row in rows
            if row["stalls"] or row["frozen_s"] > FROZEN_AT_MOST or not row["finished"]
        ]
        disturbed = sum(row["disturbed"] for row in self.plays.runs.to_dicts())
        late = [f"{disturbed} plays were disturbed: the emulator was over 1 ms late with 1 % of the packets."]
        return stalled + (late if disturbed else [])


def run_testbed(
    path: str | Path,
    *,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Batch:
    """
    Make those plays of a test bed's file that have no result yet; `say` is told what takes long besides.

    Each of the `parallel` plays has a link of its own; as many control runs are made side by side before them.
    """
    return play_all(load(Path(path)), parallel=parallel, output=output, progress=progress, report=report)


def play_all(
    planned: Sequence[PlannedRun],
    *,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Batch:
    """Make those of the planned plays that have no result yet; as `run_testbed`."""
    store, first = Store(Path(output)).open(), controls(planned, parallel)
    if not all(store.has(run.key) for run in planned):
        _prepare(planned, report)
        _forget(first, store)
    before = complete(first, parallel=parallel, output=output, progress=progress, what="playing without limits")
    return Batch(complete(planned, parallel=parallel, output=output, progress=progress, what="playing"), before)


def is_play(run: PlannedRun) -> bool:
    """Return whether a planned run is a play."""
    return isinstance(run.spec, TestbedRun)


def controls(planned: Sequence[PlannedRun], parallel: int) -> list[PlannedRun]:
    """List the control runs of a batch: for each client and film as many as are played side by side."""
    return list({run.key: run for play in planned for run in controls_of(play, parallel)}.values())


def _prepare(planned: Sequence[PlannedRun], report: Callable[[str], None]) -> None:
    """Make sure that all can be played, and that the films are there."""
    beds = [run.spec.bed for run in planned if isinstance(run.spec, TestbedRun)]
    rivals = [bed["competing"]["sender"] for bed in beds if bed["competing"]]
    for sender in dict.fromkeys([*(bed["sender"] for bed in beds), *rivals]):
        check_sender(sender)
    check({bed["client"] for bed in beds})
    films: dict[str, dict[str, Any]] = {json.dumps(bed["film"], sort_keys=True): bed["film"] for bed in beds}
    for film in films.values():
        if not is_there(film):
            report(f"Making the film of {film['seconds']:g} s, once; this takes about as long as it is.")
        provide(film)
    for bed in beds:
        if bed["client"] == "chromium":
            check_for_chromium(provide(bed["film"]))


def _forget(old: Sequence[PlannedRun], store: Store) -> None:
    """Delete control runs, so that they are repeated: they measure the machine as it is now."""
    for run in old:
        if store.has(run.key):
            store.discard(run.key)
